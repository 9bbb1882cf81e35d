"""`autodiff-lab record` with scripts that change the state of their process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import autodiff_lab as lab

# A process started in the background inherits that interrupts are ignored; these tests send some.
_MAIN = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from autodiff_lab.cli import main; sys.exit(main())"
)
COMMAND = [sys.executable, "-c", _MAIN, "record"]
SECONDS = 120
"""A script that is not stopped ends a test, and not the whole run."""
OPS = "import os, signal, sys\nimport autodiff_lab as lab\ny = lab.Variable(2.0, name='x') * 3.0\n"

# What the script does after its one op, and the exit status that Python gives it.
ENDINGS: dict[str, tuple[str, int]] = {
    "another folder": ("import tempfile\nos.chdir(tempfile.mkdtemp())", 0),
    "a folder that is gone": ("import tempfile\nd = tempfile.mkdtemp()\nos.chdir(d)\nos.rmdir(d)", 0),
    "its own file removed": ("os.remove(__file__)\nraise ValueError('gone')", 1),
    "stdout closed": ("sys.stdout.close()", 0),
    "stderr closed": ("sys.stderr.close()\nsys.exit(4)", 4),
    "both closed": ("sys.stdout.close()\nsys.stderr.close()\nraise ValueError", 1),
    "descriptors closed": ("os.close(1)\nos.close(2)", 0),
    "no streams": ("sys.stdout = sys.stderr = None", 0),
    "strange streams": ("sys.stdout = sys.stderr = object()\nsys.exit('words')", 1),
    "a text stream": ("import io\nsys.stdout = io.StringIO()\nprint('unseen')", 0),
    "arguments and path": ("sys.argv = None\nsys.path = []\nsys.exit(7)", 7),
    "no main": ("del sys.modules['__main__']", 0),
    "a large status": ("sys.exit(300)", 300 & 255),
    "its own hook": ("sys.excepthook = lambda *a: print('mine')\nraise ValueError", 1),
    "a broken hook": ("sys.excepthook = None\nraise ValueError", 1),
    "an error without words": ("class E(Exception):\n    def __str__(self): raise KeyError\nraise E", 1),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)\nwhile True: signal.pause()", 143),
    "SIGTERM of its own": (
        "signal.signal(15, lambda *a: sys.exit(9))\nos.kill(os.getpid(), 15)\nwhile True: signal.pause()", 9,
    ),
    "SIGINT": ("os.kill(os.getpid(), signal.SIGINT)\nwhile True: signal.pause()", 130),
    "a child that goes on": ("child = os.fork()\nif child: os.waitpid(child, 0)\nelse: z = y + 1.0", 0),
    "a child that exits": ("child = os.fork()\nsys.exit(5 if child and not os.waitpid(child, 0)[1] else 0)", 5),
    "a child that is stopped": (
        ("import time\nchild = os.fork()\nif not child:\n    time.sleep(60)\n    os._exit(1)\n"
        "os.kill(child, 15)\nsys.exit(os.waitpid(child, 0)[1])"), 15,
    ),
}  # fmt: skip


def run_in(folder: Path) -> subprocess.CompletedProcess[str]:
    """Record the script that lies in a folder."""
    command = [*COMMAND, "s.py", "--json", "r.json"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS)


@pytest.mark.slow(keep=2)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the scripts use what POSIX systems have")
@pytest.mark.parametrize("name", ENDINGS)
def test_the_recording_is_written_where_the_call_was_made(name: str, tmp_path: Path) -> None:
    """With the lines of the script, once; the exit status is the script's."""
    ending, status = ENDINGS[name]
    (tmp_path / "s.py").write_text(f"{OPS}{ending}\n")
    done = run_in(tmp_path)
    assert done.returncode == status, done.stderr
    recording = lab.load_recording(tmp_path / "r.json")
    assert len(recording) == 1
    assert recording.line(recording.forward[0].place).startswith("y = lab.Variable(2.0")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "s.py") == ["r.json"]
    assert done.stderr.count("r.json: 1 op") == ("stderr closed" != name != "both closed" and "descr" not in name)


def test_what_is_printed_goes_to_the_stream_that_was_there_before(tmp_path: Path) -> None:
    """A script that captures its own output and forgets to let go does not swallow the recording."""
    (tmp_path / "s.py").write_text(f"{OPS}import io\nsys.stdout = io.StringIO()\n")
    done = subprocess.run(
        [*COMMAND, "s.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert "multiply" in done.stdout
    (tmp_path / "s.py").write_text(f"{OPS}sys.stdout.close()\n")
    done = subprocess.run(
        [*COMMAND, "s.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert "closed standard output" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_script_that_runs_for_ever_is_stopped_by_an_interrupt(tmp_path: Path) -> None:
    """Ctrl-C in the terminal: everything recorded until then is there."""
    (tmp_path / "s.py").write_text(f"{OPS}open('ready', 'w').close()\nwhile True:\n    y = lab.sin(y)\n")
    with subprocess.Popen([*COMMAND, "s.py", "--json", "r.json"], cwd=tmp_path, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "ready").exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert process.returncode == 130
    assert len(lab.load_recording(tmp_path / "r.json")) >= 1


def test_processes_that_are_spawned_find_their_functions(tmp_path: Path) -> None:
    """They import the script under another name, and nothing of theirs is recorded."""
    (tmp_path / "s.py").write_text(
        "import multiprocessing as mp\nimport autodiff_lab as lab\n"
        "def work(x):\n    return float(lab.constant(x) * 2.0)\n"
        "if __name__ == '__main__':\n"
        "    with mp.get_context('spawn').Pool(1) as pool:\n        print(pool.map(work, [1.0, 2.0]))\n"
        "    y = lab.constant(1.0) + 1.0\n"
    )
    done = run_in(tmp_path)
    assert (done.returncode, done.stdout) == (0, "[2.0, 4.0]\n"), done.stderr
    assert len(lab.load_recording(tmp_path / "r.json")) == 1


def test_a_script_does_not_inherit_our_own_future(tmp_path: Path) -> None:
    """Annotations are evaluated in a script that does not ask for anything else."""
    (tmp_path / "s.py").write_text("def f(x: int): ...\nassert f.__annotations__ == {'x': int}\n")
    done = subprocess.run(
        [*COMMAND, "s.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
