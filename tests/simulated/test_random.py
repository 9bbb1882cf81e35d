"""Random numbers by counter: the paper's test vectors, the same bits on a GPU, streams that do not overlap."""

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.gpus import memory_of, simulated
from autodiff_lab.kernels.random import cuda as random_counter
from autodiff_lab.kernels.random import reference as counter_random
from autodiff_lab.ops import random_drawing
from tests.simulated.heard import copies

VECTORS = (
    ((0, 0, 0, 0), 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, 2**64 - 1, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), 0x299F31D0A4093822,
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)  # fmt: skip
"""Counter, key and words for Philox4x32-10, published with the paper."""
DTYPES = ("float32", "float64")
SIZES = (0, 1, 31, 33, 127, 129, 300)


@pytest.mark.parametrize(("counter", "key", "words"), VECTORS)
def test_the_vectors_of_the_paper(counter: tuple[int, ...], key: int, words: tuple[int, ...]) -> None:
    """Zeros, ones, and the digits of pi: the reference, and a thread of a GPU."""
    assert counter_random.philox(np.array([counter], np.uint32), key)[0].tolist() == list(words)
    if not simulated():  # where kernels are compiled, only they can call a device function
        return
    low, high = (np.uint64(counter[i] | counter[i + 1] << 32) for i in (0, 2))
    assert [int(word) for word in random_counter._philox(low, high, np.uint64(key))] == list(words)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_a_gpu_gives_the_bits_of_the_reference(size: int, dtype: str) -> None:
    """Uniform numbers to the bit, normal ones to rounding, at any size."""
    key, counter = 0x0123456789ABCDEF, 2**64 - 3
    ours = random_counter.uniform(memory_of(0), (size,), dtype, key, counter)
    expected = counter_random.uniform((size,), dtype, key, counter)
    assert ours.__class__ is DeviceArray
    assert (ours.dtype, ours.to_host().tobytes()) == (np.dtype(dtype), expected.tobytes())
    normal = random_counter.normal(memory_of(0), (size,), dtype, key, counter).to_host()
    within = 2e-6 if dtype == "float32" else 5e-15
    np.testing.assert_allclose(normal, counter_random.normal((size,), dtype, key, counter), within, within, strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_a_draw_ends_the_next_begins(dtype: str) -> None:
    """Draws at one key, each from the counter at which the one before ended, share no word and leave none out."""
    used = counter_random.counters_used(130, dtype)
    whole = counter_random.philox(_counters(2**64 - 5, 2 * used), 7)
    parts = [counter_random._words(130, dtype, 7, 2**64 - 5 + n * used) for n in (0, 1)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def _counters(start: int, count: int) -> np.ndarray:
    return np.array([[start + n >> 32 * i & 0xFFFFFFFF for i in range(4)] for n in range(count)], np.uint32)


def test_keys_and_counters_give_other_numbers() -> None:
    """Neighbouring keys and counters have nothing in common; the same ones give the same."""
    draws = [counter_random.uniform((64,), "float64", key, 32 * n) for key in (0, 1, 2**32, 2**63) for n in range(4)]
    assert len({number for draw in draws for number in draw.tolist()}) == 64 * len(draws)
    close = np.corrcoef(np.stack(draws))[np.triu_indices(len(draws), 1)]
    assert np.abs(close).max() < 0.5
    np.testing.assert_array_equal(draws[0], counter_random.uniform((64,), "float64", 0, 0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_how_they_are_distributed(dtype: str) -> None:
    """Shares below each tenth, and moments of normal numbers, are within five standard errors of the truth."""
    count = 40_000
    drawn = counter_random.uniform((count,), dtype, 5)
    assert 0 <= drawn.min() <= drawn.max() < 1
    for tenth in np.arange(0.1, 1, 0.1):
        assert abs((drawn < tenth).mean() - tenth) < 5 * np.sqrt(tenth * (1 - tenth) / count)
    normal = counter_random.normal((count,), dtype, 5).astype(np.float64)
    for power, mean, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((normal**power).mean() - mean) < 5 * np.sqrt(spread / count)
    assert abs(np.corrcoef(normal[:-1], normal[1:])[0, 1]) < 5 / np.sqrt(count)


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> int:
    """From so many numbers on, fewer than usual, the GPU draws."""
    monkeypatch.setattr(random_drawing, "MANY", 40)
    return 40


DRAWN = {
    "normal": lambda n: lab.random.normal((n,), 3.0, 2.0),
    "normal of float64": lambda n: lab.random.normal((n,), dtype="float64"),
    "normal of float16": lambda n: lab.random.normal((n,), dtype="float16"),
    "normal about an array": lambda n: lab.random.normal((2, n), [[1.0], [2.0]]),
    "normal about a tensor": lambda n: lab.random.normal((n,), lab.constant(3.0), 2.0),
    "uniform": lambda n: lab.random.uniform((n,), -1.0, 1.0),
    "uniform between arrays": lambda n: lab.random.uniform((2, n), [[0.0], [3.0]], [[1.0], [3.0]]),
    "uniform from tensors": lambda n: lab.random.uniform((n,), lab.constant(2.0), lab.constant(3.0)),
    "stateless": lambda n: lab.random.stateless_uniform((n,), seed=(1, 2)),
    "generator": lambda n: lab.random.Generator.from_seed(3).normal((n,)),
    "dropout": lambda n: lab.nn.dropout(lab.ones((n,)), 0.5),
}


@pytest.mark.parametrize("name", DRAWN)
def test_many_numbers_are_drawn_on_the_gpu(name: str, many: int) -> None:
    """A seed gives the same ones at every run; without the block of a GPU, and when they are few, those of the CPU."""
    draws = []
    for device, count in (("/GPU:0", many), ("/GPU:0", many), ("/CPU:0", many), ("/GPU:0", 10), ("/CPU:0", 10)):
        lab.random.set_seed(1)
        with copies() as told, lab.device(device):
            drawn = DRAWN[name](count)
        assert not told
        assert drawn.device == device
        draws.append(drawn.numpy())
    one, again, on_cpu, few, few_on_cpu = draws
    assert one.dtype == on_cpu.dtype
    assert one.shape == on_cpu.shape
    np.testing.assert_array_equal(one, again)
    np.testing.assert_array_equal(few, few_on_cpu)
    assert (one != on_cpu).any()
    assert np.isfinite(one).all()


def test_numbers_of_a_gpu_stay_within_their_bounds(many: int) -> None:
    """The upper bound is not reached, where rounding would reach it too."""
    with lab.device("/GPU:0"):
        drawn = lab.random.uniform((400,), 1.0, 1.0 + 2**-22).numpy()
    assert set(drawn.tolist()) <= {1 + k * 2**-23 for k in (0, 1)}
    assert len(set(drawn.tolist())) == 2


def test_draws_that_follow_each_other_differ(many: int) -> None:
    """Each has a key of its own."""
    with lab.device("/GPU:0"):
        one, two = (lab.random.uniform((many,)).numpy() for _ in range(2))
    assert not set(one.tolist()) & set(two.tolist())


def test_parameters_that_do_not_fit(many: int) -> None:
    """The error is that of the CPU."""
    with lab.device("/GPU:0"), pytest.raises(lab.errors.ShapeMismatch, match="do not broadcast"):
        lab.random.normal((many,), [1.0, 2.0, 3.0])
