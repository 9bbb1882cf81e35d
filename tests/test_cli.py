"""The shell command: as functions, and each once as the process that a user starts."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import autodiff_lab as lab
from autodiff_lab.cli import doctor, lessons, main
from tests.tree import ROOT

NET = ROOT / "tests" / "data" / "two_layer_net.py"
FAILS = """\
import sys
import autodiff_lab as lab
x = lab.Variable(3.0, name="x")
y = x * x
def inner():
    lab.constant([1.0, 2.0]) + lab.constant([1.0, 2.0, 3.0])
inner()
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Write a script and give its path."""

    def write(source: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(source, encoding="utf-8")
        return str(path)

    return write


def shell(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    code = "import sys; from autodiff_lab.cli import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)


def test_the_package_runs_as_a_module() -> None:
    """Where scripts are not on the path, as often on Windows."""
    command = [sys.executable, "-m", "autodiff_lab", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == shell("--version").stdout


# --- record ------------------------------------------------------------------------------------------------------


def test_a_script_becomes_a_page_and_a_recording(tmp_path: Path) -> None:
    """The whole way from the shell: the page holds the script's own names, and the recording loads."""
    page, saved, picture = tmp_path / "page.html", tmp_path / "net.json", tmp_path / "net.svg"
    written = tmp_path / "net.jsonl"
    files = ("--html", str(page), "--json", str(saved), "--svg", str(picture), "--to", str(written))
    done = shell("record", str(NET), *files)
    assert done.returncode == 0, done.stderr
    assert lab.load_recording(written).to_text() == lab.load_recording(saved).to_text()
    assert done.stdout.startswith("loss before the step: ")
    recording = lab.load_recording(saved)
    assert len(recording.sweeps) == 1
    assert recording.title == "two_layer_net.py"
    names = {tensor.name for tensor in recording.tensors.values()}
    assert {"inputs", "w1", "b2", "hidden", "error", "loss"} <= names
    text = page.read_text(encoding="utf-8")
    assert "two_layer_net.py" in text
    assert "hidden" in text
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert str(ROOT) not in recording.to_text()


