"""The file format: what is saved is loaded equal, and damaged files are refused with the location of the error."""

import copy
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import autodiff_lab as lab
from autodiff_lab.errors import RecordingError, RecordingTooLarge, RecordingVersionError
from autodiff_lab.recording import Recording, load_recording
from autodiff_lab.recording.model import TensorRecord
from autodiff_lab.recording.reader import recording_from
from autodiff_lab.recording.snapshot import Snapshot, snapshot
from autodiff_lab.recording.wire import to_json
from tests.recording.programs import failing, higher_order, square_plus_sine
from tests.refusals import refused


def scoped() -> Recording:
    with lab.record(title="scopes") as recording, lab.name_scope("layer"):
        x = lab.constant(np.ones((20, 20)), name="x")
        float(lab.reduce_sum(lab.sin(x)) * math.nan)
    return recording


PROGRAMS = [square_plus_sine, higher_order, failing, scoped]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_saved_recording_comes_back_equal(program: Callable[[], Recording], tmp_path: Path) -> None:
    """Every view is the same, and saving again writes the same bytes."""
    recording = program()
    recording.save(tmp_path / "a.json")
    loaded = load_recording(tmp_path / "a.json")
    assert loaded == recording
    assert loaded.to_text() == recording.to_text()
    loaded.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def holding(value: Snapshot) -> Recording:
    return Recording(ops={}, tensors={0: TensorRecord(0, "constant", None, value)}, applications=())


def through_json(recording: Recording) -> Recording:
    return recording_from(json.loads(json.dumps(to_json(recording), allow_nan=False)))


@given(
    st.sampled_from(["float32", "float64", "int32", "int64", "uint8", "bool", "complex64", "float16"]).flatmap(
        lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    )
)
def test_every_value_of_every_dtype_comes_back_bit_by_bit(array: np.ndarray) -> None:
    """Nan, infinities, -0.0 and the last digit included."""
    kept = snapshot(array)
    back = through_json(holding(kept)).tensors[0].snapshot
    assert back == kept
    assert back.array is not None
    assert (back.array.dtype, back.array.shape) == (array.dtype, array.shape)
    bits = [np.atleast_1d(np.where(np.isnan(a), np.zeros((), a.dtype), a)).tobytes() for a in (array, back.array)]
    assert bits[0] == bits[1]


@given(arrays("float32", 7), st.integers(0, 6))
def test_summaries_come_back(array: np.ndarray, whole: int) -> None:
    """Extremes, mean, the counts of nan and inf, and the first elements."""
    with np.errstate(all="ignore"):
        kept = snapshot(array, whole)
    assert through_json(holding(kept)).tensors[0].snapshot == kept


def test_ops_and_dtypes_that_nobody_knows_are_valid() -> None:
    """Another framework may write a recording; it is drawn with the names that it uses."""
    recording = recording_from(
        {
            "format": "autodiff_lab recording",
            "version": 1,
            "tensors": [
                {"id": 5, "kind": "constant", "dtype": "float8_e4m3", "shape": [2], "values": [1.5, "nan"]},
                {"id": 6, "dtype": "string", "values": ["a"]},
            ],
            "applications": [{"op": "their.op", "inputs": [5], "outputs": [6]}],
        }
    )
    assert recording.ops["their.op"].symbol == ""
    assert [m.phase for m in recording.order] == ["forward"]
    assert recording.to_text() == ('%0: float8_e4m3[2] = constant  # [1.5, nan]\n%1: string = their.op(%0)      # "a"')


def test_a_script_in_a_name_stays_data(tmp_path: Path) -> None:
    """Markup in names, lines and errors is kept as it is; making it harmless is the business of what draws."""
    evil = "</script><script>alert(1)</script>\u2028"
    v = lab.Variable(1.0, name=evil)
    with lab.record(title=evil) as recording:
        _ = v * 2.0
    recording.save(tmp_path / "evil.json")
    loaded = load_recording(tmp_path / "evil.json")
    assert loaded.title == evil
    assert next(iter(loaded.tensors.values())).name == evil


