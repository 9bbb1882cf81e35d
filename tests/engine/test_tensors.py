"""Tensors: created from anything numeric, immutable, printed plainly, never cast silently."""

import copy
import operator

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (5.0, "float32", ()),
        (5, "int32", ()),
        (True, "bool", ()),
        (1j, "complex128", ()),
        ([1, 3.0], "float32", (2,)),
        ([], "float32", (0,)),
        (np.array([1, 2]), "int64", (2,)),
        (np.array([1.0]), "float64", (1,)),
        (np.float32(2), "float32", ()),
        (range(3), "int32", (3,)),
        ([[True], [False]], "bool", (2, 1)),
    ],
)
def test_a_value_gets_the_dtype_and_shape_that_tensorflow_gives_it(value: object, dtype: str, shape: tuple) -> None:
    tensor = lab.constant(value)
    assert tensor.dtype == dtype
    assert tensor.shape == shape
    assert tensor.ndim == len(shape)
    assert lab.convert_to_tensor(value).dtype == dtype


def test_a_tensor_prints_value_shape_and_dtype() -> None:
    assert str(lab.constant(5.0)) == "Tensor(5.0, shape=(), dtype=float32)"
    assert str(lab.constant(1 / 30)) == "Tensor(0.033333335, shape=(), dtype=float32)"
    assert repr(lab.constant([2])) == "<Tensor: shape=(1,), dtype=int32, numpy=array([2], dtype=int32)>"
    assert f"{lab.constant(12.0)} {lab.constant([1, 2])} {lab.constant(0.5):.3f}" == "12.0 [1 2] 0.500"


def test_shape_size_and_rank_are_tensors_too() -> None:
    x = lab.ones((2, 3), dtype=lab.int8)
    assert f"{lab.shape(x)} {lab.size(x)} {lab.rank(x)}" == "[2 3] 6 2"
    assert x.get_shape() == (2, 3)
    assert str(x.dtype) == "<dtype: 'int8'>"


@pytest.mark.parametrize(
    "make", [lambda: lab.constant([1, 2]), lambda: lab.ones(2), lambda: lab.range(2), lambda: lab.zeros(2) + 1.0]
)
def test_no_tensor_is_changed_in_place(make: object) -> None:
    x = make()
    before = x.numpy().tolist()
    with pytest.raises(TypeError, match=r"does not support item assignment.*lab.where"):
        x[1] = 3
    assert x.numpy().tolist() == before


def test_arrays_that_leave_or_enter_are_copies() -> None:
    source = np.array([1.0, 2.0])
    x = lab.constant(source)
    source[0] = 9
    for leave in (x.numpy, lambda: np.asarray(x), lambda: np.array(x)):
        leave()[0] = 7
    assert x.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="never shares its memory"):
        np.asarray(x, copy=False)


def test_numpy_functions_leave_the_library() -> None:
    x = lab.constant([[1.0, 3.0]])
    assert type(np.mean(x, axis=0)) is np.ndarray
    assert type(np.sin(x)) is np.ndarray
    assert not hasattr(x, "mean")
    assert not hasattr(x, "trainable")


def test_python_reads_a_number_out_of_a_tensor() -> None:
    x = lab.constant(2.5)
    assert (float(x), int(x), bool(x), complex(x)) == (2.5, 2, True, 2.5 + 0j)
    assert operator.index(lab.constant(3)) == 3
    assert [10, 20, 30][lab.constant(1)] == 20
    with pytest.raises(TypeError):
        operator.index(x)
    with pytest.raises(ValueError, match=r"ambiguous.*reduce_any"):
        bool(lab.constant([True, False]))


def test_a_tensor_is_a_sequence_along_its_first_axis() -> None:
    x = lab.constant([[1, 2], [3, 4]])
    assert len(x) == 2
    assert [row.numpy().tolist() for row in x] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="scalar"):
        len(lab.constant(1))
    with pytest.raises(TypeError, match="scalar"):
        iter(lab.constant(1))


def test_copying_gives_the_same_immutable_tensor() -> None:
    x = lab.constant([1.0])
    assert copy.copy(x) is x
    assert copy.deepcopy([x])[0] is x


