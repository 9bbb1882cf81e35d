"""Properties of layouts that hold for every engine; coordinates are never compared between engines or with files."""

import itertools
import sys
import time
from collections.abc import Callable

import pytest

from autodiff_lab.draw.graph import graph, scope_paths
from autodiff_lab.draw.layout import OWN, arrange, arrangements, graphviz, layout
from autodiff_lab.draw.model import Box, Graph, Layout
from autodiff_lab.errors import LayoutFailed
from autodiff_lab.recording.recording import Recording
from tests.draw import handmade

RECORDINGS: dict[str, Callable[[], Recording]] = {
    "sine": handmade.sine,
    "net": handmade.two_layers,
    "failed": handmade.failed,
    "many": lambda: handmade.many(40),
}


@pytest.fixture(params=[*graphviz.programs(), OWN])
def engine(request: pytest.FixtureRequest) -> str:
    """Every engine that this machine has."""
    return request.param


def test_the_engines_of_this_machine_are_told(figure: Callable[[str, str], None]) -> None:
    names = list(graphviz.programs())
    figure("layout engines here", ", ".join([*names, OWN]))
    assert set(names) <= {"dot", "pygraphviz"}


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have points in common."""
    apart_x = (one.width + other.width) / 2 <= abs(one.x - other.x) + 0.1
    apart_y = (one.height + other.height) / 2 <= abs(one.y - other.y) + 0.1
    return not (apart_x or apart_y)


@pytest.mark.parametrize("name", RECORDINGS)
def test_boxes_lie_apart_inside_the_picture_and_keep_their_sizes(name: str, engine: str) -> None:
    drawn = graph(RECORDINGS[name](), folded=())
    placed = layout(drawn, engine=engine)
    assert placed.engine == engine
    assert not [pair for pair in itertools.combinations(placed.boxes.values(), 2) if overlap(*pair)]
    for node in drawn.nodes:
        box = placed.boxes[node.key]
        assert (box.width, box.height) == (round(node.width, 2), round(node.height, 2))
        assert box.width / 2 <= box.x <= placed.width - box.width / 2
        assert box.height / 2 <= box.y <= placed.height - box.height / 2


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_edge_runs_to_the_right_and_ends_on_its_boxes(name: str, engine: str) -> None:
    drawn = graph(RECORDINGS[name](), folded=())
    placed = layout(drawn, engine=engine)
    for edge, curve in zip(drawn.edges, placed.curves, strict=True):
        source, target = placed.boxes[edge.source], placed.boxes[edge.target]
        assert len(curve) % 3 == 1
        assert curve[0][0] == pytest.approx(source.x + source.width / 2, abs=0.1)
        assert curve[-1][0] == pytest.approx(target.x - target.width / 2, abs=0.1)
        assert abs(curve[0][1] - source.y) < source.height / 2
        assert abs(curve[-1][1] - target.y) < target.height / 2
        assert curve[0][0] < curve[-1][0]


def test_two_edges_between_the_same_nodes_are_drawn_apart(engine: str) -> None:
    placed = layout(graph(handmade.sine()), engine=engine)
    first, second = placed.curves[:2]
    assert abs(first[0][1] - second[0][1]) >= 10
    assert abs(first[-1][1] - second[-1][1]) >= 10


def test_what_runs_first_is_on_top(engine: str) -> None:
    pencil = handmade.Pencil()
    for number in range(4):
        pencil.run("sin", (pencil.leaf(float(number), f"x{number}"),), 0.5)
    drawn = graph(pencil.done())
    boxes = layout(drawn, engine=engine).boxes
    heights = [boxes[node.key].y for node in drawn.nodes if node.kind == "op"]
    assert heights == sorted(heights)


def test_the_same_graph_gives_the_same_layout(engine: str) -> None:
    drawn = graph(handmade.many(30))
    assert layout(drawn, engine=engine) == layout(drawn, engine=engine)


def test_an_edge_back_to_an_earlier_column_goes_around_below(engine: str) -> None:
    pencil = handmade.Pencil()
    x = pencil.leaf(1.0, "x")
    one = pencil.run("sin", (x,), 0.84, scope="layer")
    two = pencil.run("tanh", (one,), 0.68)
    pencil.run("sin", (two,), 0.63, scope="layer")
    drawn = graph(pencil.done())
    placed = layout(drawn, engine=engine)
    lowest = max(box.y + box.height / 2 for box in placed.boxes.values())
    backwards = [curve for curve in placed.curves if curve[0][0] > curve[-1][0]]
    assert len(backwards) == 1
    assert max(y for _, y in backwards[0]) > lowest


def test_a_long_edge_passes_no_box(engine: str) -> None:
    pencil = handmade.Pencil()
    x = value = pencil.leaf(1.0, "x")
    for _ in range(5):
        value = pencil.run("sin", (value,), 0.5)
    pencil.run("add", (value, x), 1.5)
    drawn = graph(pencil.done())
    placed = layout(drawn, engine=engine)
    number = next(n for n, edge in enumerate(drawn.edges) if edge.source == f"t{x}" and edge.position == 1)
    between = [box for key, box in placed.boxes.items() if key not in (f"t{x}", "a5")]
    for bend in points(placed.curves[number]):
        assert not [box for box in between if overlap(box, Box(*bend, 0.5, 0.5))]


def points(curve: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Points along a curve of cubic pieces."""
    found = []
    for at in range(0, len(curve) - 1, 3):
        for t in (0.0, 0.25, 0.5, 0.75, 1.0):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            piece = curve[at : at + 4]
            found.append((
                sum(w * x for w, (x, _) in zip(weights, piece, strict=True)),
                sum(w * y for w, (_, y) in zip(weights, piece, strict=True)),
            ))  # fmt: skip
    return found