def test_without_an_option_the_recording_is_printed(
    script: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    """After whatever the script printed itself."""
    path = script("import autodiff_lab as lab\nprint('hello')\ny = lab.sin(lab.constant(0.0, name='x'))\n")
    assert main(["record", path]) == 0
    assert capsys.readouterr().out == (
        "hello\n"
        "%0: f32 = constant  # x = 0\n"
        "%1: f32 = sin(%0)   # y = 0   program.py, line 3: y = lab.sin(lab.constant(0.0, name='x'))\n"
    )


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    """``autodiff-lab record script.py | head -1`` ends without a complaint."""
    code = "import sys; from autodiff_lab.cli import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-u", "-c", code, "record", str(NET)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("loss before")
        process.stdout.close()
        assert process.stderr.read() == ""


def test_a_script_sees_itself_as_python_would_run_it(
    script: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its arguments, its folder on the import path, `__main__`, its file; and nothing of it stays behind."""
    (tmp_path / "beside.py").write_text("value = 42\n")
    path = script(
        "import sys, beside\nimport __main__\nsame = __main__.beside is beside\n"
        "print(sys.argv[1:], beside.value, __name__, __file__ == sys.argv[0], same)\n"
    )
    before = sys.argv, sys.path[:], sys.modules["__main__"]
    assert main(["record", path, "--text", "--epochs", "3", "data.csv", "--", "--html"]) == 0
    assert capsys.readouterr().out.startswith("['--epochs', '3', 'data.csv', '--html'] 42 __main__ True True")
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before
    del sys.modules["beside"]


def test_a_script_that_raises_leaves_its_partial_recording(tmp_path: Path, script: Callable[[str], str]) -> None:
    """The traceback is the script's own, the status says that it failed, and the failing op is in the file."""
    saved = tmp_path / "a.json"
    done = shell("record", script(FAILS), "--json", str(saved), "--html", str(tmp_path / "a.html"))
    assert done.returncode == 1
    assert "ShapeMismatch" in done.stderr
    assert 'program.py", line 7, in <module>' in done.stderr
    assert "run_recorded" not in done.stderr
    recording = lab.load_recording(saved)
    assert [a.error is None for a in recording.applications] == [True, False]
    assert recording.tensors[recording.applications[0].outputs[0]].name == "y"
    assert (tmp_path / "a.html").stat().st_size > 1000


@pytest.mark.parametrize(
    ("ending", "status"),
    [("sys.exit()", 0), ("sys.exit(3)", 3), ("sys.exit('bad data')", 1), ("raise KeyboardInterrupt", 130)],
)
def test_the_status_is_that_of_the_script(
    ending: str, status: int, script: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """However it ends, the recording is written."""
    path = script(f"import sys\nimport autodiff_lab as lab\nlab.sin(lab.constant(1.0))\n{ending}\n")
    assert main(["record", path, "--json", str(tmp_path / "a.json")]) == status
    assert len(lab.load_recording(tmp_path / "a.json")) == 1
    assert ("bad data" in capsys.readouterr().err) == (status == 1)


def test_a_script_that_does_not_parse_writes_nothing(
    script: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python's own message, and no page of a program that never ran."""
    assert main(["record", script("x = = 1\n"), "--html", str(tmp_path / "a.html")]) == 1
    assert "SyntaxError" in capsys.readouterr().err
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.py"], "there is no file nowhere.py"),
        (["."], ". is a folder"),
        ([str(NET), "--html", "no/such/folder/page.html"], "there is no folder no/such/folder"),
        ([str(NET), "--json", "."], ". is a folder"),
        ([str(NET), "--to", "run.json"], "Try --to run.jsonl, or --json run.json"),
        ([str(NET), "--to", "nowhere/run.jsonl"], "there is no folder nowhere to write run.jsonl to"),
    ],
)
def test_wrong_files_are_named_before_anything_runs(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long script does not run in vain."""
    assert main(["record", *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert not captured.out


def test_a_script_that_uses_no_op_is_told_so(script: Callable[[str], str], capsys: pytest.CaptureFixture[str]) -> None:
    """An empty page would be a riddle."""
    assert main(["record", script("print('hi')\n"), "--text"]) == 0
    assert "Nothing was recorded" in capsys.readouterr().err


def test_a_script_that_fails_at_once_is_not_to_be_stepped_through(
    tmp_path: Path, script: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "bad.html"
    assert main(["record", script("import autodiff_lab as lab\nlab.nonsense\n"), "--html", str(page)]) == 1
    said = capsys.readouterr().err
    assert "bad.html: 0 ops, ended by AttributeError. It has no steps." in said
    assert "arrow key" not in said
    assert "Nothing was recorded" not in said, "the traceback says why"


def test_the_source_may_have_an_encoding_of_its_own(
    tmp_path: Path, script: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A Latin-1 script runs, and its lines are shown as they are."""
    path = tmp_path / "latin.py"
    path.write_bytes(
        "# -*- coding: latin-1 -*-\nimport autodiff_lab as lab\nhöhe = lab.sin(lab.constant(0.0))\n".encode("latin-1")
    )
    assert main(["record", str(path)]) == 0
    assert "höhe = 0" in capsys.readouterr().out


# --- lab ---------------------------------------------------------------------------------------------------------


def installed(tmp_path: Path) -> Path:
    package = tmp_path / "site-packages" / "autodiff_lab"
    (package / "_notebooks" / "figures").mkdir(parents=True)
    (package / "_notebooks" / "02_two.ipynb").write_text("two")
    (package / "_notebooks" / "01_one.ipynb").write_text("one")
    (package / "_notebooks" / "figures" / "a.txt").write_text("a")
    return package


def test_lessons_are_found_in_a_checkout_and_in_an_installed_package(tmp_path: Path) -> None:
    """A checkout comes first; where there are no notebooks nothing is found."""
    package = installed(tmp_path)
    assert lessons.find_lessons(package) == package / "_notebooks"
    checkout = tmp_path / "site-packages" / "notebooks"
    checkout.mkdir()
    (checkout / "01_one.ipynb").write_text("one")
    assert lessons.find_lessons(package) == checkout
    assert lessons.find_lessons(tmp_path / "elsewhere" / "autodiff_lab") is None


def test_installed_lessons_are_copied_once_and_never_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the learner wrote into a lesson is still there the next day."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    source = installed(tmp_path) / "_notebooks"
    folder = lessons.writable_lessons(source)
    assert folder == tmp_path / "home" / "autodiff_lab_lessons"
    assert (folder / "figures" / "a.txt").read_text() == "a"
    (folder / "01_one.ipynb").write_text("my answers")
    (folder / "02_two.ipynb").unlink()
    lessons.writable_lessons(source)
    assert (folder / "01_one.ipynb").read_text() == "my answers"
    assert (folder / "02_two.ipynb").read_text() == "two"
    assert (source / "01_one.ipynb").read_text() == "one"


def test_a_checkout_is_opened_in_place_unless_a_folder_is_named(tmp_path: Path) -> None:
    """Developers edit the lessons themselves."""
    source = tmp_path / "notebooks"
    source.mkdir()
    (source / "01_one.ipynb").write_text("one")
    assert lessons.writable_lessons(source) == source
    assert (lessons.writable_lessons(source, tmp_path / "mine") / "01_one.ipynb").exists()


def test_jupyterlab_opens_the_first_lesson_with_the_users_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root needs a word more, and only root."""
    folder = installed(tmp_path) / "_notebooks"
    for user, extra in [(0, ["--allow-root"]), (1000, [])]:
        monkeypatch.setattr(os, "geteuid", lambda user=user: user, raising=False)
        command = lessons.jupyter_command(folder, ["--no-browser", "--port", "8899"])
        assert command == [sys.executable, "-m", "jupyterlab", *extra, "--no-browser", "--port", "8899", "01_one.ipynb"]
    (folder / "de").mkdir()
    (folder / "de" / "01_eins.ipynb").write_text("eins")
    assert lessons.jupyter_command(folder, [])[-1] == "01_one.ipynb"
    assert lessons.jupyter_command(folder, [], "de")[-1] == "de/01_eins.ipynb"


def test_a_language_without_lessons_is_refused_with_those_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lessons, "find_spec", lambda name: object())
    assert main(["lab", "--folder", str(tmp_path), "--language", "fr"]) == 1
    assert "The lessons are not translated into 'fr'. Try: en, de" in capsys.readouterr().err


def test_no_command_and_options_alone_mean_the_lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``autodiff-lab`` and ``autodiff-lab --no-browser`` start JupyterLab in the folder of the lessons."""
    started: list[tuple[list[str], Path]] = []

    class Process:
        """JupyterLab, which asks for confirmation when it is interrupted once."""

        def __init__(self, command: list[str], cwd: Path, env: dict[str, str]) -> None:
            assert Path(env["JUPYTER_CONFIG_PATH"].split(os.pathsep)[-1], "labconfig").is_dir()
            started.append((command[3:], cwd))
            self.interrupted = False

        def wait(self) -> int:
            if not self.interrupted:
                self.interrupted = True
                raise KeyboardInterrupt
            return 7

    monkeypatch.setattr(lessons, "PACKAGE", installed(tmp_path))
    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    assert main(["--folder", str(tmp_path / "mine"), "--no-browser"]) == 7
    assert main(["lab", "--folder", str(tmp_path / "mine")]) == 7
    assert started == [(["--no-browser", "01_one.ipynb"], tmp_path / "mine"), (["01_one.ipynb"], tmp_path / "mine")]


def test_a_folder_that_cannot_be_made_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And no lessons at all, and no JupyterLab, are said as plainly."""
    monkeypatch.setattr(lessons, "PACKAGE", installed(tmp_path))
    (tmp_path / "file").write_text("")
    assert main(["lab", "--folder", str(tmp_path / "file" / "inside")]) == 1
    assert "could not be copied" in capsys.readouterr().err
    monkeypatch.setattr(lessons, "PACKAGE", tmp_path / "nothing")
    assert main([]) == 1
    assert "No lessons were found" in capsys.readouterr().err
    monkeypatch.setattr(lessons, "find_spec", lambda name: None)
    assert main([]) == 1
    assert "pip install 'autodiff-lab[lab]'" in capsys.readouterr().err


# --- doctor and the rest -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_doctor_speaks_of_everything_it_should() -> None:
    """One line each, here where the recording works; nothing it runs prints a warning."""
    done = shell("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    for name in (
        "Python",
        "numpy",
        "numba",
        "BLAS",
        "CUDA",
        "Graphviz",
        "JupyterLab",
        "anywidget",
        "matplotlib",
        "Browser",
    ):
        assert any(line.split()[1] == name for line in done.stdout.splitlines() if line.startswith(("yes", "no", "NO")))
    assert "Ready:" in done.stdout
    assert not done.stderr


def test_doctor_says_how_to_get_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a machine with nothing installed it names every remedy, and fails only for what is needed."""
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.delenv("BROWSER", raising=False)
    monkeypatch.setattr(doctor, "_ask", lambda code: (False, "OSError: no such library"))
    monkeypatch.setattr("autodiff_lab.draw.layout.graphviz.programs", dict)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "Not ready: numpy." in out
    assert "pip install numpy" in out
    for extra in ("jit", "graphviz", "lab"):
        assert f"pip install 'autodiff-lab[{extra}]'" in out
    assert "an NVIDIA GPU" in out


def test_doctor_calls_an_installed_and_broken_package_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The thing itself is tried: a package that cannot be imported does not work."""
    (tmp_path / "anywidget.py").write_text("raise ImportError('half installed')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    finding = doctor.widgets()
    assert not finding.works
    assert "half installed" in finding.words


def test_version_help_and_nonsense(capsys: pytest.CaptureFixture[str]) -> None:
    """The usual manners of a command."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"autodiff_lab {lab.__version__}\n"
    for words in (["--help"], ["record", "--help"], ["doctor", "--help"], ["lab", "--help"]):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 0
        assert "autodiff-lab" in capsys.readouterr().out
    for words in (["nonsense"], ["record"], ["doctor", "now"]):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 2
        assert "autodiff-lab" in capsys.readouterr().err


def test_the_installed_command_is_this_one() -> None:
    """``.venv/bin/autodiff-lab`` exists and answers, where the package is installed."""
    command = Path(sys.executable).with_name("autodiff-lab")
    if not command.exists():
        pytest.skip("the package is not installed beside this Python")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("autodiff_lab ")