def test_saving_replaces_a_file_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up leaves the old file and no rubbish beside it."""
    target = tmp_path / "a.json"
    recording = square_plus_sine()
    recording.save(target)
    before = target.read_bytes()

    def full(self: Path, other: Path) -> Path:
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        recording.save(target)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_a_saved_file_has_the_permissions_of_any_other_file(tmp_path: Path) -> None:
    """It is as readable as what ``open(..., "w")`` would have made."""
    square_plus_sine().save(tmp_path / "a.json")
    (tmp_path / "plain").write_text("x")
    assert (tmp_path / "a.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_folder_that_does_not_exist_is_an_ordinary_error(tmp_path: Path) -> None:
    """Users expect FileNotFoundError from both directions."""
    with pytest.raises(FileNotFoundError):
        square_plus_sine().save(tmp_path / "none" / "a.json")
    with pytest.raises(FileNotFoundError):
        load_recording(tmp_path / "none.json")


# --- what is refused ---------------------------------------------------------------------------------------------


def test_a_gigabyte_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """The size is looked at first, and the message says how to read it all the same."""
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        os.truncate(file.fileno(), 2**30)
    with pytest.raises(RecordingTooLarge, match=r"1,073,741,824 bytes.*limit=1073741824"):
        load_recording(path)
    with pytest.raises(RecordingTooLarge):
        load_recording(Path(__file__), limit=10)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"1" * 10_000,
        b"nonsense",
        b'"\\ud800"',
        b"{}",
        b"[]",
        b"null",
        b"NaN",
        b'{"format": "autodiff_lab recording"}',
        b'{"format": "autodiff_lab recording", "version": "1"}',
        b'{"format": "autodiff_lab recording", "version": true}',
    ],
)
def test_what_is_no_recording_is_refused_in_words(content: bytes, tmp_path: Path) -> None:
    """Empty, truncated, binary, nested without end, or simply something else: one error, a ValueError too."""
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=r"a\.json") as caught:
        load_recording(path)
    assert isinstance(caught.value, ValueError)


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    """A file cut anywhere is never half a recording."""
    path = tmp_path / "a.json"
    square_plus_sine().save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 37):
        path.write_bytes(whole[:length])
        with pytest.raises(RecordingError):
            load_recording(path)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="not a file"):
        load_recording(tmp_path)


def test_a_future_version_says_that_a_newer_release_is_needed() -> None:
    """Also when the rest of the file has a form that nobody here has seen."""
    with pytest.raises(RecordingVersionError, match=r"version 2, and this release reads up to 1"):
        recording_from({"format": "autodiff_lab recording", "version": 2, "something": "else"})


def damaged(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    content = json.loads(json.dumps(to_json(square_plus_sine())))
    change(content)
    return content


def put(path: list[Any], value: Any) -> Callable[[dict[str, Any]], object]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put(["tensors", 0, "id"], "4"), r'tensors\[0\]\.id: expected an integer of at least 0, found "4"'),
        (put(["tensors", 0, "id"], True), r"tensors\[0\]\.id: expected an integer"),
        (put(["tensors", 0, "shape"], [2]), r"tensors\[0\]\.values: expected 2 values for shape \[2\]"),
        (put(["tensors", 0, "shape"], [-1]), r"tensors\[0\]\.shape\[0\]"),
        (put(["tensors", 0, "shape"], [2**40, 2**40]), r"tensors\[0\]\.values"),
        (put(["tensors", 0, "shape"], [1] * 70), r"tensors\[0\]\.shape: expected a list of 0 to 64"),
        (put(["tensors", 0, "values"], ["3"]), r'values\[0\]: expected a number, "nan", "inf" or "-inf"'),
        (put(["tensors", 0, "values"], [10**400]), r"values\[0\]: expected a number that a double can hold"),
        (put(["tensors", 0, "kind"], "output"), r"tensors\[0\]\.kind: expected one of"),
        (put(["tensors", 0, "dtype"], None), r"tensors\[0\]\.dtype: expected a text, found nothing"),
        (put(["tensors", 0, "place"], [9, 1]), r"tensors\[0\]\.place\[0\]: expected an integer from 0 to 0"),
        (
            lambda c: c["tensors"].append(c["tensors"][0]),
            r"tensors\[\d+\]\.id: expected an id that no other tensor has",
        ),
        (lambda c: c["tensors"].pop(1), r"applications\[0\]\.outputs: there is no tensor"),
        (put(["applications", 0, "inputs"], [999]), r"applications\[0\]\.inputs\[0\]: expected the id of a tensor"),
        (
            lambda c: put(["applications", 0, "inputs"], c["applications"][2]["outputs"])(c),
            r"applications\[0\]\.inputs\[0\]: expected a leaf, or the output of an earlier application",
        ),
        (lambda c: put(["applications", 0, "inputs"], c["applications"][0]["outputs"])(c), "earlier application"),
        (
            lambda c: put(["applications", 1, "outputs"], c["applications"][0]["outputs"])(c),
            "no other application made",
        ),
        (put(["applications", 0, "op"], 3), r"applications\[0\]\.op: expected a text"),
        (put(["applications", 0, "params"], [1]), r"applications\[0\]\.params: expected an object"),
        (put(["applications", 3, "cause"], 3), r"applications\[3\]\.cause: expected an integer from 0 to 2"),
        (put(["sweeps", 0, "steps", 0, 0], 99), r"sweeps\[0\]\.steps\[0\]\[0\]"),
        (put(["sweeps", 0, "steps", 0, 2, 0, 0], 2), r"sweeps\[0\]\.steps\[0\]\[2\]\[0\]\[0\]: .* from 0 to 1"),
        (put(["sweeps", 0, "seeds"], []), r"sweeps\[0\]\.seeds: expected a list of 1 elements"),
        (put(["sweeps", 0, "results"], [998]), r"sweeps\[0\]\.results\[0\]: expected the id of a tensor"),
        (put(["order", 0], [77]), r"order\[0\]\[0\]"),
        (put(["order", 3], [0, 0, 0]), r"order\[3\]\[0\]: expected application 2"),
        (put(["order", 0], [0, 0]), r"order\[0\]: expected an application"),
        (put(["ops"], {"multiply": 1}), r"ops: expected a list, found an object"),
        (put(["ops", 0, "locals"], "abc"), r"ops\[0\]\.locals: expected a list"),
        (put(["files", 0, "lines"], {"x": "y"}), r'files\[0\]\.lines\["x"\]: expected a line number'),
        (put(["files", 0, "lines"], {"²": "y"}), r"expected a line number"),
        (put(["replayable"], "yes"), r"replayable: expected true or false"),
        (put(["format"], "something else"), r'format: expected "autodiff_lab recording"'),
        (lambda c: c["tensors"][0].pop("dtype"), r"tensors\[0\]\.dtype is missing"),
        (lambda c: c["tensors"][0].pop("values"), r"tensors\[0\]\.summary is missing"),
    ],
)
def test_a_hand_edited_file_is_refused_and_the_place_is_named(
    change: Callable[[dict[str, Any]], object], message: str
) -> None:
    """Every complaint starts with the path of the field, and says what stood there."""
    with refused(RecordingError, message):
        recording_from(damaged(change))


def test_parameters_that_nest_without_end_are_refused() -> None:
    """Data is data, but not without bounds."""
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(RecordingError, match="nested at most 50 deep"):
        recording_from(damaged(put(["applications", 0, "params"], {"axis": deep})))


def test_halves_of_characters_are_replaced() -> None:
    """A lone surrogate, which no file can hold as UTF-8, must not break what writes a page later."""
    recording = recording_from(damaged(put(["tensors", 0, "name"], "a\ud800b")))
    name = next(iter(recording.tensors.values())).name
    assert name is not None
    name.encode("utf-8")


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
CONTENTS = [json.loads(json.dumps(to_json(program()))) for program in PROGRAMS]


def spots(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything inside a JSON value."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [found for key, value in items for found in [(*path, key), *spots(value, (*path, key))]]


@pytest.mark.slow
@settings(max_examples=150)
@given(st.data())
def test_no_mutation_of_a_file_raises_anything_else(data: st.DataObject) -> None:
    """A file with pieces replaced, removed, doubled or swapped loads, or is refused with our error: nothing else."""
    content = copy.deepcopy(data.draw(st.sampled_from(CONTENTS)))
    for _ in range(data.draw(st.integers(1, 3))):
        places = spots(content)
        *path, last = data.draw(st.sampled_from(places))
        parent = content
        for key in path:
            parent = parent[key]
        action = data.draw(st.sampled_from(["junk", "remove", "other"]))
        if action == "remove":
            del parent[last]
        elif action == "junk":
            parent[last] = data.draw(JUNK)
        else:
            *elsewhere, end = data.draw(st.sampled_from(places))
            try:
                source = content
                for key in (*elsewhere, end):
                    source = source[key]
                parent[last] = copy.deepcopy(source)
            except (KeyError, IndexError, TypeError):
                continue
    try:
        recording = recording_from(content)
    except RecordingError:
        return
    recording.to_text()
    assert through_json(recording) == recording


@given(JUNK)
def test_junk_is_refused(junk: Any) -> None:
    """Any JSON value that is not a recording gives our error."""
    with pytest.raises(RecordingError):
        recording_from(junk)


def test_sizes_of_the_wire_form(figure: Callable[[str, str], None], tmp_path: Path) -> None:
    """A small program takes a few kilobytes, values included."""
    path = tmp_path / "a.json"
    square_plus_sine().save(path)
    size = path.stat().st_size
    figure("recording of x*x + sin(x), with its gradient, as JSON", f"{size} bytes")
    assert size < 10_000
