"""`Attention` and `AdditiveAttention` against their formulas in NumPy, with masks, scales and dropout."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import layers
from autodiff_lab.testing import check_gradient

WIDE: Any = {"dtype": "float64"}
QUERY_MASK = np.array([[True, True, False], [False, True, True]])
VALUE_MASK = np.array([[True, True, True, False, False], [False, True, False, True, True]])


def draw(*shape: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


Q, V, K = draw(2, 3, 4), draw(2, 5, 6, seed=2), draw(2, 5, 4, seed=3)


def pairs(q: Any, k: Any) -> Any:
    return q[:, :, None] + k[:, None]


Scores = Callable[..., Any]
KINDS: dict[str, tuple[Callable[[], Any], Scores]] = {
    "dot": (lambda: layers.Attention(**WIDE), lambda q, k: q @ k.swapaxes(1, 2)),
    "scaled dot": (lambda: layers.Attention(use_scale=True, **WIDE), lambda q, k, s: q @ k.swapaxes(1, 2) * s),
    "concat": (
        lambda: layers.Attention(score_mode="concat", **WIDE), lambda q, k, w: w * np.tanh(pairs(q, k)).sum(-1),
    ),
    "scaled concat": (
        lambda: layers.Attention(True, "concat", **WIDE), lambda q, k, s, w: w * np.tanh(s * pairs(q, k)).sum(-1),
    ),
    "additive": (lambda: layers.AdditiveAttention(**WIDE), lambda q, k, s: (s * np.tanh(pairs(q, k))).sum(-1)),
    "plain additive": (lambda: layers.AdditiveAttention(False, **WIDE), lambda q, k: np.tanh(pairs(q, k)).sum(-1)),
}  # fmt: skip


def built(name: str) -> Any:
    layer = KINDS[name][0]()
    layer.build([Q.shape, V.shape, K.shape])
    for seed, v in enumerate(layer.variables):
        v.assign(np.asarray(draw(*v.shape, seed=seed)))
    return layer


def expected(name: str, layer: Any, allowed: Any = True) -> tuple[Any, Any]:
    scores = np.where(allowed, KINDS[name][1](Q, K, *layer.get_weights()), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights @ V, weights


@pytest.mark.parametrize("name", KINDS)
def test_values_and_weights_are_those_of_the_formula(name: str) -> None:
    layer = built(name)
    result, scores = layer([Q, V, K], return_attention_scores=True)
    for value, want in zip((result, scores), expected(name, layer), strict=True):
        np.testing.assert_allclose(value, want, 1e-12)
    np.testing.assert_array_equal(layer([Q, V, K]), result)
    np.testing.assert_array_equal(layer([Q, K]), layer([Q, K, K]))


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("masks", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("name", KINDS)
def test_masks_hide_values_and_clear_queries(name: str, masks: tuple[bool, bool], is_causal: bool) -> None:
    layer = built(name)
    allowed = np.ones((2, 3, 5), bool)
    if masks[1]:
        allowed &= VALUE_MASK[:, None]
    if is_causal:
        allowed &= np.tri(3, 5, dtype=bool)
        allowed |= ~allowed.any(-1, keepdims=True)  # a row of which nothing is left has equal scores
    given = [QUERY_MASK if masks[0] else None, VALUE_MASK if masks[1] else None]
    result, scores = layer([Q, V, K], mask=given, return_attention_scores=True, use_causal_mask=is_causal)
    value, weights = expected(name, layer, allowed)
    emptied = is_causal and masks[1]
    rows = (VALUE_MASK[:, None] & np.tri(3, 5, dtype=bool)).any(-1) if emptied else np.ones((2, 3), bool)
    np.testing.assert_allclose(scores[rows], weights[rows], 1e-12)
    if masks[0]:
        value, rows = value * QUERY_MASK[..., None], rows | ~QUERY_MASK
    np.testing.assert_allclose(result[rows], value[rows], 1e-12)


@pytest.mark.parametrize("name", KINDS)
def test_gradients_agree_with_differences(name: str) -> None:
    layer = built(name)
    assert check_gradient(lambda q, v, k: layer([q, v, k], mask=[QUERY_MASK, VALUE_MASK]), Q, V, K)
    x = draw(1, 2, 3)
    assert check_gradient(lambda q: KINDS["dot"][0]()([q, q], use_causal_mask=True), x, order=2)
    for v in layer.variables:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(lab.sin(layer([Q, V, K])))
        gradient, start = np.ravel(tape.gradient(loss, v))[0], np.array(v.numpy())
        found = []
        for h in (1e-6, -1e-6):
            moved = start.copy()
            moved[(0,) * start.ndim] += h
            v.assign(moved)
            found.append(float(lab.reduce_sum(lab.sin(layer([Q, V, K])))))
        v.assign(start)
        np.testing.assert_allclose(gradient, (found[0] - found[1]) / 2e-6, 1e-5, 1e-8)


@pytest.mark.parametrize("name", KINDS)
def test_a_compiled_call_computes_the_same(name: str) -> None:
    layer = built(name)

    def step(q: Any, v: Any, k: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([q, v, k])
            loss = lab.reduce_sum(lab.square(layer([q, v, k], mask=[None, VALUE_MASK], use_causal_mask=True)))
        return loss, tape.gradient(loss, [q, v, k, *layer.trainable_variables])

    compiled, given = lab.function(step), [lab.constant(x) for x in (Q, V, K)]
    for _ in range(2):
        for value, want in zip(lab.nest.flatten(compiled(*given)), lab.nest.flatten(step(*given)), strict=True):
            np.testing.assert_allclose(value, want, 1e-9, 1e-12)
    assert compiled.fallbacks == 0


def test_dropout_is_applied_to_the_weights_in_training() -> None:
    for layer in (layers.Attention(dropout=0.5, seed=1, **WIDE), layers.AdditiveAttention(dropout=0.5, seed=1, **WIDE)):
        plain, scores = layer([Q, V, K], return_attention_scores=True)
        noisy, same = layer([Q, V, K], training=True, return_attention_scores=True)
        assert np.any(plain.numpy() != noisy.numpy())
        np.testing.assert_array_equal(scores, same)


def test_half_precision_has_room_for_the_mask() -> None:
    q = lab.constant(draw(2, 3, 4), "float16")
    result = layers.Attention(dtype="float16")([q, q], mask=[None, QUERY_MASK])
    assert np.isfinite(result.numpy()).all()


def test_weights_settings_and_models(tmp_path: Path) -> None:
    layer = layers.AdditiveAttention(dropout=0.25, name="a")
    assert layer.get_config() == {"dropout": 0.25, "name": "a"}
    layer.build([(None, None, 4), (None, None, 4)])
    assert [(v.name, v.shape.as_list()) for v in layer.weights] == [("a/scale:0", [4])]
    both = layers.Attention(True, "concat", name="b")
    both([Q, K])
    assert [(v.name, float(v)) for v in both.weights] == [("b/scale:0", 1.0), ("b/concat_score_weight:0", 1.0)]
    entry, others = lab.keras.Input((None, 4)), lab.keras.Input((5, 4))
    words = layers.Dense(4, kernel_initializer=lab.initializers.Identity(2.0))(entry)
    out = layers.Identity()(layers.Attention(use_scale=True)([words, layers.AdditiveAttention()([others, words])]))
    model = lab.keras.Model([entry, others], layers.GlobalAveragePooling1D()(out))
    given = [x.astype(np.float32) for x in (Q, K)]
    model.save(tmp_path / "model.keras")
    np.testing.assert_array_equal(lab.keras.models.load_model(tmp_path / "model.keras")(given), model(given))
    assert layers.Attention.from_config(both.get_config()).score_mode == "concat"


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a mode": (lambda: layers.Attention(score_mode="sum"), lab.errors.InvalidArgumentError, "'dot' or 'concat', got"),
    "a rate": (lambda: layers.AdditiveAttention(dropout=1.0), lab.errors.InvalidArgumentError, r"in \[0, 1\), got 1.0"),
    "one tensor": (lambda: layers.Attention()(Q), lab.errors.InvalidArgumentError, r"Try layer\(\[x, x\]\)"),
    "one in a list": (lambda: layers.Attention()([Q]), lab.errors.InvalidArgumentError, r"\[query, value, key\]"),
    "other widths": (lambda: layers.Attention()([Q, V]), lab.errors.ShapeMismatch, r"got \(2, 3, 4\), \(2, 5, 6\)"),
    "matrices": (lambda: layers.Attention()([Q[0], K[0]]), lab.errors.ShapeMismatch, r"a query \(b, t, d\)"),
    "a later call": (lambda: built("dot")([Q, K[:1]]), lab.errors.ShapeMismatch, r"\(1, 5, 4\)"),
    "one mask": (
        lambda: layers.Attention()([Q, K], mask=VALUE_MASK), lab.errors.InvalidArgumentError, "Try None for one",
    ),
    "masks in another order": (
        lambda: layers.Attention()([Q, K], mask=[VALUE_MASK, QUERY_MASK]), lab.errors.ShapeMismatch,
        r"\(b, time\) = \(2, 5\), got \(2, 3\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    make, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        make()


def test_identity_returns_any_structure() -> None:
    x = {"a": lab.ones(2), "b": [lab.zeros(3), lab.ones(1)]}
    found = layers.Identity()(x)
    assert found["b"][0] is x["b"][0]
    assert layers.Identity()(np.arange(3)).dtype == lab.int64
