"""The static picture: what it shows at a step, what it never contains, and that any text is safe in it."""

import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from autodiff_lab.draw.graph import graph
from autodiff_lab.draw.layout import OWN, layout
from autodiff_lab.draw.svg import svg
from autodiff_lab.recording.recording import Recording
from tests.draw import handmade

SVG = "{http://www.w3.org/2000/svg}"
ALL = ("values", "gradients", "shapes", "names")


def picture(recording: Recording, moment: int | None = None, folded: tuple[str, ...] | None = None,
            show: tuple[str, ...] = ALL, theme: str = "auto") -> ET.Element:  # fmt: skip
    """The picture, read as XML."""
    drawn = graph(recording, folded=folded)
    return ET.fromstring(svg(drawn, layout(drawn, engine=OWN), recording, moment, theme, show))


def texts(root: ET.Element, kind: str = "") -> list[str]:
    """The texts shown, of one class if it is given."""
    return ["".join(e.itertext()) for e in root.iter(SVG + "text") if kind in e.get("class", "").split() or not kind]


def groups(root: ET.Element, *kinds: str) -> list[ET.Element]:
    """The groups that have all these classes."""
    return [e for e in root.iter(SVG + "g") if set(kinds) <= set(e.get("class", "").split())]


def test_a_node_shows_value_above_gradient() -> None:
    root = picture(handmade.sine())
    x = groups(root, "lab-variable")[0]
    assert texts(x) == ["x", "3", "5.01"]
    value, gradient = (
        next(e for e in x.iter(SVG + "text") if kind in e.get("class", "")) for kind in ("lab-value", "lab-gradient")
    )
    assert float(value.get("y", "")) < float(gradient.get("y", ""))


def test_each_edge_has_a_solid_line_and_a_dashed_one_beside_it() -> None:
    root = picture(handmade.sine())
    assert len(groups(root, "lab-forth")) == len(groups(root, "lab-back")) == 5
    assert re.search(r"\.lab-back \.lab-edge \{[^}]*stroke-dasharray", "".join(root.itertext()))


def test_gradients_that_were_cut_have_no_line_back() -> None:
    root = picture(handmade.two_layers(), folded=())
    assert len(groups(root, "lab-forth")) == 11
    assert len(groups(root, "lab-back")) == 5


def test_not_computed_yet_zero_and_no_path_are_three_marks() -> None:
    recording = handmade.two_sweeps()
    shown = [texts(groups(picture(recording, moment), "lab-variable")[1])[-1] for moment in (1, None)]
    assert shown == ["…", "no path"]
    assert texts(groups(picture(recording), "lab-variable")[0])[-1] == "0"


def test_no_path_carries_a_slash() -> None:
    root = picture(handmade.two_sweeps())
    cut = [g for g in groups(root, "lab-node") if "no path" in texts(g)]
    assert cut
    assert all(any(p.get("class") == "lab-slash" for p in g.iter(SVG + "path")) for g in cut)


@pytest.mark.parametrize("moment", range(6))
def test_one_halo_is_on_the_node_where_the_moment_happens(moment: int) -> None:
    recording = handmade.sine()
    root = picture(recording, moment)
    now = groups(root, "lab-now")
    assert len(now) == 1
    assert len([e for e in root.iter(SVG + "rect") if e.get("class") == "lab-halo"]) == 1
    symbol = {0: "×", 1: "sin", 2: "+"}[recording.order[moment].application]
    assert texts(now[0])[0].startswith(symbol)
    phase = "forward" if moment < 3 else "backward"
    assert f"Step {moment + 1} of 6 · {phase}" in texts(root)


@pytest.mark.parametrize("make", [handmade.two_layers, handmade.second_order, handmade.two_sweeps, handmade.failed])
def test_every_moment_is_in_one_place(make: Callable[[], Recording]) -> None:
    recording = make()
    for moment in range(len(recording.order)):
        for folded in (None, ()):
            root = picture(recording, moment, folded)
            assert len(groups(root, "lab-now")) == 1
            to_come = len(groups(root, "lab-node", "lab-to-come"))
            ran = {m.application for m in recording.order[: moment + 1]}
            if folded == ():
                assert to_come == len({m.application for m in recording.order} - ran)


def test_title_and_step_have_room_on_a_narrow_picture() -> None:
    pencil = handmade.Pencil(title="a title that is longer than the picture is wide, and then some more of it")
    pencil.run("sin", (pencil.leaf(1.0, "x"),), 0.84)
    root = picture(pencil.done(), 0)
    title, step = list(root.iter(SVG + "text"))[:2]
    assert len(title.text or "") == 60
    assert float(root.get("width", "0")) > 7 * (len(title.text or "") + len(step.text or ""))