def test_brackets_take_parts_and_lists_index_one_axis_each() -> None:
    x = lab.constant([[1, 2, 3], [4, 5, 6]])
    assert x[1, ::-1].numpy().tolist() == [6, 5, 4]
    assert x[..., None, 0].shape == (2, 1)
    assert int(x[[1, 2]]) == 6
    with pytest.raises(lab.errors.InvalidArgumentError, match="Index out of range using input dim 1"):
        lab.constant([1.0, 2.0])[[1, 0]]
    with pytest.raises(lab.errors.InvalidArgumentError, match=r"out of bounds.*shape \(2, 3\)"):
        x[2]
    for nonsense in (1.5, "a", True, np.array([0, 1])):
        with pytest.raises(lab.errors.InvalidArgumentError, match="brackets"):
            x[nonsense]


def test_gather_where_and_updates_replace_fancy_indexing() -> None:
    x = lab.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    even = lab.where(x % 2 == 0)
    assert even.dtype == lab.int64
    assert even.numpy().tolist() == [[1], [3]]
    assert lab.tensor_scatter_nd_update(x, even, [200.0, 400.0]).numpy().tolist() == [1, 200, 3, 400, 5]
    assert x.numpy().tolist() == [1, 2, 3, 4, 5]
    assert lab.gather(x, even).shape == (2, 1)
    mask = lab.cast(x % 2 == 0, x.dtype)
    assert (x * (1 - mask) + mask * 0.0).numpy().tolist() == [1, 0, 3, 0, 5]


# --- operands -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("partner", [2, 2.0, np.float32(2), np.float64(2), np.array(2.0), [2.0], np.full(1, 2.0)])
@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
def test_numbers_lists_and_numpy_floats_adopt_the_dtype_of_the_tensor(partner: object, operation: object) -> None:
    x = lab.constant(3.0)
    for result, expected in (
        (operation(x, partner), operation(3.0, 2.0)),
        (operation(partner, x), operation(2.0, 3.0)),
    ):
        assert isinstance(result, lab.Tensor)
        assert result.dtype == lab.float32
        np.testing.assert_allclose(np.ravel(result), expected, 1e-6)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (3.0, lab.constant(2)),
        (lab.constant(2), 2.5),
        (lab.constant(1.0), lab.constant(1.0, "float64")),
        (lab.constant(1.0), np.int64(2)),
        (lab.constant(2), np.float32(2)),
        (lab.constant(True), 1),
        (lab.constant(1, "int8"), 1000),
    ],
)
def test_nothing_else_is_cast(x: object, y: object) -> None:
    with pytest.raises(TypeError, match=r"(?i)lab\.cast"):
        _ = x * y


def test_integer_limits_are_kept() -> None:
    assert (lab.constant(5, "uint8") + 250).dtype == lab.uint8
    with pytest.raises(lab.errors.ConversionError, match="out of range"):
        lab.constant(300, "int8")
    with pytest.raises(lab.errors.ConversionError, match="out of range"):
        lab.constant(2**40, "int32")
    assert lab.constant(2**40, "int64").numpy() == 2**40


def test_lists_may_hold_tensors_and_gradients_pass_through_them() -> None:
    x = lab.constant(3.0)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.reduce_sum(lab.convert_to_tensor([x, 2.0, x * x]) * [1.0, 1.0, 10.0])
    assert float(tape.gradient(y, x)) == 61.0


def test_equality_is_elementwise_and_strangers_are_just_different() -> None:
    x = lab.constant([1.0, 2.0])
    assert (x == [1.0, 3.0]).numpy().tolist() == [True, False]
    assert (x != lab.identity(x)).numpy().tolist() == [False, False]
    assert (x == None) is False  # noqa: E711
    assert x != "x"
    assert len({x, x}) == 1


# --- making ---------------------------------------------------------------------------------------------------------


def test_ranges_and_grids_keep_the_dtype_of_their_ends() -> None:
    assert lab.range(1, 6).numpy().tolist() == [1, 2, 3, 4, 5]
    assert lab.range(5).dtype == lab.int32
    assert lab.range(0.0, 3.0).dtype == lab.float32
    assert lab.range(0, 1, 0.25).numpy().tolist() == [0, 0.25, 0.5, 0.75]
    assert lab.range(lab.constant(3.0, "float64")).dtype == lab.float64
    grid = lab.linspace(-10.0, 10.0, 201)
    assert (grid.dtype, grid.shape) == (lab.float32, (201,))
    assert [float(grid[i]) for i in (0, 100, 200)] == [-10, 0, 10]


