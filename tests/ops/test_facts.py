"""Every op of the registry is fully described: symbol, formula, sentence, rules, documentation, and how to call it."""

import doctest
import inspect
import io
import re
from typing import Any

import latex2mathml.converter
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.namespace import RAW, RECORDING
from autodiff_lab.engine.op import REGISTRY, UNREGISTERED
from tests.ops.samples import ops_of_the_catalogue, samples

NAMES = ops_of_the_catalogue()

# Ops without a rule, each on purpose: step functions, indices, text, and stops.
NO_GRADIENT = {
    "all", "any", "argmax", "argmin", "argsort", "as_string", "bitcast", "bitwise_and", "bitwise_or", "bitwise_xor",
    "cast_to_discrete", "ceil", "equal", "floor", "floordiv", "greater", "greater_equal", "in_top_k", "invert",
    "invert_permutation", "is_finite", "is_inf", "is_nan", "isotonic_blocks", "kept_mask", "left_shift", "less",
    "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal",
    "one_hot", "population_count", "reduce_join", "regex_full_match", "regex_replace", "right_shift", "rint",
    "round", "running_top", "searchsorted", "shape", "stop_gradient", "string_join", "string_length", "string_lower",
    "string_strip", "string_upper", "substr", "to_number", "top_positions", "truncatediv", "unique",
    "unique_counts", "unique_numbers", "where_true", "not_zero", "lu_factors",
}  # fmt: skip
# Shipped without the rule that it could have, so that the error for it can be met and mended.
NO_RULE_YET = {"adjust_contrast"}
# An op inside another function has no example of its own: its text names that function, or the ops whose rules use it.
PUBLIC = re.compile(r"`lab\.([\w.]+)")
USED_BY = re.compile(r"rules? of ((?:`\w+`(?:, | and )?)+)")


def filled(latex: str) -> str:
    """Put letters in place of ``{0}``, ``{1}``: more than any op has."""
    return latex.format("a", "b", "c", "d", "h", "k")


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_called(name: str) -> None:
    """An op without a sampler fails here and everywhere."""
    for sample in samples(name):
        sample(*sample.tensors())


@pytest.mark.parametrize("name", NAMES)
def test_it_has_rules_or_none_on_purpose(name: str) -> None:
    rules = REGISTRY[name].rules
    assert (rules is None) == (name in NO_GRADIENT)
    assert (rules == UNREGISTERED) == (name in NO_RULE_YET)


@pytest.mark.extras
def test_the_lists_of_exceptions_name_ops_that_exist() -> None:
    assert set(REGISTRY) >= NO_GRADIENT | NO_RULE_YET


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_told_and_drawn(name: str) -> None:
    op = REGISTRY[name]
    assert op.symbol
    assert op.sentence
    assert not op.sentence.endswith(".")
    assert op.sentence.format("a", "b", "c", "d", "e")
    assert latex2mathml.converter.convert(filled(op.latex)).startswith("<math")


@pytest.mark.parametrize("name", [n for n in NAMES if REGISTRY[n].rules not in (None, UNREGISTERED)])
def test_each_input_has_the_factor_of_its_share(name: str) -> None:
    op = REGISTRY[name]
    assert op.locals_latex
    rules = op.rules if isinstance(op.rules, tuple) else [True] * len(op.locals_latex)
    for rule, latex in zip(rules, op.locals_latex, strict=True):
        assert rule is None or latex2mathml.converter.convert(filled(latex)).startswith("<math")


@pytest.mark.parametrize("name", NAMES)
def test_it_stands_in_both_namespaces(name: str) -> None:
    assert getattr(RAW, name) is REGISTRY[name].kernel
    assert getattr(RECORDING, name).op is REGISTRY[name]


def resolved(path: str) -> Any:
    """Return what ``lab.path`` is."""
    value: Any = lab
    for part in path.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", NAMES)
def test_it_is_documented_with_an_example_that_runs_or_says_where_there_is_one(name: str) -> None:
    text = REGISTRY[name].doc
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    if not example.examples:
        functions = PUBLIC.findall(text)
        users = [op for found in USED_BY.findall(text) for op in re.findall(r"`(\w+)`", found)]
        assert functions or users, f"{name}: {text}"
        assert all(">>>" in inspect.getdoc(resolved(function)) for function in functions)
        assert all(user in REGISTRY or hasattr(lab.math, user) for user in users)
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example, out=said.write)
    assert not runner.failures, said.getvalue()
