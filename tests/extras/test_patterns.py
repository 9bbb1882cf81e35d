r"""Patterns, rewrites and invalid UTF-8 are treated as in TensorFlow."""

from pathlib import Path
from typing import Any

import pytest

import autodiff_lab as lab
from tests.refusals import refused

REPLACED = [
    ("aba", "[a]", r"[\0]", b"[a]b[a]"),
    ("aba", "(a)(b)?", r"<\1|\2>", b"<a|b><a|>"),
    ("baac", "a*", "-", b"-b-c-"),
    ("a\n", "a$", "X", b"a\n"),
    ("a\nb", "(?m)a$", "X", b"X\nb"),
    ("é a!", ".", "x", b"xxxx"),
    ("é a!", r"\w", "w", "é w!".encode()),
    ("a+b", r"\+", r"\\", b"a\\b"),
    ("a.b]c", "[[:punct:]]", "P", b"aPbPc"),
    ("a[b", "[[x]", "P", b"aPb"),
    ("Aa", "(?i)A", r"\0\0", b"AAaa"),
    ("ab", r"\b", "|", b"|ab|"),
    (b"a\xffb", "b", "c", b"a\xffc"),
]


@pytest.mark.parametrize(("text", "pattern", "rewrite", "expected"), REPLACED)
def test_a_rewrite_is_that_of_re2(text: Any, pattern: str, rewrite: str, expected: bytes) -> None:
    found = lab.strings.regex_replace(lab.constant([text, ""]), pattern, rewrite).numpy()
    assert found[0] == expected
    tensors = lab.strings.regex_replace(text, lab.constant(pattern), lab.constant(rewrite))
    assert tensors.numpy() == expected


@pytest.mark.parametrize(("pattern", "rewrite", "words"), [
    ("a", "\\", "a digit or a backslash"), ("a", r"\x", "a digit or a backslash"),
    ("a", r"\1", "group 1, but the pattern has 0"), ("(", "x", "not a valid regular expression"),
    (["a"], "x", "a single string"),
])  # fmt: skip
def test_patterns_and_rewrites_without_a_meaning_are_refused(pattern: Any, rewrite: str, words: str) -> None:
    with refused(lab.errors.InvalidArgumentError, words):
        lab.strings.regex_replace("a", pattern, rewrite)


def test_a_full_match_takes_characters_and_the_very_end() -> None:
    texts = lab.constant(["a", "ab", "\n", "é", "a\n", ""])
    assert lab.strings.regex_full_match(texts, ".").numpy().tolist() == [True, False, False, True, False, False]
    assert lab.strings.regex_full_match(texts, "[^a-z]").numpy().tolist() == [False, False, True, True, False, False]
    assert lab.strings.regex_full_match(texts, "a$").numpy().tolist() == [True, *[False] * 5]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_filled_up_with_blanks(value: float) -> None:
    written = lab.strings.as_string(lab.constant([value, 1.5]), width=9, fill="0").numpy().tolist()
    assert written == [f"{value:9}".encode(), b"01.500000"]
    for fill in ("ab", "*", "x"):
        with pytest.raises(lab.errors.InvalidArgumentError, match="as_string: fill must be "):
            lab.strings.as_string(value, width=9, fill=fill)


def test_bytes_that_are_not_utf_8_stand_beside_text() -> None:
    x = lab.constant([b"h\xc3\xa9\xff!", "é"])
    assert x.numpy().tolist() == [b"h\xc3\xa9\xff!", "é".encode()]
    assert lab.strings.upper(x).numpy().tolist() == [b"H\xc3\xa9\xff!", "é".encode()]
    assert lab.strings.upper(x, encoding="utf-8").numpy().tolist() == ["HÉ\ufffd!".encode(), "É".encode()]
    assert lab.strings.length(b"a\xe2\x82", unit="UTF8_CHAR").numpy() == 2
    assert lab.strings.substr(b"a\xe2\x82b", 1, 1, unit="UTF8_CHAR").numpy() == b"\xe2\x82"
    assert lab.strings.substr("abc", 1, -1).numpy() == b"bc"


def test_characters_are_split_in_three_encodings() -> None:
    for code in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        parts = lab.strings.unicode_split(["aé😊".encode(code)], code)
        assert parts.to_list() == [[c.encode(code) for c in "aé😊"]]
    bad = b"h\xff\xe2\x82"
    assert lab.strings.unicode_split(bad, "UTF-8", "replace", 63).numpy().tolist() == [b"h", b"?", b"?"]
    assert lab.strings.unicode_split(bad, "UTF-8", "ignore").numpy().tolist() == [b"h"]
    for arguments in (("utf8",), ("UTF-8", "bad"), ("UTF-8", "replace", 0xD800), ("UTF-8", "strict")):
        with refused(lab.errors.InvalidArgumentError, "unicode_split"):
            lab.strings.unicode_split(bad, *arguments)


@pytest.mark.parametrize(("text", "most", "expected"), [
    (" a ", 0, [b" a "]), (" a ", 1, [b"a", b""]), (" a b c ", 2, [b"a", b"b", b"c "]), ("", 0, [b""]), ("", 1, []),
    ("a b", -1, [b"a", b"b"]),
])  # fmt: skip
def test_words_beyond_the_most_stay_together(text: str, most: int, expected: list[bytes]) -> None:
    assert lab.strings.split([text], maxsplit=most).to_list() == [expected]


def test_joins_refuse_other_shapes_and_take_axes_without_elements() -> None:
    with pytest.raises(lab.errors.ShapeMismatch, match=r"\(2,\), \(1,\)"):
        lab.strings.join([["a", "b"], ["c"]])
    assert lab.strings.reduce_join(lab.zeros((2, 0), lab.string), axis=1).numpy().tolist() == [b"", b""]
    assert lab.strings.to_number(["0x10", "1e3"]).numpy().tolist() == [16.0, 1000.0]


def test_a_complex_number_is_not_a_float() -> None:
    for how in (float, int):
        with pytest.raises(TypeError, match="complex number"):
            how(lab.constant(1 + 2j))
        with pytest.raises(TypeError, match="complex number"):
            how(lab.Variable(1 + 2j))
    assert complex(lab.constant(1 + 2j)) == 1 + 2j


def test_print_adds_lines_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    for value in (lab.constant([1, 2]), lab.ragged.constant([[1], [2, 3]])):
        lab.print("x is", value, output_stream=f"file://{target}")
    assert target.read_text() == "x is [1 2]\nx is [[1], [2, 3]]\n"
    with pytest.raises(lab.errors.InvalidArgumentError, match="file://"):
        lab.print(1, output_stream="nowhere")