def test_several_graphs_are_placed_as_each_alone(engine: str) -> None:
    recording = handmade.many(60, scopes=6)
    drawn = [graph(recording, path) for path in ("", *scope_paths(recording))] + [Graph((), ())]
    assert arrangements(drawn, engine=engine) == [arrange(one, engine=engine) for one in drawn]


SLOW = {"sleeps": "import time; time.sleep(60)", "computes": "while True: pass"}


@pytest.mark.slow
@pytest.mark.parametrize("how", SLOW)
def test_what_graphviz_cannot_place_in_time_is_placed_in_layers(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodiff_lab.draw.layout.programs", lambda: {"dot": (sys.executable, "-c", SLOW[how])})
    monkeypatch.setattr(graphviz, "WAITING", 2.0)
    drawn = graph(handmade.many(20))
    begun = time.perf_counter()
    assert layout(drawn, time_limit=0.3) == layout(drawn, engine=OWN)
    found = arrangements([drawn, graph(handmade.sine())], time_limit=0.3)
    assert [one.engine for one in found if isinstance(one, Layout)] == [OWN, OWN]
    assert time.perf_counter() - begun < 60


@pytest.mark.parametrize("engine_name", [None, OWN])
def test_a_hopeless_graph_is_refused_before_anything_is_tried(engine_name: str | None) -> None:
    drawn = graph(handmade.many(450))
    with pytest.raises(LayoutFailed, match=r"45\d nodes and 900 edges .* 0\.1 s"):
        layout(drawn, time_limit=0.1, engine=engine_name)


def test_a_value_that_everything_uses_does_not_fill_our_own_layout() -> None:
    pencil = handmade.Pencil()
    x = value = pencil.leaf(1.0, "x")
    for _ in range(1500):
        value = pencil.run("add", (value, x), 1.0)
    drawn = graph(pencil.done(), folded=())
    placed = layout(drawn, engine=OWN)
    assert len(placed.curves) == 3000
    assert placed.height < 1000


BROKEN = {
    "fails": "import sys; sys.exit(3)",
    "says nothing": "",
    "speaks of something else": 'print(\'{"bb": "0,0,1,1"}\')',
    "is cut off": 'print(\'{"bb": "0,0\')',
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_graphviz_is_passed_over(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = {"dot": (sys.executable, "-c", BROKEN[how])}
    monkeypatch.setattr("autodiff_lab.draw.layout.programs", lambda: programs)
    drawn = graph(handmade.sine())
    assert layout(drawn).engine == OWN
    assert [one.engine for one in arrangements([drawn, drawn]) if isinstance(one, Layout)] == [OWN, OWN]


def test_an_engine_that_is_not_here_is_refused_with_those_that_are() -> None:
    with pytest.raises(LayoutFailed, match=r"'neato' is not installed; this machine has: .*layered"):
        layout(graph(handmade.sine()), engine="neato")


def test_graphviz_says_nothing_on_stderr(engine: str, capfd: pytest.CaptureFixture[str]) -> None:
    layout(graph(handmade.sine()), engine=engine)
    assert capfd.readouterr() == ("", "")


def test_no_text_of_the_user_reaches_graphviz() -> None:
    source = graphviz.layout_source(graph(handmade.hostile()))
    assert "script" not in source
    assert "img" not in source


def test_large_graphs_are_laid_out_and_timed(figure: Callable[[str, str], None]) -> None:
    for name, drawn in {
        "500 nodes": graph(handmade.many(500)),
        "2,000 ops in 20 folded scopes": graph(handmade.many(2000, scopes=20)),
    }.items():
        began = time.perf_counter()
        placed = layout(drawn, time_limit=60)
        figure(f"layout of {name} by {placed.engine}", f"{time.perf_counter() - began:.2f} s")
        assert len(placed.boxes) == len(drawn.nodes)
        assert len(placed.curves) == len(drawn.edges)
