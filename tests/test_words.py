"""The project mentions no package host and no machine-specific path."""

import re

from tests.tree import ROOT, project_files, shown

# Spelt in pieces, so that this file does not contain what it looks for.
HOSTS = [
    "py" + r"pi\.(?:org|python)", "python" + "hosted", "npm" + r"js\.(?:org|com)", "yarn" + r"pkg\.com",
    "anaconda" + r"\.(?:org|com)", "conda" + r"-forge\.org", "deb" + r"\.debian\.org", "archive" + r"\.ubuntu\.com",
    "js" + r"delivr\.net", "un" + r"pkg\.com", "cdn" + r"js\.com", "esm" + r"\.sh", "sky" + r"pack\.dev",
]  # fmt: skip
MACHINE_PATHS = [
    rf"/{place}(?<![\w.~$}}/-]/{place})/[\w.-]"
    for place in ("work", "tmp", "root", "opt", "users", "home", "builds", "mnt")
] + [r":\\+users"]
FORBIDDEN = [re.compile(pattern) for pattern in HOSTS + MACHINE_PATHS]
"""Of small letters, one by one, and beginning with plain ones: so a search is ten times as fast."""

PICTURES = {".png", ".ico", ".gif", ".jpg", ".woff2"}


def findings(text: str) -> list[tuple[int, str]]:
    """Return the line number and the words of every forbidden mention."""
    lowered = text.lower()
    matches = [match for pattern in FORBIDDEN for match in pattern.finditer(lowered)]
    return sorted((lowered.count("\n", 0, match.start()) + 1, match.group()) for match in matches)


def test_no_file_names_a_package_host_or_a_machine_path() -> None:
    wrong = [
        f"{shown(path)}:{number}: {words}"
        for path in project_files()
        if path.suffix not in PICTURES
        for number, words in findings(path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "Package hosts and machine paths do not belong in the project:\n" + "\n".join(wrong)


def test_the_search_finds_what_it_looks_for_and_nothing_else() -> None:
    host = "https://py" + "pi.org/simple"
    path = "/" + "tmp/ipykernel_12/3.py"
    assert [number for number, _ in findings(f"fine\n{host}\nFile {path}, line 1")] == [2, 3]
    assert not findings("tests/tmp/x  ~/work/x  $HOME/opt/x  a/home/b  ratio 1/root of 2  https://example.org/home/x")


def test_the_search_reads_this_very_project() -> None:
    assert ROOT / "pyproject.toml" in project_files()


def test_nothing_else_lies_at_the_top_of_the_tree() -> None:
    """An example that writes a file, run from here, would leave it behind."""
    expected = {
        ".ci", ".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile",
        "README.md", "autodiff_lab", "constraints.txt", "docs", "notebooks", "pyproject.toml", "tests",
    }  # fmt: skip
    assert {path.relative_to(ROOT).parts[0] for path in project_files()} == expected
