"""Structures are taken apart and put together as optree does it, on random structures and on odd ones."""

import random
import time
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import optree
import pytest

import autodiff_lab as lab
from autodiff_lab.engine import nest

SPACE = "tests of nest"
COUNT = 1000


class Point(NamedTuple):
    x: Any
    y: Any


class Named(Point):
    """A subclass of a named tuple."""


class Listed(list[Any]):
    """A subclass of list, which is a leaf."""


class Keyed(dict[Any, Any]):
    """A subclass of dict, which is a leaf."""


class Box:
    """A registered class."""

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and (self.left, self.right) == (other.left, other.right)

    __hash__ = None  # type: ignore[assignment]


def _box_parts(box: Box) -> Any:
    return [box.left, box.right], None, ["left", "right"]


def _box(_: Any, parts: Any) -> Box:
    return Box(*parts)


@pytest.fixture(scope="module", autouse=True)
def registered() -> Any:
    before = dict(nest._ORDERED)
    nest.register(Box, _box_parts, _box)
    optree.register_pytree_node(Box, _box_parts, _box, namespace=SPACE)
    yield
    optree.unregister_pytree_node(Box, namespace=SPACE)
    nest._ORDERED.clear()
    nest._ORDERED.update(before)


TENSORS = [lab.constant(1.0), lab.Variable([1.0, 2.0])]
LEAVES: list[Any] = [1, 2.5, "text", None, {1, 2}, range(3), Listed([1]), Keyed(a=1), Counter("ab"), *TENSORS]
KEYS: list[Any] = ["b", "a", "c", 3, 1, (2, 1), None, 2.5]


def _structure(chance: random.Random, depth: int) -> Any:
    if depth == 0 or chance.random() < 0.25:
        return chance.choice(LEAVES)
    parts = [_structure(chance, depth - 1) for _ in range(chance.randrange(4))]
    pair = [_structure(chance, depth - 1) for _ in range(2)]
    keys = chance.sample(KEYS, len(parts)) if chance.random() < 0.5 else chance.sample(["z", "y", "x", "w"], len(parts))
    match chance.randrange(9):
        case 0 | 1:
            return parts
        case 2:
            return tuple(parts)
        case 3:
            return dict(zip(keys, parts, strict=True))
        case 4:
            return OrderedDict(zip(keys, parts, strict=True))
        case 5:
            return defaultdict(list, zip(keys, parts, strict=True))
        case 6:
            return deque(parts, maxlen=chance.choice([None, 5]))
        case 7:
            return chance.choice([Point, Named])(*pair)
        case _:
            return Box(*pair) if chance.random() < 0.8 else time.gmtime(0)


def _theirs(structure: Any, leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], list[Any], Any]:
    with optree.dict_insertion_ordered(True, namespace=SPACE):
        return optree.tree_flatten_with_path(structure, is_leaf=leaf, none_is_leaf=True, namespace=SPACE)


def _same(a: Any, b: Any) -> bool:
    """Whether two structures are equal, of the same classes, and have their keys in the same order."""
    return repr(_shape(a)) == repr(_shape(b))


def _shape(value: Any) -> Any:
    if isinstance(value, Box):
        return ["Box", _shape(value.left), _shape(value.right)]
    if isinstance(value, dict):
        more = getattr(value, "default_factory", None)
        return [type(value).__name__, more, [(key, _shape(item)) for key, item in value.items()]]
    if isinstance(value, list | tuple | deque):
        return [type(value).__name__, getattr(value, "maxlen", None), [_shape(item) for item in value]]
    return [type(value).__name__, id(value) if isinstance(value, lab.Tensor | lab.Variable) else value]


