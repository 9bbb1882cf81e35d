"""Losses on logits, losses over sampled classes, embeddings and isotonic regression."""

from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.special

import autodiff_lab as lab
from tests.amputation import EXTRAS
from tests.refusals import refused

nn = lab.nn
RNG = np.random.default_rng(2)
X, Z = RNG.normal(size=(3, 4)), RNG.uniform(size=(3, 4))


def test_sigmoid_cross_entropy_is_its_formula_and_stays_finite_far_out() -> None:
    p = scipy.special.expit(X)
    expected = -(Z * np.log(p) + (1 - Z) * np.log(1 - p))
    np.testing.assert_allclose(nn.sigmoid_cross_entropy_with_logits(labels=Z, logits=X), expected, 1e-10)
    far = nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0, 1.0], logits=[-1e4, 1e4, 1e4])
    np.testing.assert_array_equal(far, [1e4, 1e4, 0.0])


def test_a_weight_counts_missed_positives_more_often() -> None:
    p = scipy.special.expit(X)
    expected = -(3.0 * Z * np.log(p) + (1 - Z) * np.log(1 - p))
    np.testing.assert_allclose(
        nn.weighted_cross_entropy_with_logits(labels=Z, logits=X, pos_weight=3.0), expected, 1e-10
    )
    check = lab.testing.check_gradient(
        lambda z, x, w: nn.weighted_cross_entropy_with_logits(labels=z, logits=x, pos_weight=w), Z, X, 3.0
    )
    assert check, str(check)


def test_the_poisson_loss_with_and_without_the_constant() -> None:
    counts = np.array([0.0, 1.0, 2.0, 7.0])
    c = np.array([0.3, -0.2, 1.0, 2.0])
    np.testing.assert_allclose(nn.log_poisson_loss(counts, c), np.exp(c) - counts * c, 1e-12)
    constant = np.where(
        counts > 1, counts * np.log(np.maximum(counts, 1)) - counts + 0.5 * np.log(2 * np.pi * np.maximum(counts, 1)), 0
    )
    full = nn.log_poisson_loss(counts, c, compute_full_loss=True)
    np.testing.assert_allclose(full, np.exp(c) - counts * c + constant, 1e-12)
    exact = scipy.special.gammaln(counts[2:] + 1)
    np.testing.assert_allclose(constant[2:], exact, 0.1)
    check = lab.testing.check_gradient(lambda x: nn.log_poisson_loss(counts, x, compute_full_loss=True), c)
    assert check, str(check)


def test_half_the_squares_add_up() -> None:
    np.testing.assert_allclose(nn.l2_loss(X), (X**2).sum() / 2, 1e-12)


@pytest.mark.extras
@pytest.mark.parametrize("name", ["sampled_softmax_loss", "nce_loss"])
def test_a_loss_over_all_classes_drawn_is_that_over_all_classes(name: str) -> None:
    """Drawn once each, with expected counts of 1, they are all there: only the true one is met twice and left out."""
    loss = getattr(nn, name)
    w, b, x, labels = RNG.normal(size=(5, 3)), RNG.normal(size=5), RNG.normal(size=(2, 3)), np.array([[1], [4]])
    drawn = (np.arange(5), np.ones((2, 1)), np.ones(5))
    out = loss(w, b, labels, x, 5, 5, sampled_values=drawn, remove_accidental_hits=True).numpy()
    logits = x @ w.T + b
    true = np.eye(5)[labels[:, 0]]
    if name == "sampled_softmax_loss":
        expected = -(true * scipy.special.log_softmax(logits, -1)).sum(-1)
    else:
        expected = -(true * scipy.special.log_expit(logits) + (1 - true) * scipy.special.log_expit(-logits)).sum(-1)
    np.testing.assert_allclose(out, expected, 1e-6)
    check = lab.testing.check_gradient(
        lambda *v: loss(v[0], v[1], labels, v[2], 5, 5, sampled_values=drawn, remove_accidental_hits=True), w, b, x
    )
    assert check, str(check)


@pytest.mark.extras
def test_classes_are_drawn_by_the_logarithm_and_expected_as_often_as_they_come() -> None:
    lab.random.set_seed(0)
    counts, draws = np.zeros(6), 400
    for _ in range(draws):
        sampled, _, _ = lab.random.log_uniform_candidate_sampler([[0]], 1, 5, False, 6)
        counts += np.bincount(sampled.numpy(), minlength=6)
    share = np.log((np.arange(6) + 2) / (np.arange(6) + 1)) / np.log(7)
    np.testing.assert_allclose(counts / counts.sum(), share, atol=0.03)
    sampled, _, expected = lab.random.log_uniform_candidate_sampler([[0]], 1, 3, False, 6)
    np.testing.assert_allclose(expected, 3 * share[sampled.numpy()], 1e-5)
    sampled, _, _ = lab.random.log_uniform_candidate_sampler([[0]], 1, 6, True, 6)
    assert sorted(sampled.numpy().tolist()) == list(range(6))
    with pytest.raises(lab.errors.InvalidArgumentError, match="cannot draw 7 different classes from 6"):
        lab.random.log_uniform_candidate_sampler([[0]], 1, 7, True, 6)


TABLE = RNG.normal(size=(5, 3))


