"""Calls of the ops on strings."""

import numpy as np

from tests.ops.samples.core import Call, sampler

TEXTS = np.array([[b"ab", b""], [b" Cd ", b"42"]], object)


@sampler("string_strip")
def _whole(rng: np.random.Generator) -> list[Call]:
    return [((TEXTS,), {})]


@sampler("string_lower", "string_upper", "string_length")
def _by_character(rng: np.random.Generator) -> list[Call]:
    return [((TEXTS,), {"characters": True}), ((TEXTS,), {"characters": False})]


@sampler("as_string")
def _as_string(rng: np.random.Generator) -> list[Call]:
    return [((np.asarray([1, 22]),), {"pattern": "%d"}), ((np.asarray(1.5),), {"pattern": "%.2f"})]


@sampler("to_number")
def _to_number(rng: np.random.Generator) -> list[Call]:
    return [((np.array([b"1.5", b"-2"], object),), {"dtype": "float32"})]


@sampler("string_join")
def _join(rng: np.random.Generator) -> list[Call]:
    return [((TEXTS, TEXTS[0]), {"separator": "-"})]


@sampler("reduce_join")
def _reduce_join(rng: np.random.Generator) -> list[Call]:
    return [((TEXTS,), {"axes": (-1,), "keepdims": keep, "separator": "+"}) for keep in (True, False)]


@sampler("substr")
def _substr(rng: np.random.Generator) -> list[Call]:
    return [((TEXTS[:, :1], np.asarray(1), np.asarray(1)), {"characters": True})]


@sampler("regex_replace")
def _replace(rng: np.random.Generator) -> list[Call]:
    return [((TEXTS,), {"pattern": "[a-c]", "rewrite": "x", "everywhere": True})]


@sampler("regex_full_match")
def _match(rng: np.random.Generator) -> list[Call]:
    return [((TEXTS,), {"pattern": "[0-9]+"})]