@pytest.mark.parametrize("part", range(10))
def test_random_structures_are_treated_as_optree_treats_them(part: int) -> None:
    forms: list[tuple[Any, Any]] = []
    for seed in range(part * COUNT // 10, (part + 1) * COUNT // 10):
        chance = random.Random(seed)
        structure = _structure(chance, 4)
        paths, leaves, form = nest.with_paths(structure)
        expected_paths, expected, spec = _theirs(structure)
        assert paths == expected_paths, structure
        assert all(a is b for a, b in zip(leaves, expected, strict=True)), structure
        found, rebuild = nest.flatten(structure)
        assert all(a is b for a, b in zip(found, expected, strict=True)), structure
        assert _same(rebuild(list(leaves)), structure)
        values = [object() for _ in leaves]
        assert _same(rebuild(values), optree.tree_unflatten(spec, values))
        forms.append((form, spec))
        assert hash(form) == hash(nest.with_paths(structure)[2])
    for (mine, theirs), (other, others) in zip(forms, [*forms[1:], forms[0]], strict=True):
        assert (mine == other) == (theirs == others)


def test_forms_are_equal_if_and_only_if_those_of_optree_are() -> None:
    chance = random.Random(0)
    forms = [(nest.with_paths(s)[2], _theirs(s)[2]) for s in (_structure(chance, 2) for _ in range(200))]
    equal = 0
    for mine, theirs in forms:
        for other, others in forms:
            assert (mine == other) == (theirs == others)
            equal += mine == other
    assert equal > 1000


def test_sorted_keys_and_leaves_by_a_predicate_are_as_with_optree() -> None:
    for seed in range(300):
        structure = _structure(random.Random(seed), 3)
        leaves, rebuild = nest.flatten(structure, by_key=True)
        expected, spec = optree.tree_flatten(structure, none_is_leaf=True)
        assert all(a is b for a, b in zip(leaves, expected, strict=True)), structure
        values = [object() for _ in leaves]
        assert _same(rebuild(values), optree.tree_unflatten(spec, values))
        assert nest.is_plain_leaf(structure) == optree.tree_is_leaf(structure, none_is_leaf=True)

        def is_leaf(x: Any) -> bool:
            return isinstance(x, tuple | OrderedDict)

        assert [id(x) for x in nest.flatten(structure, leaf=is_leaf)[0]] == [
            id(x) for x in _theirs(structure, is_leaf)[1]
        ]


def test_one_level_is_taken_apart_and_put_together() -> None:
    for seed in range(300):
        structure = _structure(random.Random(seed), 3)
        with optree.dict_insertion_ordered(True, namespace=SPACE):
            expected, spec = optree.tree_flatten(
                structure, is_leaf=lambda x, top=structure: x is not top, none_is_leaf=True, namespace=SPACE
            )
        found = nest.level(structure)
        if found is None:
            assert spec.is_leaf()
            continue
        parts, rebuild = found
        assert all(a is b for a, b in zip(parts, expected, strict=True))
        values = [object() for _ in parts]
        assert _same(rebuild(values), optree.tree_unflatten(spec, values))


def test_a_structure_that_contains_itself_is_refused_and_a_deep_one_is_not() -> None:
    endless: list[Any] = [1]
    endless.append(endless)
    for take in (nest.flatten, nest.with_paths):
        with pytest.raises(RecursionError, match="A list contains itself, or is nested too deeply"):
            take(endless)
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    leaves, rebuild = nest.flatten(deep)
    assert leaves == [1]
    assert rebuild([1]) == deep


@pytest.mark.parametrize("values", [[1], [1, 2, 3]])
def test_a_wrong_number_of_values_is_refused(values: list[Any]) -> None:
    _, rebuild = nest.flatten([1, (2,)])
    with pytest.raises(lab.errors.InvalidArgumentError, match=f"with 2 leaves .* from {len(values)} values"):
        rebuild(values)


def test_threads_do_not_change_the_order_of_keys_for_each_other() -> None:
    """Both orders are asked for at once; neither is a setting of the process."""
    from concurrent.futures import ThreadPoolExecutor

    value = {"b": [1], "a": (2,)}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: nest.flatten(value, by_key=bool(n % 2))[0], range(400)))
    assert found == [[1, 2], [2, 1]] * 200
