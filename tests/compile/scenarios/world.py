"""State outside the program: the environment, files, contexts, threads, settings of the interpreter."""

import contextlib
import contextvars
import decimal
import gc
import io
import json
import locale
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import types

import numpy as np

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, scenario


@scenario()
def os_environ(wrap):
    f = wrap(lambda x: x * float(os.environ["SCENARIO_SCALE"]))
    for os.environ["SCENARIO_SCALE"] in ("2", "3"):
        yield f(X)
    del os.environ["SCENARIO_SCALE"]
    yield attempt(f, X)


@scenario()
def getenv(wrap):
    f = wrap(lambda x: x * float(os.getenv("SCENARIO_OTHER", "1")))
    yield f(X)
    os.environ["SCENARIO_OTHER"] = "5"
    yield f(X)
    del os.environ["SCENARIO_OTHER"]


@scenario()
def environment_written(wrap):
    @wrap
    def f(x):
        os.environ["SCENARIO_STEP"] = str(int(os.environ.get("SCENARIO_STEP", "0")) + 1)
        return x

    for _ in range(3):
        f(X)
    yield os.environ.pop("SCENARIO_STEP")


@scenario()
def working_folder(wrap):
    before = pathlib.Path.cwd()
    f = wrap(lambda x: x * float(len(os.getcwd()) == len(str(before))))  # noqa: PTH109
    yield f(X)
    with contextlib.chdir(before.parent):
        yield f(X)


@scenario()
def file_read(wrap):
    path = pathlib.Path(tempfile.mkdtemp()) / "rate"
    f = wrap(lambda x: x * float(path.read_text()))
    for k in ("2", "3"):
        path.write_text(k)
        yield f(X)
    path.unlink()
    yield type(attempt(f, X)).__name__


@scenario()
def file_opened(wrap):
    path = pathlib.Path(tempfile.mkdtemp()) / "rate.json"

    @wrap
    def f(x):
        with path.open() as file:
            return x * json.load(file)["rate"]

    for k in (2.0, 3.0):
        path.write_text(json.dumps({"rate": k}))
        yield f(X)


@scenario()
def array_file_read(wrap):
    path = pathlib.Path(tempfile.mkdtemp()) / "rate.npy"
    f = wrap(lambda x: x * float(np.load(path)[0]))
    for k in (2.0, 3.0):
        np.save(path, [k])
        yield f(X)


@scenario()
def file_that_appears(wrap):
    path = pathlib.Path(tempfile.mkdtemp()) / "stop"
    f = wrap(lambda x: x * 0.0 if path.exists() else x)
    yield f(X)
    path.touch()
    yield f(X)


@scenario()
def folder_listed(wrap):
    folder = pathlib.Path(tempfile.mkdtemp())
    f = wrap(lambda x: x * float(len(os.listdir(folder)) + len(list(folder.iterdir()))))  # noqa: PTH208
    yield f(X)
    (folder / "a").touch()
    yield f(X)


@scenario()
def file_written(wrap):
    path = pathlib.Path(tempfile.mkdtemp()) / "log"
    path.write_text("")

    @wrap
    def f(x):
        path.write_text(path.read_text() + "x")
        return x * 2.0

    for _ in range(3):
        f(X)
    yield path.read_text()


@scenario()
def file_appended(wrap):
    path = pathlib.Path(tempfile.mkdtemp()) / "log"

    @wrap
    def f(x):
        with open(path, "a") as file:  # noqa: PTH123
            file.write("step\n")
        return x * 2.0

    for _ in range(3):
        f(X)
    yield path.read_text()


@scenario()
def files_made_and_removed(wrap):
    folder = pathlib.Path(tempfile.mkdtemp())

    @wrap
    def f(x):
        (folder / f"{len(list(folder.iterdir()))}.txt").touch()
        return x

    for _ in range(3):
        f(X)
    yield len(list(folder.iterdir()))
    g = wrap(lambda x: (next(folder.iterdir()).unlink(), x)[1])
    g(X)
    g(X)
    yield len(list(folder.iterdir()))


@scenario()
def array_file_written(wrap):
    folder = pathlib.Path(tempfile.mkdtemp())

    @wrap
    def f(x):
        np.save(folder / f"{len(list(folder.iterdir()))}.npy", np.zeros(2))
        return x

    for _ in range(3):
        f(X)
    yield len(list(folder.iterdir()))


@scenario()
def process_started(wrap):
    path = pathlib.Path(tempfile.mkdtemp()) / "ran"

    @wrap
    def f(x):
        subprocess.run(["/bin/sh", "-c", f"echo x >> {path}"], check=True)
        return x

    f(X)
    f(X)
    yield path.read_text()