def test_rows_longer_than_the_norm_are_scaled_down() -> None:
    ids = np.array([[0, 4], [2, 0]])
    np.testing.assert_array_equal(nn.embedding_lookup(TABLE, ids), TABLE[ids])
    short = nn.embedding_lookup(TABLE, ids, max_norm=0.5).numpy()
    norms = np.linalg.norm(TABLE[ids], axis=-1, keepdims=True)
    np.testing.assert_allclose(short, TABLE[ids] * np.minimum(1, 0.5 / norms), 1e-12)
    check = lab.testing.check_gradient(lambda t: nn.embedding_lookup(t, ids, max_norm=1.0), TABLE)
    assert check, str(check)


@pytest.mark.extras
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_rows_are_combined_over_the_rows_of_a_sparse_tensor(combiner: str, weighted: bool) -> None:
    at, numbers, weights = [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]], [0, 3, 4, 1, 4], np.array([1.0, 2, 0.5, 1, 3])
    ids = lab.SparseTensor(at, numbers, [3, 3])
    by_weight = lab.SparseTensor(at, weights, [3, 3]) if weighted else None
    if not weighted:
        weights = np.ones(5)
    expected = np.zeros((3, 3))
    for row, (first, last) in {0: (0, 2), 2: (2, 5)}.items():
        w = weights[first:last]
        size = {"sum": 1.0, "mean": w.sum(), "sqrtn": np.sqrt((w**2).sum())}[combiner]
        expected[row] = w @ TABLE[numbers[first:last]] / size
    out = nn.embedding_lookup_sparse(TABLE, ids, by_weight, combiner)
    np.testing.assert_allclose(out, expected, 1e-12)
    check = lab.testing.check_gradient(lambda t: nn.embedding_lookup_sparse(t, ids, by_weight, combiner), TABLE)
    assert check, str(check)


@pytest.mark.extras
def test_isotonic_regression_is_that_of_scipy_and_has_its_gradient() -> None:
    x = RNG.normal(size=(4, 7))
    for falling in (True, False):
        out, numbers = nn.isotonic_regression(x, decreasing=falling)
        expected = [scipy.optimize.isotonic_regression(row, increasing=not falling).x for row in x]
        np.testing.assert_allclose(out, expected, 1e-10, 1e-12)
        assert np.all(np.diff(numbers.numpy(), axis=-1) >= 0)
        check = lab.testing.check_gradient(lambda t, falling=falling: nn.isotonic_regression(t, falling)[0], x)
        assert check, str(check)


REFUSALS: dict[str, tuple[Any, str]] = {
    "labels of another shape": (
        lambda: nn.sigmoid_cross_entropy_with_logits(labels=lab.ones(3), logits=lab.ones((3, 1))),
        r"sigmoid_cross_entropy_with_logits: expected one shape, got \(3,\) \(labels\) and \(3, 1\)",
    ),
    "labels of whole numbers": (
        lambda: nn.weighted_cross_entropy_with_logits(labels=lab.constant([1]), logits=[1.0], pos_weight=1.0), "int32",
    ),
    "targets of another shape": (lambda: nn.log_poisson_loss(lab.ones(2), lab.ones(3)), "expected one shape"),
    "squares of whole numbers": (lambda: nn.l2_loss([1, 2]), "l2_loss"),
    "a class that is not there": (
        lambda: nn.sparse_softmax_cross_entropy_with_logits(labels=[3], logits=[[1.0, 2.0]]), r"\[0, 2\)",
    ),
    "classes as shares": (
        lambda: nn.sparse_softmax_cross_entropy_with_logits(labels=[0.5], logits=[[1.0]]), "labels must be integers",
    ),
    "logits of whole numbers": (
        lambda: nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=[[1, 2]]), "floating-point",
    ),
    "logits without classes": (
        lambda: nn.softmax_cross_entropy_with_logits(labels=1.0, logits=1.0), "last axis of classes",
    ),
    "a row that is not there": (lambda: nn.embedding_lookup(TABLE, [5]), "index 5"),
    "ids with a point": (lambda: nn.embedding_lookup(TABLE, [1.0]), "embedding_lookup: ids must be integers"),
    "a table in parts": (
        lambda: nn.embedding_lookup([lab.ones((2, 2)), lab.ones((2, 2))], [0]), "partitioned",
    ),
    "ids that are not sparse": (lambda: nn.embedding_lookup_sparse(TABLE, [[1]], None), "must be a SparseTensor"),
}  # fmt: skip
EXTRA_REFUSALS: dict[str, tuple[Any, str]] = {
    "another combiner": (
        lambda: nn.embedding_lookup_sparse(TABLE, lab.SparseTensor([[0, 0]], [0], [1, 1]), None, "max"), "'max'",
    ),
    "inputs of another width": (
        lambda: nn.sampled_softmax_loss(lab.ones((5, 2)), lab.ones(5), [[0]], lab.ones((1, 3)), 2, 5),
        r"sampled_softmax_loss: expected weights \(5, 3\)",
    ),
    "labels of another width": (
        lambda: nn.nce_loss(lab.ones((5, 2)), lab.ones(5), [0], lab.ones((1, 2)), 2, 5), r"nce_loss.*labels \(b, 1\)",
    ),
    "regression along another axis": (lambda: nn.isotonic_regression(X, axis=0), "isotonic_regression.*last axis"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS | (EXTRA_REFUSALS if EXTRAS else {}))
def test_what_does_not_fit_is_refused_by_name(name: str) -> None:
    call, words = (REFUSALS | EXTRA_REFUSALS)[name]
    with refused(lab.errors.LabError, words):
        call()
