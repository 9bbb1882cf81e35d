"""What is kept of a long recording: within its limit, the whole graph, and a sentence about what is missing."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.draw.markup import json_text
from autodiff_lab.draw.scene import scene
from autodiff_lab.draw.still import MOST_NODES, still
from autodiff_lab.draw.thinning import MOST, kept
from autodiff_lab.recording import Recording

STRUCTURE = ("steps", "views", "applications", "tensors", "places", "ops", "sweeps", "kinds", "loops")


def chain(length: int, elements: int = 40) -> Recording:
    """A program without a loop that could be folded: no op is like its neighbours."""
    ops = (lab.sin, lab.tanh, lab.cos, lab.sigmoid)
    rng = np.random.default_rng(length)
    v = lab.Variable(rng.normal(size=elements).astype("float32"), name="v")
    with lab.record(title="a chain") as recording:
        with lab.GradientTape() as tape:
            y = v
            for at in rng.integers(0, 4, length // 2):
                y = ops[at](y) + v
            y = lab.reduce_sum(y)
        tape.gradient(y, v)
    return recording


def size(found: dict[str, Any]) -> int:
    return len(gzip.compress(json_text(found).encode())) * 4 // 3


@pytest.fixture(scope="module")
def long() -> Recording:
    return chain(300)


@pytest.fixture(scope="module")
def whole(long: Recording) -> dict[str, Any]:
    return scene(long)


def test_a_short_recording_is_kept_as_it_is() -> None:
    found = scene(chain(10))
    assert kept(found).payload is found
    assert not kept(found).packed


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("share", [0.9, 0.6, 0.5])
def test_numbers_are_thinned_and_the_structure_never(whole: dict[str, Any], share: float) -> None:
    limit = int(share * size(whole))
    found = kept(whole, limit)
    assert found.without
    assert found.size <= limit
    assert {name: found.payload[name] for name in STRUCTURE} == {name: whole[name] for name in STRUCTURE}
    assert [row[0] for row in found.payload["values"]] == [row[0] for row in whole["values"]], "what a node says"
    assert json.loads(gzip.decompress(found.packed)) == json.loads(json_text(found.payload))


def test_a_limit_below_the_structure_leaves_the_structure(whole: dict[str, Any]) -> None:
    found = kept(whole, 1_000)
    assert found.size > 1_000
    assert found.payload["views"] == whole["views"]
    assert "off" in found.payload["running"]


def test_rounded_elements_are_those_of_the_value(whole: dict[str, Any]) -> None:
    found = kept(whole, int(0.9 * size(whole))).payload
    rounded = [
        (row[5], [float(word) for word in old[1].strip("[]").split(",")])
        for row, old in zip(found["values"], whole["values"], strict=True)
        if len(row) > 5 and old[1].startswith("[") and not old[1].endswith("‥")
    ]
    assert rounded
    for cells, exact in rounded:
        np.testing.assert_allclose(cells, exact, rtol=5.1e-3)


def test_what_is_not_finite_stays_so() -> None:
    with lab.record() as recording:
        _ = lab.constant([np.nan, np.inf, -np.inf, *np.linspace(0.1, 1.1, 40)]) * 1.23456
    found = scene(recording)
    rows = kept(found, len(json_text(found)) - 1).payload["values"]
    assert any(row[4] == 2 and "nan" in row[5] for row in rows if len(row) > 5)


@pytest.mark.parametrize("most", [0, -1, True, 2.5, "2 MB"])
def test_a_limit_that_is_none_is_refused(most: Any) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match=r"max_bytes: expected a positive number"):
        kept({}, most)


@pytest.mark.slow
def test_views_say_their_size_and_how_to_keep_everything(tmp_path: Path) -> None:
    made = chain(40)
    everything = made.explore()
    assert everything.size.endswith(" kB in the notebook")
    assert made.explore(max_bytes=None).scene == everything.scene
    small = made.explore(max_bytes=38_000)
    assert "To stay below 38 kB, " in small.size
    assert "recording.explore(max_bytes=None) keeps everything." in small.size
    sent = small.get_state()["scene"]
    assert sent == ({"packed": small.packed} if small.packed else small.scene)
    made.to_html(tmp_path / "all.html")
    made.to_html(tmp_path / "small.html", max_bytes=(tmp_path / "all.html").stat().st_size - 2_000)
    assert (tmp_path / "small.html").stat().st_size < (tmp_path / "all.html").stat().st_size - 1_500


@pytest.mark.slow
def test_a_long_program_stays_within_the_limit() -> None:
    """Two megabytes are enough for the graph of ten thousand ops without a loop."""
    found = kept(scene(chain(1_000, elements=7), layout_seconds=1.0), MOST // 10)
    assert found.size < MOST // 10
    assert len(found.payload["applications"]) > 1_000


def test_a_recording_of_any_length_has_a_picture() -> None:
    for length in (10, 30, 500):
        picture = still(chain(length))
        assert len(picture) < 150_000
        assert ("most often" in picture) == (length > MOST_NODES)
    with lab.record() as recording:
        y = lab.constant(1.0)
        for _ in range(1_000):
            y = lab.sin(y) + 1.0
    assert "×1000" in still(recording), "a loop is one node"