@scenario()
def context_variable(wrap):
    rate = contextvars.ContextVar("rate", default=1.0)
    f = wrap(lambda x: x * rate.get())
    yield f(X)
    for k in (2.0, 3.0):
        rate.set(k)
        yield f(X)
    yield contextvars.Context().run(f, X)


@scenario()
def numpys_warnings_set_inside(wrap):
    @wrap
    def f(x):
        np.seterr(over="raise")
        return x

    with np.errstate():
        for _ in range(3):
            np.seterr(over="warn")
            f(X)
            yield np.geterr()["over"]


@scenario()
def context_variable_set_inside(wrap):
    steps = contextvars.ContextVar("steps", default=0)

    @wrap
    def f(x):
        steps.set(steps.get() + 1)
        return x

    for _ in range(3):
        f(X)
    yield steps.get()


@scenario()
def thread_local(wrap):
    local = threading.local()
    f = wrap(lambda x: x * local.k)
    for local.k in (2.0, 3.0):
        yield f(X)
    found = []
    thread = threading.Thread(target=lambda: found.append(type(attempt(f, X)).__name__))
    thread.start()
    thread.join()
    yield found


@scenario()
def thread_local_counter(wrap):
    local = threading.local()
    local.n = 0

    @wrap
    def f(x):
        local.n += 1
        return x * 2.0

    for _ in range(3):
        f(X)
    yield local.n


@scenario()
def thread_identity(wrap):
    f = wrap(lambda x: x * float(threading.get_ident() % 99991))
    found = [f(X).numpy()[0]]
    thread = threading.Thread(target=lambda: found.append(f(X).numpy()[0]))
    thread.start()
    thread.join()
    yield len(set(found))


@scenario()
def thread_name(wrap):
    f = wrap(lambda x: x * float(len(threading.current_thread().name)))
    for name in ("a", "abc"):
        found = []
        thread = threading.Thread(target=lambda: found.append(f(X)), name=name)
        thread.start()
        thread.join()
        yield found


@scenario()
def decimal_context(wrap):
    f = wrap(lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3)))
    with decimal.localcontext() as context:
        for context.prec in (28, 2):
            yield f(X)


@scenario()
def decimal_context_set_inside(wrap):
    @wrap
    def f(x):
        decimal.getcontext().prec += 1
        return x

    with decimal.localcontext() as context:
        context.prec = 5
        f(X)
        f(X)
        yield context.prec


@scenario()
def numpy_error_state(wrap):
    f = wrap(lambda x: x * float(np.geterr()["over"] == "raise"))
    yield f(X)
    with np.errstate(over="raise"):
        yield f(X)


@scenario()
def recursion_limit(wrap):
    f = wrap(lambda x: x * float(sys.getrecursionlimit() > 5000))
    before = sys.getrecursionlimit()
    yield f(X)
    sys.setrecursionlimit(6000)
    try:
        yield f(X)
    finally:
        sys.setrecursionlimit(before)


@scenario()
def command_line(wrap):
    f = wrap(lambda x: x * float("--fast" in sys.argv))
    yield f(X)
    sys.argv.append("--fast")
    try:
        yield f(X)
    finally:
        sys.argv.remove("--fast")


@scenario()
def garbage_collector(wrap):
    f = wrap(lambda x: x if gc.isenabled() else -x)
    yield f(X)
    gc.disable()
    try:
        yield f(X)
    finally:
        gc.enable()


@scenario()
def number_format_of_the_locale(wrap):
    f = wrap(lambda x: x * locale.atof("1.5"))
    for _ in range(2):
        yield f(X)


@scenario()
def standard_output_replaced(wrap):
    f = wrap(lambda x: x * float(isinstance(sys.stdout, io.StringIO)))
    yield f(X)
    with contextlib.redirect_stdout(io.StringIO()):
        out = f(X)
    yield out


@scenario()
def dtype_of_the_settings(wrap):
    settings = types.SimpleNamespace(dtype=lab.float32)
    f = wrap(lambda x: lab.cast(x, settings.dtype))
    for settings.dtype in (lab.float32, lab.float64, lab.int32):
        yield f(X)


@scenario(compiles=True)
def deep_settings(wrap):
    settings = {"model": types.SimpleNamespace(act={"name": "relu", "slope": 0.5})}

    @wrap
    def f(x):
        act = settings["model"].act
        return lab.nn.relu(x) if act["name"] == "relu" else lab.maximum(x, x * act["slope"])

    yield f(-X)
    settings["model"].act["name"] = "leaky"
    yield f(-X)
    settings["model"].act["slope"] = 0.25
    yield f(-X)
