"""The report on CUDA kernels: all compile without spills and have tests, its page is current, it fails when it must."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cuda_report import coverage, report, table
from tests.cuda_report.compiling import TARGETS, USUAL, Compiled
from tests.cuda_report.kernel_samples import SIGNATURE, kernel, rows
from tests.cuda_report.occupancy import LIMITS, blocks_per_multiprocessor
from tests.tree import ROOT

PAGE = ROOT / "docs" / "cuda_kernels.md"
WHY_NOT = report.unavailable()
needs_compiler = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "kernels compile here")


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, so that what CUDA's packages load and keep stays out of this one."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT, env={**given, **environment}, capture_output=True, text=True, check=False, timeout=1800,
    )  # fmt: skip


def made_from(figures: Path) -> list[report.Row]:
    """The rows of the report, from the figures that it wrote."""
    said = json.loads(figures.read_text(encoding="utf-8"))["kernels"]
    rows: list[report.Row] = []
    for each in said:
        threads = each["threads"]
        given = {name: each[name] for name in report.Row._fields if name != "made"}
        given["threads"] = tuple(threads) if isinstance(threads, list) else threads
        rows.append(report.Row(**given, made=Compiled(**{name: each[name] for name in Compiled._fields})))
    return rows


def usual(line: str) -> str:
    """A line of the page for the usual target alone."""
    cells = [cell.split(" / ") for cell in line.strip("| ").split(" | ")]
    place = list(TARGETS).index(*USUAL)
    return " | ".join(parts[place if len(parts) == len(TARGETS) else 0] for parts in cells)


def comparable(lines: list[str], *, versions: bool) -> list[str]:
    """The tables of the page; where compilers differ, without what they may make otherwise."""
    cells = [usual(line).split(" | ") for line in lines if line]
    return [" | ".join(line if len(line) < 8 or versions else [*line[:3], line[7]]) for line in cells]


def to_compile(page: str, *, same: bool) -> list[str]:
    """The kernels to compile: all where the sources are others than the page's, else the first of each family.

    Where the compilers are the page's too, a quarter of these: the rest would come out as it did for the page.
    """
    kernels = report.kernels()
    if f"`{report.fingerprint()}`" not in page:
        return list(kernels)
    firsts = list({table.family(kernel): name for name, kernel in reversed(kernels.items())}.values())
    return firsts[::4] if same else firsts


@pytest.mark.slow
@needs_compiler
def test_kernels_compile_without_spills_as_their_page_says(tmp_path: Path, figure: Callable[[str, str], None]) -> None:
    """For the usual target; `make docs-renew` compiles all kernels for all targets."""
    page = PAGE.read_text(encoding="utf-8")
    told = ", ".join(f"{name} {version}" for name, version in report.versions().items())
    same = f"Compilers: {told}." in page
    # Compiling all kernels takes 100 s; while the page is that of these sources, a sample will do.
    assert not same or f"`{report.fingerprint()}`" in page, (
        "the sources have changed; renew the page: `make docs-renew`"
    )
    done = run("tests.cuda_report", "--json", str(tmp_path / "made.json"), "--kernels", *to_compile(page, same=same))
    assert done.returncode == 0, done.stdout + done.stderr
    figure("CUDA kernels", next(line for line in done.stdout.splitlines() if "compiled for" in line))
    new = table.lines_of_page(made_from(tmp_path / "made.json"))
    old = page[page.index("\n## ") :].splitlines()
    stale = set(comparable(new, versions=same)) - set(comparable(old, versions=same))
    assert not stale, "renew the page with `make docs-renew`"


def test_the_page_names_every_kernel_and_no_other() -> None:
    """In the order of the families, with each signature."""
    rows = [report.Row(name, types, "", None) for name, one in report.kernels().items() for types in one.signatures]
    lines = PAGE.read_text(encoding="utf-8").partition("\n## ")[2].splitlines()
    named = [line.split(" | ")[:2] for line in lines if line.startswith("| `")]
    assert named == [
        line.split(" | ")[:2] for line in table.sections(rows, report.kernels().values()) if line.startswith("| `")
    ]


def test_every_method_is_served_by_a_kernel_and_tested() -> None:
    tests = coverage.methods_tested(coverage.FOLDER)
    assert report.complaints(report.methods(), report.kernels().values(), [], tests, ()) == []


def test_the_fingerprint_is_that_of_code_and_not_of_words() -> None:
    source = 'def f(x):\n    """Add one."""\n    return x + 1  # one\n'
    assert report.code_of(source) == report.code_of(source.replace("Add one", "Adds 1").replace("# one", "# 1"))
    assert report.code_of(source) != report.code_of(source.replace("x + 1", "x + 2"))
    assert report.fingerprint() == report.fingerprint()


@pytest.mark.slow
@needs_compiler
def test_what_the_compiler_says_of_kernels_that_spill_and_share_is_read_rightly() -> None:
    """Samples of such kernels, in a process of their own."""
    done = run("tests.cuda_report.kernel_samples")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("as expected") == 12


def test_where_nothing_compiles_the_report_says_why_in_a_sentence() -> None:
    """The simulator stands in for the compiler; the status is another one than that of a kernel with a fault."""
    done = run("tests.cuda_report", NUMBA_ENABLE_CUDASIM="1")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("No report: NUMBA_ENABLE_CUDASIM=1")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("module", report.PACKAGES)
def test_a_package_that_is_missing_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    found = report.find_spec
    monkeypatch.setattr(report, "find_spec", lambda name: None if name == module else found(name))
    assert f"{report.PACKAGES[module]} is not installed" in report.unavailable()
    assert "autodiff-lab[cuda-build]" in report.unavailable()


def test_nothing_is_wrong_with_a_method_that_is_served_compiled_and_tested() -> None:
    one = kernel("double", "twice")
    assert report.complaints(["twice"], [one], rows(one), {"twice": ["test_double.py"]}, TARGETS) == []


@pytest.mark.parametrize(
    ("listed", "tests", "figures", "words"),
    [
        (["twice", "thrice"], {"twice": ["t"], "thrice": ["t"]}, {}, "thrice: no kernel serves it"),
        (["twice"], {}, {}, "twice: no test in tests/simulated calls agree('twice', ...)"),
        (["twice"], {"twice": ["t"]}, {"spill_loads": 4}, "4 bytes of spills"),
        (["twice"], {"twice": ["t"]}, {"spill_stores": 8}, "8 bytes of spills"),
        (["twice"], {"twice": ["t"]}, {"stack": 16}, "16 bytes of stack"),
    ],
)
def test_the_report_complains(listed: list[str], tests: Any, figures: dict[str, int], words: str) -> None:
    one = kernel("double", "twice")
    said = report.complaints(listed, [one], rows(one, **figures), tests, TARGETS)
    assert said
    assert all(words in sentence for sentence in said)


def test_the_report_complains_of_what_was_not_compiled_or_fits_nowhere() -> None:
    one, tests = kernel("double", "twice"), {"twice": ["t"]}

    def said(made: list[report.Row]) -> list[str]:
        return report.complaints(["twice"], [one], made, tests, TARGETS)

    assert said(rows(one)[:-1]) == [f"double({SIGNATURE}): not compiled for sm_100."]
    assert (
        "does not compile: TypingError: no"
        in said([row._replace(made=None, error="TypingError: no") for row in rows(one)])[0]
    )
    assert "not one block" in said([row._replace(blocks=0, limit="shared") for row in rows(one)])[0]
    without = kernel("double", "twice", signatures=())
    assert report.complaints(["twice"], [without], [], tests, TARGETS) == [
        "double: it has no signature, so that nothing of it is compiled."
    ]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def test_a():\n    agree('one', x)\n    both('two', y)\n", {"one", "two"}),
        ("@pytest.mark.parametrize('name', ['one', 'two'])\ndef test_a(name):\n    agree(name, x)\n", {"one", "two"}),
        (
            "@pytest.mark.parametrize(('name', 'x'), [('one', 'three'), ('two', 4)])\ndef test(name, x): both(name)\n",
            {"one", "two"},
        ),
        ("NAMES = ('one', 'two')\n\ndef test_a():\n    for name in NAMES:\n        agree(name, x)\n", {"one", "two"}),
        (
            "@pytest.mark.parametrize('kind', ['max', 'min'])\ndef test_a(kind):\n    agree(f'{kind}_over', x)\n",
            {"max_over", "min_over"},
        ),
        ("def check(name, x):\n    agree(name, x)\n\ndef test_a():\n    check('one', 'two')\n", {"one"}),
        (
            "def inner(x, name): agree(name, x)\n\ndef outer(name): inner('no', name)\n\ndef test_a(): outer('one')\n",
            {"one"},
        ),
        ("def test_a():\n    declined('one', x)\n    disagree('two')\n    print('agree')\n", set()),
        ("# agree('one')\nTEXT = \"agree('two')\"\n", set()),
    ],
)
def test_names_of_methods_are_found_in_the_source_of_tests(source: str, names: set[str]) -> None:
    assert coverage.compared(source) == names


def test_the_tests_of_this_tree_are_read() -> None:
    assert coverage.FOLDER == ROOT / "tests" / "simulated"
    assert "test_products.py" in coverage.methods_tested(coverage.FOLDER)["matmul"]


@pytest.mark.parametrize(
    ("target", "threads", "registers", "shared", "blocks", "limit"),
    [
        ("sm_90", 256, 32, 0, 8, "threads"),
        ("sm_90", 256, 33, 0, 6, "registers"),
        ("sm_90", 32, 16, 0, 32, "blocks"),
        ("sm_80", 256, 32, 48 * 1024, 3, "shared"),
        ("sm_90", (16, 16), 32, 48 * 1024, 4, "shared"),
        ("sm_100", 1024, 65, 0, 0, "registers"),
    ],
)
def test_blocks_of_a_multiprocessor(
    target: str, threads: Any, registers: int, shared: int, blocks: int, limit: str
) -> None:
    """By hand: 64 warps; 65,536 registers, a multiple of 256 for a warp; 1 kB of a block's shared memory is taken."""
    assert blocks_per_multiprocessor(target, threads, registers, shared) == (blocks, limit)
    assert {"sm_80", "sm_90", "sm_100"} == set(LIMITS)


