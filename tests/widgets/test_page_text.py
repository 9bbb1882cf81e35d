"""The contents of an exported page: one file, no external resources, nothing that a recording could inject."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

import autodiff_lab as lab
from autodiff_lab.draw.page import json_text, page
from autodiff_lab.draw.scene import scene
from autodiff_lab.recording import Recording
from tests.draw import handmade
from tests.draw.packed import unpacked

RECORDINGS = {
    "sine": handmade.sine, "two layers": handmade.two_layers, "hostile": handmade.hostile, "failed": handmade.failed,
    "empty": lambda: handmade.Pencil().done(),
}  # fmt: skip


class Reader(HTMLParser):
    """Collects the elements of a page, and the text of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self.open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open = tag if tag in self.texts else self.open
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = "" if tag == self.open else self.open

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open][-1] += data


@pytest.mark.parametrize("make", RECORDINGS.values(), ids=RECORDINGS)
def test_nothing_is_loaded_from_anywhere(make: "type[Recording]") -> None:
    whole = page(make())
    reader = Reader(whole)
    for tag, attributes in reader.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form", "video", "audio"}
        assert not {"src", "href", "action", "srcset", "data", "style"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    *_, load = reader.texts["script"]
    for text in [load, unpacked(whole, "script"), *reader.texts["style"]]:
        assert not re.search(
            r"\b(?:fetch|XMLHttpRequest|WebSocket|importScripts|eval)\b|@import|url\(|\bimport\b", text
        )


@pytest.mark.parametrize("make", RECORDINGS.values(), ids=RECORDINGS)
def test_the_policy_allows_this_script_and_these_styles_and_nothing_else(make: "type[Recording]") -> None:
    whole = page(make())
    reader = Reader(whole)
    policy = next(a["content"] for tag, a in reader.elements if tag == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    allowed = set(re.findall(r"'sha256-[^']+'", policy))
    scripts = [a for tag, a in reader.elements if tag == "script"]
    assert [a.get("type") for a in scripts] == ["application/json", "application/gzip", "module"]
    running = [reader.texts["script"][2], unpacked(whole, "script"), *reader.texts["style"]]
    assert allowed == {
        "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'" for text in running
    }


def test_the_scene_reads_back_and_no_markup_can_begin_in_it() -> None:
    state = {"name": "</script><!-- <script> \u2028 ]]>"}
    text = json_text(state)
    assert "<" not in text
    assert json.loads(text) == state


def test_the_title_is_escaped_and_has_its_order_of_precedence() -> None:
    recording = handmade.sine()
    assert Reader(page(recording, "<b>&")).texts["title"][0] == "<b>&"
    assert Reader(page(recording)).texts["title"][0] == recording.title


def test_half_a_character_in_a_name_still_makes_a_file() -> None:
    pencil = handmade.Pencil(title="\ud800 title")
    pencil.run("sin", (pencil.leaf(1.0, "\ud800"),), 0.84)
    assert page(pencil.done()).encode("utf-8")


def test_the_same_recording_makes_the_same_page() -> None:
    assert page(handmade.two_layers()) == page(handmade.two_layers())


@pytest.mark.slow
def test_a_long_scene_is_packed_and_a_short_one_can_be_read() -> None:
    with lab.record() as recording:
        x = lab.Variable(1.0, name="x")
        for _ in range(600):
            x = lab.sin(x)
    sizes = {}
    for made in (handmade.sine(), recording.so_far()):
        ((kind, text),) = re.findall(r'<script type="application/(json|gzip)" id="state">(.*?)</script>', page(made))
        state = text if kind == "json" else unpacked(page(made), "state")
        assert json.loads(state)["scene"] == json.loads(json_text(scene(made)))
        sizes[kind] = len(text) / len(state)
    assert sizes["json"] == 1
    assert sizes["gzip"] < 0.3