def test_a_shape_may_be_a_number_a_list_or_a_tensor_but_no_fraction() -> None:
    assert lab.zeros(2).shape == lab.zeros([2]).shape == lab.zeros(lab.constant([2])).shape == (2,)
    for wrong in (2.5, "2", [2, None], -1):
        with pytest.raises(lab.errors.InvalidArgumentError, match="shape"):
            lab.zeros(wrong)


def test_constant_fills_a_shape_and_conversion_does_not() -> None:
    assert lab.constant(1.0, shape=(2, 2)).numpy().tolist() == [[1, 1], [1, 1]]
    assert lab.constant([1, 2, 3, 4], shape=(2, 2)).numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match=r"cannot fill shape \(2, 2\) with 3 values"):
        lab.constant([1, 2, 3], shape=(2, 2))
    with refused(TypeError, "shape"):
        lab.convert_to_tensor(1.0, shape=(2, 2))


def test_casts_go_between_all_dtypes() -> None:
    assert lab.cast([1, 2], lab.float32).numpy().tolist() == [1.0, 2.0]
    assert lab.cast([1.9, -1.9], "int32").numpy().tolist() == [1, -1]
    assert lab.cast(lab.constant([True, False]), "float64").numpy().tolist() == [1.0, 0.0]
    x = lab.constant(1.0)
    assert lab.cast(x, lab.float32) is x


def test_random_numbers_repeat_with_a_seed() -> None:
    lab.random.set_seed(1234)
    first = lab.random.normal((3, 2))
    lab.random.set_seed(1234)
    np.testing.assert_array_equal(first, lab.random.normal((3, 2)))
    assert (first.dtype, first.shape) == (lab.float32, (3, 2))
    draws = lab.random.uniform((10_000,), -2.0, 3.0).numpy()
    assert draws.min() >= -2
    assert draws.max() < 3
    assert abs(draws.mean() - 0.5) < 0.1


def test_dtypes_compare_by_name_and_by_numpys() -> None:
    assert lab.float32 == "float32" == np.dtype("float32").name
    assert lab.constant(1.0).dtype == np.float32
    assert lab.float32 != lab.float64
    assert lab.as_dtype(int) is lab.int32
    assert (lab.bfloat16.is_floating, lab.uint8.is_unsigned, lab.complex64.real_dtype) == (True, True, lab.float32)
    with pytest.raises(lab.errors.ConversionError, match=r"is not a dtype.*float32"):
        lab.as_dtype("float33")


def test_shapes_are_tuples_that_know_what_they_do_not_know() -> None:
    shape = lab.TensorShape([2, None])
    assert (shape.rank, shape.as_list(), shape.num_elements()) == (2, [2, None], None)
    assert shape.is_compatible_with((2, 7))
    assert not shape.is_compatible_with((3, 7))
    unknown = lab.TensorShape(None)
    assert (str(unknown), unknown.rank, unknown.is_compatible_with((1,))) == ("<unknown>", None, True)
    assert lab.constant([[1.0]]).shape == lab.TensorShape([1, 1])


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array([1.0, 2], object), r'Python objects \(float, int\). Try array.astype\("float32"\)'),
        (np.array([None, 1.0], object), "it holds None. Try numpy.nan"),
        (np.array([[1, 2], [3]], object), "Try lab.ragged.constant"),
        (np.array(["a", 1.0], object), "numbers or strings, not both"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), r"a tensor has no mask. Try array.filled\(0.0\)"),
    ],
    ids=["numbers", "missing", "rows", "mixed", "masked"],
)
def test_arrays_of_objects_and_masked_ones_are_refused_by_what_they_hold(array: np.ndarray, words: str) -> None:
    for use in (lab.constant, lab.Variable, lab.convert_to_tensor, lab.exp, lambda a: lab.constant(1.0) * a):
        with pytest.raises(lab.errors.ConversionError, match=words):
            use(array)


def test_a_masked_array_without_masked_elements_is_an_array() -> None:
    assert lab.constant(np.ma.masked_array([1.0, 2.0])).numpy().tolist() == [1.0, 2.0]
