"""The cell magic ``%%record``: records what the cell does, and shows the recording below it.

    %load_ext autodiff_lab

    %%record            shows the recording
    %%record run        also keeps it in the variable `run`
    %%record -q run     keeps it and shows nothing

The value of the cell's last line is shown before the recording, as it would be without the magic.
"""

from __future__ import annotations

import ast
import keyword
import sys
from types import FrameType
from typing import Any

from autodiff_lab.errors import execution_count
from autodiff_lab.recording import Recording, record

USAGE = "Write %%record, %%record name, or %%record -q name; the rest of the cell is what is recorded."


def load_ipython_extension(ipython: Any) -> None:
    """Add ``%%record`` to an IPython shell; called by ``%load_ext autodiff_lab``."""

    def record_cell(line: str, cell: str) -> None:
        __tracebackhide__ = True  # a traceback shows the user's lines and not these
        run_recorded(ipython, line, cell)

    record_cell.__doc__ = __doc__
    ipython.register_magic_function(record_cell, "cell", "record")


def run_recorded(shell: Any, line: str, cell: str) -> None:
    """Run a cell under `record`, then show the recording; an exception is raised afterwards."""
    __tracebackhide__ = True
    from IPython.display import display

    name, quiet = _options(line)
    recording: Recording | None = None
    try:
        with record(namespace=shell.user_ns) as recording:
            value = _run(shell, line, cell)
        if value is not None and not cell.rstrip().endswith(";"):
            display(value)
    finally:
        if recording is not None:
            if name:
                shell.user_ns[name] = recording
            if not quiet:
                display(recording)


def _options(line: str) -> tuple[str, bool]:
    from IPython.core.error import UsageError

    words = line.split()
    quiet = "-q" in words or "--quiet" in words
    names = [word for word in words if word not in ("-q", "--quiet")]
    if len(names) > 1 or (names and (not names[0].isidentifier() or keyword.iskeyword(names[0]))):
        raise UsageError(USAGE)
    if quiet and not names:
        raise UsageError(f"A quiet recording needs a name, or it could not be accessed. {USAGE}")
    return "".join(names), quiet


def _number_of_cell(shell: Any) -> int:
    """Return the number of the running cell, from IPython's name for it: its counter may have advanced already."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        number = execution_count(frame.f_code.co_filename)
        if number is not None:
            return int(number)
        frame = frame.f_back
    return shell.execution_count


def _run(shell: Any, line: str, cell: str) -> Any:
    """Run the cell in the user's namespace and return the value of its last line.

    The code is compiled as IPython compiles a cell, under the file name that it uses for this cell, and with an empty
    first line instead of the magic, so that line numbers are those that the user sees.
    """
    __tracebackhide__ = True
    code = "\n" + shell.transform_cell(cell)
    file = shell.compile.cache(code, _number_of_cell(shell), raw_code=f"%%record {line}\n{cell}")
    tree = shell.transform_ast(shell.compile.ast_parse(code, filename=file))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    space = shell.user_ns
    exec(compile(tree, file, "exec", shell.compile.flags, dont_inherit=True), space)
    if last is None:
        return None
    expression = ast.Expression(last.value)
    return eval(compile(expression, file, "eval", shell.compile.flags, dont_inherit=True), space)
