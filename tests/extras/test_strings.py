"""Strings are bytes of one dtype: creating, joining, measuring and parsing agree with Python, and gradients stop."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_lab as lab
from tests.refusals import refused

words = st.lists(st.text(max_size=6), min_size=1, max_size=4)


def test_a_string_is_bytes() -> None:
    x = lab.constant("abc")
    assert str(x) == "Tensor(b'abc', shape=(), dtype=string)"
    assert repr(x) == "<Tensor: shape=(), dtype=string, numpy=b'abc'>"
    assert f"{x}" == "b'abc'"
    assert type(x.numpy()) is bytes
    assert x.numpy() == b"abc"
    assert x.dtype == lab.string == "string" == lab.as_dtype(str)
    assert not lab.string.is_floating
    assert not lab.string.is_integer
    assert lab.Variable("abc").dtype == lab.string


@pytest.mark.parametrize(
    "value",
    [["a", "bc"], [b"a", b"bc"], np.array(["a", "bc"]), np.array([b"a", b"bc"]), np.array(["a", b"bc"], object)],
)
def test_strings_enter_from_lists_and_arrays(value: Any) -> None:
    for x in (lab.constant(value), lab.convert_to_tensor(value, dtype=lab.string)):
        assert x.numpy().tolist() == [b"a", b"bc"]
        assert x.shape == (2,)


@pytest.mark.parametrize("value", ["\ud800", ["a", "b\udfff"], np.array([["\ud800"]])])
def test_half_a_character_is_refused_in_words(value: Any) -> None:
    with pytest.raises(lab.errors.ConversionError, match="lone surrogate"):
        lab.constant(value)


def test_bytes_keep_their_zeros() -> None:
    assert lab.constant([b"a\0", b"\0"]).numpy().tolist() == [b"a\0", b"\0"]


def test_array_ops_take_strings() -> None:
    x = lab.constant([["a", "b"], ["c", "d"]])
    assert x[1, 0].numpy() == b"c"
    assert lab.gather(x, [1]).numpy().tolist() == [[b"c", b"d"]]
    assert lab.reshape(x, [-1]).numpy().tolist() == [b"a", b"b", b"c", b"d"]
    assert lab.transpose(x).numpy().tolist() == [[b"a", b"c"], [b"b", b"d"]]
    assert lab.concat([x, x], 0).shape == (4, 2)
    assert lab.stack([x[0, 0], x[1, 1]]).numpy().tolist() == [b"a", b"d"]
    assert lab.where([True, False], x[0], x[1]).numpy().tolist() == [b"a", b"d"]
    assert lab.zeros((2,), lab.string).numpy().tolist() == [b"", b""]
    assert lab.fill((2,), "z").numpy().tolist() == [b"z", b"z"]
    assert (x[0] == "a").numpy().tolist() == [True, False]
    assert (x[0, 0] != b"a").numpy() is np.False_
    assert (x[0, 0] + "!").numpy() == b"a!"
    assert (x + "!").numpy().tolist() == [[b"a!", b"b!"], [b"c!", b"d!"]]


@given(texts=words)
@settings(max_examples=60, deadline=None)
def test_each_string_is_treated_as_python_would(texts: list[str]) -> None:
    x = lab.constant(texts)
    encoded = [t.encode() for t in texts]
    assert x.numpy().tolist() == encoded
    assert lab.strings.length(x).numpy().tolist() == [len(b) for b in encoded]
    assert lab.strings.length(x, unit="UTF8_CHAR").numpy().tolist() == [len(t) for t in texts]
    assert lab.strings.lower(x).numpy().tolist() == [b.lower() for b in encoded]
    assert lab.strings.upper(x, encoding="utf-8").numpy().tolist() == [t.upper().encode() for t in texts]
    assert lab.strings.strip(x).numpy().tolist() == [b.strip() for b in encoded]
    assert lab.strings.join([x, "-", x]).numpy().tolist() == [b + b"-" + b for b in encoded]
    assert lab.strings.reduce_join(x, separator=",").numpy() == b",".join(encoded)
    assert lab.strings.split(x).to_list() == [b.split() for b in encoded]
    assert lab.strings.split(x, sep="0", maxsplit=1).to_list() == [b.split(b"0", 1) for b in encoded]
    assert lab.strings.bytes_split(x).to_list() == [[bytes([c]) for c in b] for b in encoded]
    assert lab.strings.unicode_split(x, "UTF-8").to_list() == [[c.encode() for c in t] for t in texts]


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (3.0, {}, b"3.000000"),
        (3.14159, {"precision": 2}, b"3.14"),
        (1234.5, {"scientific": True, "precision": 1}, b"1.2e+03"),
        (0.5, {"shortest": True}, b"0.5"),
        (7, {}, b"7"),
        (7, {"width": 4, "fill": "0"}, b"0007"),
        (True, {}, b"true"),
        (1 + 2j, {"precision": 1}, b"(1.0,2.0)"),
        (float("nan"), {}, b"nan"),
        (lab.constant(1.5, lab.bfloat16), {"precision": 1}, b"1.5"),
        ("same", {}, b"same"),
    ],
)
def test_numbers_are_written(value: Any, options: dict[str, Any], text: bytes) -> None:
    assert lab.strings.as_string(value, **options).numpy() == text


def test_numbers_are_read() -> None:
    assert lab.strings.to_number(["1.5", "-2e3", "inf"]).numpy().tolist() == [1.5, -2000.0, np.inf]
    whole = lab.strings.to_number("12345678901", out_type=lab.int64)
    assert (int(whole), whole.dtype) == (12345678901, lab.int64)


def test_reading_what_was_written_gives_the_number_and_no_gradient() -> None:
    x = lab.Variable([1.5, -2.25])
    with lab.GradientTape() as tape:
        y = lab.strings.to_number(lab.strings.as_string(x))
    assert y.numpy().tolist() == [1.5, -2.25]
    assert tape.gradient(y, x) is None


def test_joins_go_axis_by_axis_in_the_order_given() -> None:
    x = [["a", "b"], ["c", "d"]]
    assert lab.strings.reduce_join(x, axis=0).numpy().tolist() == [b"ac", b"bd"]
    assert lab.strings.reduce_join(x, axis=-1, separator="+").numpy().tolist() == [b"a+b", b"c+d"]
    assert lab.strings.reduce_join(x, axis=[0, 1]).numpy() == b"acbd"
    assert lab.strings.reduce_join(x, axis=[1, 0]).numpy() == b"abcd"
    assert lab.strings.reduce_join(x).numpy() == b"abcd"
    assert lab.strings.reduce_join(x, axis=1, keepdims=True).shape == (2, 1)


def test_parts_and_patterns() -> None:
    assert lab.strings.substr(["hello", "world"], [0, -3], [2, 2]).numpy().tolist() == [b"he", b"rl"]
    assert lab.strings.substr("été", 1, 1, unit="UTF8_CHAR").numpy() == b"t"
    assert lab.strings.regex_replace("a1b2", r"([a-z])([0-9])", r"\2\1").numpy() == b"1a2b"
    assert lab.strings.regex_replace("aa", "a", "b", replace_global=False).numpy() == b"ba"
    assert lab.strings.regex_full_match(["abc", "abcd"], "...").numpy().tolist() == [True, False]
    assert lab.strings.split([["a b", "c"], ["", "d e f"]]).to_list() == [
        [[b"a", b"b"], [b"c"]],
        [[], [b"d", b"e", b"f"]],
    ]


def test_strings_are_recorded_as_text(tmp_path: Any) -> None:
    with lab.record() as recording:
        lab.strings.to_number(lab.constant("2.5"))
    recording.save(tmp_path / "text.json")
    assert lab.load_recording(tmp_path / "text.json") == recording
    assert {record.snapshot.dtype for record in recording.tensors.values()} == {"string", "float32"}
    assert '"2.5"' in recording.to_text()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: lab.constant("abc")[1], lab.errors.InvalidArgumentError, "only 0 dims"),
        (lambda: lab.constant(["a", 1]), lab.errors.ConversionError, "numbers or strings"),
        (lambda: lab.constant("a", dtype=lab.float32), lab.errors.ConversionError, "to_number"),
        (lambda: lab.constant(3.0, dtype=lab.string), lab.errors.ConversionError, "as_string"),
        (lambda: lab.cast("3", lab.float32), lab.errors.DtypeMismatch, "to_number"),
        (lambda: lab.cast(3.0, lab.string), lab.errors.DtypeMismatch, "as_string"),
        (lambda: lab.sin("a"), lab.errors.InvalidArgumentError, "strings are not numbers"),
        (lambda: lab.constant("a") * 2, lab.errors.DtypeMismatch, "string"),
        (lambda: lab.constant(1.0) + lab.constant("a"), lab.errors.DtypeMismatch, "float32 and string"),
        (lambda: lab.strings.length(3.0), lab.errors.DtypeMismatch, "expected strings, got float32"),
        (lambda: lab.strings.length("a", unit="WORD"), lab.errors.InvalidArgumentError, "UTF8_CHAR"),
        (lambda: lab.strings.lower("a", encoding="latin"), lab.errors.InvalidArgumentError, "utf-8"),
        (lambda: lab.strings.to_number("abc"), lab.errors.InvalidArgumentError, "cannot read 'abc' as float32"),
        (lambda: lab.strings.to_number("1_0"), lab.errors.InvalidArgumentError, "'1_0'"),
        (lambda: lab.strings.to_number("300", lab.int8), lab.errors.InvalidArgumentError, "out of range for int8"),
        (lambda: lab.strings.to_number("1", lab.string), lab.errors.DtypeMismatch, "float or integer dtype"),
        (lambda: lab.strings.as_string(1, precision=2), lab.errors.InvalidArgumentError, "need a floating dtype"),
        (lambda: lab.strings.as_string(1.0, fill="ab"), lab.errors.InvalidArgumentError, "fill must be ' '.*got 'ab'"),
        (lambda: lab.strings.as_string(1.0, scientific=True, shortest=True), ValueError, "cannot be combined"),
        (lambda: lab.strings.join([]), lab.errors.InvalidArgumentError, "list of string tensors"),
        (lambda: lab.strings.reduce_join(["a"], axis=3), lab.errors.InvalidArgumentError, "out of bounds"),
        (lambda: lab.strings.substr("abc", 7, 1), lab.errors.InvalidArgumentError, "out of range"),
        (lambda: lab.strings.regex_replace("a", "(", ""), lab.errors.InvalidArgumentError, "valid regular expression"),
        (lambda: lab.strings.unicode_split([b"\xff"], errors="strict"), lab.errors.InvalidArgumentError, "not valid"),
    ],
)  # fmt: skip
def test_refusals_say_why(call: Any, error: type[Exception], text: str) -> None:
    with refused(error, text):
        call()
