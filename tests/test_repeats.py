"""Repeats in sequences, against a search that tries every stretch."""

import itertools
import random

import pytest

from autodiff_lab.repeats import Repeat, repeats


def holds(sequence: str, found: Repeat) -> bool:
    """Whether a stretch repeats as it says."""
    part = sequence[found.start : found.end]
    return all(a == b for a, b in zip(part, part[found.period :], strict=False))


def longest(sequence: str, fewest: int) -> int:
    """The length of the longest stretch that repeats often enough, by trying them all."""
    best = 0
    for start in range(len(sequence)):
        for period in range(1, (len(sequence) - start) // fewest + 1):
            end = start + period
            while end < len(sequence) and sequence[end] == sequence[end - period]:
                end += 1
            if end - start >= fewest * period:
                best = max(best, end - start)
    return best


@pytest.mark.parametrize("fewest", [2, 3, 4])
def test_random_sequences(fewest: int) -> None:
    chance = random.Random(fewest)
    for _ in range(200):
        unit = "".join(chance.choices("abc", k=chance.randint(1, 4)))
        sequence = "".join(chance.choices("abcd", k=chance.randint(0, 8))) + unit * chance.randint(0, 6)
        sequence += "".join(chance.choices("abcd", k=chance.randint(0, 8)))
        found = repeats(sequence, fewest)
        assert found == sorted(found)
        assert all(one.end <= other.start for one, other in itertools.pairwise(found))
        assert all(holds(sequence, one) and one.end - one.start >= fewest * one.period for one in found)
        assert max((one.end - one.start for one in found), default=0) == longest(sequence, fewest), sequence


def test_nothing_repeats_in_nothing() -> None:
    assert repeats("", 3) == []
    assert repeats("aa", 3) == []


def test_a_longer_period_than_asked_for_is_not_looked_for() -> None:
    assert repeats("abcabcabc", 3, longest=2) == []
    assert repeats("abcabcabc", 3, longest=3) == [Repeat(0, 9, 3)]
