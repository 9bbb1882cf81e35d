"""Views of compiled functions: what `lab.function` made of a function, in a form that `draw.program` can draw.

This is where the compiler's Program meets the drawing: `items` turns its values into plain data, `links` says which
lines of its texts refer to them.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from autodiff_lab.compile.program.names import names_of
from autodiff_lab.draw.assets import WIDGETS
from autodiff_lab.draw.page import document
from autodiff_lab.draw.program import Loop, ProgramView, payload, picture
from autodiff_lab.draw.program.payload import MOST_DRAWN
from autodiff_lab.errors import LayoutFailed
from autodiff_lab.exploring.items import items_of
from autodiff_lab.exploring.links import members_of, program_rows, source_rows
from autodiff_lab.exploring.reasons import called, eagerly

if TYPE_CHECKING:
    from autodiff_lab.compile.front.function import Function
    from autodiff_lab.widgets.program import ProgramExplorer

MOST_ROWS = 1500
"""How many lines of the program and of the source are shown."""


def program_view(function: Function) -> ProgramView:
    """Return what is shown of a compiled function: the program of the signature that was compiled last.

    Parameters
    ----------
    function : Function
        One that was never called, or that runs eagerly, gives a view that says so; one that is being compiled is
        waited for.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> f = lab.function(lambda x: lab.sin(x) * x, backend="numpy")
    >>> program_view(f).why
    'f has not been called yet: call it once, and look again.'
    >>> _ = f(lab.constant([1.0, 2.0]))
    >>> print(program_view(f).summary())
    2 ops forward. They run one by one.
    """
    function.wait()
    name = called(function)
    why, reasons = eagerly(function, name)
    if not function.compiled:
        return ProgramView(name, why=why, reasons=reasons)
    program, source, kernels = function.program, function.source, function.kernels
    items, place = items_of(program)
    loops = tuple(
        Loop(kernel.title, kernel.note, tuple(dict.fromkeys(place[i] for i in members_of(kernel, program))))
        for kernel in kernels
    )
    by_name = {name: place[i] for i, name in names_of(program).items() if i in program.made_by}
    items, in_source = source_rows(source, items, loops, by_name)
    inside = {at for loop in loops for at in loop.items}
    calls = sum(item.kind == "op" and at not in inside for at, item in enumerate(items))
    in_program = program_rows(program, items, place)
    longest = max(len(in_program), len(in_source))
    return ProgramView(
        f"{name}({', '.join(f'{item.name}: {item.shape}' for item in items if item.kind == 'argument')})",
        items,
        in_program[:MOST_ROWS],
        in_source[:MOST_ROWS],
        loops,
        calls,
        why,
        reasons,
        f"The first {MOST_ROWS} lines of {longest} are shown." if longest > MOST_ROWS else "",
    )


def to_html(function: Function) -> str:
    """Return a compiled function as a page that needs neither network nor kernel."""
    view = program_view(function)
    state = {"facts": payload(view), "at": first_op(view)}
    return document(view.title, state, WIDGETS / "program", _without_script(view))


def first_op(view: ProgramView) -> int:
    """Return the item that is highlighted first."""
    return next((at for at, item in enumerate(view.items) if item.kind == "op"), -1)


def _without_script(view: ProgramView) -> str:
    drawn = ""
    if 0 < len(view.items) <= MOST_DRAWN:
        try:
            drawn = picture(view, themed=False)[0]
        except LayoutFailed as failure:
            drawn = f"<p>{escape(str(failure))}</p>"
    source = "\n".join(row.text for row in view.source)
    return f"<p>{escape(view.summary())}</p>{drawn}<pre>{escape(view.account())}</pre><pre>{escape(source)}</pre>"


def explorer(function: Function) -> ProgramExplorer:
    """Return the widget of a compiled function.

    Raises
    ------
    ImportError
        Where anywidget is not installed.
    """
    from autodiff_lab.widgets.program import ProgramExplorer

    view = program_view(function)
    return ProgramExplorer(view, at=first_op(view))


def bundle(function: Function, **options: Any) -> Any:
    """Return what a notebook shows of a compiled function: the widget if available, and always a text."""
    try:
        return explorer(function)._repr_mimebundle_(**options)
    except ImportError:
        return {"text/plain": program_view(function).account()}