def test_at_the_end_there_is_no_halo() -> None:
    root = picture(handmade.sine())
    assert not groups(root, "lab-now")
    assert not groups(root, "lab-to-come")


def test_what_is_to_come_is_lighter() -> None:
    root = picture(handmade.sine(), 0)
    assert [texts(g)[0] for g in groups(root, "lab-node", "lab-to-come")] == ["sin", "+→ y"]
    assert len(groups(root, "lab-forth", "lab-to-come")) == 3
    assert len(groups(root, "lab-back", "lab-to-come")) == 5


def test_a_failed_op_is_marked_by_a_word_and_a_slash() -> None:
    node = groups(picture(handmade.failed()), "lab-failed")[0]
    assert texts(node) == ["@", "failed"]
    assert any(path.get("class") == "lab-slash" for path in node.iter(SVG + "path"))
    assert "inner lengths 3 and 2 differ" in node.findtext(SVG + "title", "")


def test_a_plus_marks_where_contributions_meet() -> None:
    root = picture(handmade.sine())
    assert [texts(g)[0] for g in groups(root, "lab-node") if groups(g, "lab-sum")] == ["x"]


@pytest.mark.parametrize("part", ALL)
def test_each_part_can_be_left_out_without_moving_anything(part: str) -> None:
    recording = handmade.two_layers()
    whole, less = picture(recording, folded=()), picture(recording, folded=(), show=tuple(p for p in ALL if p != part))
    assert len(texts(less)) < len(texts(whole)) or "".join(texts(less)) != "".join(texts(whole))
    rects = [[sorted(e.items()) for e in root.iter(SVG + "rect")] for root in (whole, less)]
    frames = [[rect for rect in rects_ if ("class", "lab-frame") in rect] for rects_ in rects]
    boxes = [[rect for rect in rects_ if ("class", "lab-frame") not in rect] for rects_ in rects]
    assert boxes[0] == boxes[1]
    assert len(frames[0]) > len(frames[1]) or part not in {"values", "gradients"}
    places = [{g.get("transform") for g in groups(root, "lab-cells")} for root in (whole, less)]
    assert places[1] <= places[0]


def test_without_gradients_there_is_no_line_back() -> None:
    assert not groups(picture(handmade.sine(), show=("values",)), "lab-back")


def test_the_picture_is_told_in_words() -> None:
    root = picture(handmade.sine(), 4)
    assert root.findtext(SVG + "title") == "y = x·x + sin x"
    told = root.findtext(SVG + "desc", "")
    assert told.startswith("Step 5 of 6 · backward. 4 nodes and 5 edges")
    assert "x, value 3, gradient −0.99." in told
    assert "× of x, x, value 9, gradient 1." in told


def test_hostile_names_are_text_and_nothing_else() -> None:
    root = picture(handmade.hostile(), folded=())
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
        "svg", "title", "desc", "style", "rect", "g", "path", "text", "tspan", "circle",
    }  # fmt: skip
    assert not [name for e in root.iter() for name in e.attrib if name.startswith("on") or "href" in name]
    assert any("<script>" in text for text in texts(root))


def test_two_pictures_on_a_page_share_no_ids_and_load_nothing() -> None:
    recording = handmade.two_layers()
    drawn = graph(recording)
    text = svg(drawn, layout(drawn, engine=OWN), recording)
    assert not re.search(r"\sid=|url\(|href|<script|@import", text)


def test_every_class_has_our_prefix() -> None:
    root = picture(handmade.two_layers(), 3, folded=())
    kinds = {kind for e in root.iter() for kind in e.get("class", "").split()}
    assert all(kind.startswith("lab-") for kind in kinds)


@pytest.mark.parametrize(("theme", "schemes"), [("auto", 1), ("light", 0), ("dark", 0)])
def test_only_the_automatic_theme_asks_the_system(theme: str, schemes: int) -> None:
    style = picture(handmade.sine(), theme=theme).findtext(SVG + "style", "")
    assert style.count("prefers-color-scheme") == schemes


def test_an_unknown_theme_or_part_is_refused_with_those_that_exist() -> None:
    recording = handmade.sine()
    drawn = graph(recording)
    placed = layout(drawn, engine=OWN)
    with pytest.raises(ValueError, match="'auto', 'light' or 'dark'"):
        svg(drawn, placed, recording, theme="pink")
    with pytest.raises(ValueError, match="gradients, names, shapes, values"):
        svg(drawn, placed, recording, show=("colours",))


def test_an_empty_recording_is_an_empty_picture() -> None:
    recording = Recording({}, {}, ())
    root = picture(recording)
    assert root.findtext(SVG + "title") == "A recorded computation"