def test_threads_are_those_of_the_declaration_or_of_the_launches() -> None:
    """Read from the source: `products` launches squares of threads, a declaration may name a bound."""
    known = report.kernels()
    assert report.threads_of(known["product_tiles"]) == (16, 16)
    assert report.threads_of(known["find_starts"]) == 256
    bound = kernel("double")
    bound.how = {"launch_bounds": (512, 2)}
    assert report.threads_of(bound) == 512
    assert report.threads_of(kernel("double")) == 256, "the usual number where nothing is said"


def test_a_line_of_the_table_tells_what_differs_between_targets() -> None:
    one = kernel("double", signatures=("float32[::1], float32[::1], int32",))
    three = rows(one)
    made = three[1].made
    assert made is not None
    three[1] = three[1]._replace(made=made._replace(registers=40), blocks=6, limit="registers")
    ((name, types, threads, registers, *rest),) = table.lines(three)
    tupled = kernel("double", signatures=("uint8[::1], UniTuple(uint32, 8), boolean[::1], int64",))
    assert table.lines(rows(tupled))[0][1] == "u8[], (8 × u32), bool[], i64"
    assert (name, types, threads, registers) == ("double", "2 × f32[], i32", "256", "32 / 40 / 32")
    assert rest == ["0", "8 (threads) / 6 (registers) / 8 (threads)", "1,024", "0"]
    assert "does not compile" in table.text([row._replace(made=None, error="no") for row in three])
