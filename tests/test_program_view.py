"""A compiled function in three views: every op is found in all of them, and what runs eagerly says why."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.draw.program import payload
from autodiff_lab.exploring.program import first_op, program_view, to_html
from autodiff_lab.widgets.program import ProgramExplorer
from tests.compile.test_background import needs_numba, run

NUMBA = importlib.util.find_spec("numba") is not None
BACKENDS = ["numpy", pytest.param("auto", marks=pytest.mark.skipif(not NUMBA, reason="numba is not installed"))]


def bell(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        z = lab.exp(-x * x)
        y = lab.reduce_sum(lab.sin(z) * x)
    return y, tape.gradient(y, x)


def layer(x: Any, w: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(w)
        hidden = lab.tanh(x @ w)
        loss = lab.reduce_mean(hidden * hidden)
    return tape.gradient(loss, w)


def compiled(backend: str, of: str) -> Any:
    f = lab.function({"bell": bell, "layer": layer}[of], backend=backend)
    if of == "bell":
        f(lab.constant(np.linspace(-1, 1, 50, dtype="float32")))
    else:
        f(lab.ones((5, 3)), lab.ones((3, 4)))
    assert not f.fallbacks
    return f


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("of", ["bell", "layer"])
def test_every_op_is_found_in_the_program_and_in_the_source(backend: str, of: str) -> None:
    view = program_view(compiled(backend, of))
    ops = {at for at, item in enumerate(view.items) if item.kind == "op"}
    assert ops
    for rows in (view.program, view.source):
        assert ops <= {at for row in rows for at in row.items}
        assert max(at for row in rows for at in row.items) < len(view.items)


def test_a_row_speaks_of_the_value_that_it_makes() -> None:
    view = program_view(compiled("numpy", "layer"))
    for row in view.program:
        if " = " in row.text and row.text.startswith("%"):
            (at,) = row.items
            assert row.text.startswith(view.items[at].number + ":")
    for row in view.source:
        if row.items and " = " in row.text:
            assert row.text.split(" = ")[0].strip() == view.items[row.items[0]].name


def test_parts_are_those_of_the_program() -> None:
    function = compiled("numpy", "layer")
    view = program_view(function)
    backward = {at for at, item in enumerate(view.items) if item.backward}
    assert len(backward) == sum(line.cause is not None for line in function.program.lines)
    for row in view.program:
        if len(row.items) == 1 and row.part:
            assert (row.part == "backward") == (row.items[0] in backward)


@pytest.mark.skipif(not NUMBA, reason="numba is not installed")
def test_a_loop_holds_the_ops_between_what_goes_in_and_what_comes_out() -> None:
    function = compiled("auto", "layer")
    view = program_view(function)
    elementwise = {at for at, item in enumerate(view.items) if item.kind == "op" and "5,4" in item.shape}
    product = {at for at in elementwise if view.items[at].label == "matmul"}
    assert len(view.loops) == 1
    assert elementwise <= set(view.loops[0].items)
    assert product <= set(view.loops[0].items)
    assert view.calls + len(view.loops[0].items) == sum(item.kind == "op" for item in view.items)
    call = next(row for row in view.source if f" = {view.loops[0].title}(" in row.text)
    assert call.items == view.loops[0].items


def test_summary_counts_ops_and_calls() -> None:
    view = program_view(compiled("numpy", "bell"))
    ops = [item for item in view.items if item.kind == "op"]
    assert view.summary().endswith("They run one by one.")
    back = sum(item.backward for item in ops)
    assert view.summary().startswith(f"{len(ops) - back} ops forward, {back} backward.")


def test_a_function_that_runs_eagerly_says_which_line_makes_it_so() -> None:
    @lab.function
    def halved(x: Any) -> Any:
        if float(x) > 1.0:
            return x / 2.0
        return x

    assert "call it once" in program_view(halved).why
    halved(lab.constant(4.0))
    view = program_view(halved)
    assert not view.items
    assert view.why == "halved runs eagerly, op by op:"
    assert view.reasons[0].line == "if float(x) > 1.0:"
    assert view.reasons[0].where.startswith("test_program_view.py, line ")
    assert "keep it a tensor" in view.account()


def test_what_only_a_check_reads_belongs_to_the_piece_that_computes_it() -> None:
    pytest.importorskip("numba", reason="pieces are compiled by Numba")

    @lab.function
    def damped(x: Any) -> Any:
        return x / 2.0 if lab.reduce_max(lab.abs(x)) > 1.0 else x

    assert damped.compile(lab.constant([4.0, 1.0]))
    view = program_view(damped)
    assert [item.label for item in view.items if item.kind == "op"] == ["abs", "max", "greater", "expect", "divide"]
    assert view.summary() == "5 ops forward. They run as 1 compiled piece of 5 ops."


def test_other_arguments_that_are_refused_do_not_hide_the_program() -> None:
    @lab.function
    def root(x: Any) -> Any:
        return lab.sqrt(x) if x.shape == () else float(x[0]) * x

    root(lab.constant(4.0))
    root(lab.constant([4.0]))
    view = program_view(root)
    assert [item.label for item in view.items if item.kind == "op"] == ["sqrt"]
    assert view.why == "Calls with other arguments run eagerly, op by op:"


@pytest.mark.parametrize("backend", BACKENDS)
def test_rounds_that_were_found_again_are_one_item(backend: str) -> None:
    def grow(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(40):
                y = lab.sin(y) * 0.5 + x
        return tape.gradient(y, x)

    function = lab.function(grow, backend=backend)
    function(lab.constant(0.5))
    view = program_view(function)
    ops = [at for at, item in enumerate(view.items) if item.kind == "op"]
    assert len(ops) < 20
    assert sum(view.items[at].times for at in ops) == len(function.program.lines)
    assert all(source < at for at in ops for source in view.items[at].ins)
    for rows in (view.program, view.source):
        assert set(ops) <= {at for row in rows for at in row.items}
    statements = [row for row in view.source if " = " in row.text and "  # " in row.text]
    assert all(row.items for row in statements)
    if backend == "auto":
        for row in statements[:-1]:
            assert row.text.strip().startswith(f"{view.items[row.items[0]].name} = ")
        assert f"{len(function.program.lines)} ops" in view.sentence(ops[0])


def test_a_program_of_nothing_and_one_that_is_too_long_are_told() -> None:
    @lab.function(backend="numpy")
    def same(x: Any) -> Any:
        return x

    same(lab.constant(1.0))
    assert program_view(same).summary().startswith("No op is left")

    kinds = (lab.sin, lab.cos, lab.tanh, lab.exp)
    drawn = np.random.default_rng(0).integers(0, 4, 1600).tolist()

    @lab.function(backend="numpy")
    def long(x: Any) -> Any:
        for k in drawn:
            x = kinds[k](x)
        return x

    long(lab.constant(1.0))
    view = program_view(long)
    facts = payload(view)
    assert facts["drawing"] == ""
    assert "too many for a graph" in facts["absent"]
    assert "are shown" in view.cut


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_display_is_a_widget_with_a_text_and_a_picture(backend: str) -> None:
    function = compiled(backend, "bell")
    data, _ = function._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert str(function.program) in data["text/plain"]
    assert data["image/svg+xml"].count('class="lab-node') >= len(function.program.lines)


def test_the_mark_is_held_to_items_and_loops() -> None:
    view = program_view(compiled("auto", "bell"))
    shown = ProgramExplorer(view, at=first_op(view))
    assert view.items[shown.at].kind == "op"
    shown.at = 10_000
    assert shown.at == len(view.items) + len(view.loops) - 1
    shown.at = -7
    assert shown.at == -1


def test_names_from_the_program_are_text_in_the_page(tmp_path: Path) -> None:
    v = lab.Variable([1.0, 2.0], name="</script><img src=x onerror=alert(1)>")

    @lab.function
    def read(x: Any) -> Any:
        return x * v

    read(lab.constant([1.0, 2.0]))
    text = to_html(read)
    assert "<img" not in text
    read.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text


def test_a_function_that_only_ran_inside_a_tape_says_so() -> None:
    f = lab.function(lambda x: x * 2.0)
    with lab.GradientTape():
        f(lab.ones(2))
    assert "ran op by op, inside a tape or a recording" in program_view(f).why


@needs_numba
def test_a_picture_of_a_function_waits_for_its_program(tmp_path: Path) -> None:
    """A cell of a notebook that defines, calls and shows a function shows what became of it."""
    said = run(
        """
        from autodiff_lab.exploring.program import program_view

        f(x)
        said["waits"] = f._waiting is not None and not f.compiled
        view = program_view(f)
        said["view"] = [view.why, len(view.items) > 4]
        """,
        AUTODIFF_LAB_CACHE=str(tmp_path),
    )
    assert said["waits"]
    assert said["view"] == ["", True]
