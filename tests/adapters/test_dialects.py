"""The words of each framework: every cause has both sentences, and no name of ours is left in them."""

from __future__ import annotations

import re

import pytest

from autodiff_lab.explain import dialects
from autodiff_lab.explain.words import OTHERWISE, SMOOTH
from autodiff_lab.explain.words import WORDS as OURS

FRAMEWORKS = sorted(dialects.WORDS)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_no_sentence_speaks_of_tapes_or_of_our_functions(framework: str) -> None:
    for cause, (what, fix) in dialects.WORDS[framework].items():
        assert not re.search(r"\blab\.|\btape", what + fix), cause
        assert fix, cause
        for field in re.findall(r"{(\w*)}", what + fix):
            assert field in ("s", "t", "x", "op", "how", "more", "code", "dtype"), (cause, field)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("text", [*SMOOTH.values(), OTHERWISE])
def test_advice_about_ops_is_translated(framework: str, text: str) -> None:
    assert "lab." not in dialects.in_dialect(framework, text)


def test_a_framework_without_a_dialect_gets_our_words() -> None:
    assert dialects.words_of("tiny", "stop_gradient") == OURS["stop_gradient"]
    assert dialects.in_dialect("tiny", "lab.where(x)") == "lab.where(x)"
    assert dialects.in_dialect("", "lab.where(x)") == "lab.where(x)"


def test_names_that_merely_look_like_ours_stay() -> None:
    assert dialects.in_dialect("torch", "collab.where and slab.x") == "collab.where and slab.x"
