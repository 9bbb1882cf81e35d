"""Every op of the registry says what it is: symbol, formula, sentence, rules, documentation, and how to call it."""

import doctest
import io

import latex2mathml.converter
import pytest

from autodiff_lab.engine.namespace import RAW, RECORDING
from autodiff_lab.engine.op import REGISTRY, UNREGISTERED
from tests.ops.samples import ops_of_the_catalogue, samples

NAMES = ops_of_the_catalogue()

# Ops without a rule, each on purpose: step functions, indices, text, and stops.
NO_GRADIENT = {
    "all", "any", "argmax", "argmin", "as_string", "bitcast", "bitwise_and", "bitwise_or", "bitwise_xor",
    "cast_to_discrete", "ceil", "equal", "floor", "floordiv", "greater", "greater_equal", "in_top_k", "invert",
    "invert_permutation", "is_finite", "is_inf", "is_nan", "isotonic_blocks", "kept_mask", "left_shift", "less",
    "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "max_positions", "not_equal",
    "population_count", "reduce_join", "regex_full_match", "regex_replace", "right_shift", "rint", "round",
    "stop_gradient", "string_join", "string_length", "string_lower", "string_strip", "string_upper", "substr",
    "to_number", "truncatediv", "where_true",
}  # fmt: skip
# Shipped without the rule that it could have, so that the error for it can be met and mended.
NO_RULE_YET = {"adjust_contrast"}
# Called through a public function, which has the examples; the op's own text says which.
INSIDE = {
    "adjust_contrast", "all", "angle", "any", "argmax", "argmin", "as_string", "average_pool", "average_pool_input",
    "bessel_iv", "bessel_ive", "bessel_jv", "betainc", "bitcast", "block_mean", "broadcast_to", "cast",
    "cast_to_discrete", "clip", "complex", "concat", "conj", "convolve", "convolve_filter", "convolve_input", "cumprod",
    "cumsum", "cumulative_logsumexp", "depthwise", "depthwise_filter", "depthwise_input", "euclidean_norm", "gather",
    "gather_nd", "gelu", "gelu_tanh", "igamma", "igamma_slope", "igammac", "imaginary_part", "in_top_k", "invert",
    "invert_permutation", "isotonic_blocks", "kept_mask", "l2_loss", "leaky_relu", "log_softmax", "logsumexp", "matmul",
    "max", "max_pool", "max_positions", "mean", "min", "nextafter", "pad_axis", "polygamma", "population_count",
    "power_slope", "prod", "real_part", "recurrence", "reduce_join", "regex_full_match", "regex_replace", "reshape",
    "scatter_axis", "scatter_nd", "segment_max", "segment_min", "segment_sum", "select", "select_not",
    "sigmoid_cross_entropy", "slice", "slice_axis", "softmax", "softmax_cross_entropy", "sparse_matmul", "stack",
    "string_join", "string_length", "string_lower", "string_strip", "string_upper", "substr", "sum", "take",
    "tensor_scatter_nd_update", "to_number", "transpose", "unslice", "where", "where_true", "widen", "zeta",
}  # fmt: skip


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


def test_the_lists_of_exceptions_name_ops_that_exist() -> None:
    assert set(REGISTRY) >= NO_GRADIENT | NO_RULE_YET | INSIDE


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_told_and_drawn(name: str) -> None:
    op = REGISTRY[name]
    assert op.symbol
    assert op.sentence
    assert not op.sentence.endswith(".")
    assert op.sentence.format("a", "b", "c", "d")
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


@pytest.mark.parametrize("name", NAMES)
def test_it_is_documented_with_an_example_that_runs(name: str) -> None:
    text = REGISTRY[name].doc
    assert text
    if name in INSIDE:
        return
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert example.examples
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example, out=said.write)
    assert not runner.failures, said.getvalue()


@pytest.mark.parametrize("name", [n for n in NAMES if n in INSIDE])
def test_an_op_excused_from_examples_has_none(name: str) -> None:
    """Keep the list of excuses short: an op that has an example is not excused."""
    assert ">>>" not in REGISTRY[name].doc
