"""Guards: what a function reached when it was traced, and the test that it is unchanged.

The test runs before every call of a compiled function, so it is one generated expression: comparisons of identities,
name by name where names are known, and of whole lists where they are not.
"""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

_FEW = 64
"""Up to this many attributes are compared one by one, which is quicker than as a list."""
_PAIRED = 8
"""Up to this many arrays are compared pair by pair."""
_DICT = object.__getattribute__
"""Read an attribute without running code of the user's."""
_ABSENT: Any = type("_Absent", (), {})()
_EMPTY = "an empty slot"


class Guards:
    """Values that were examined, how to examine them again, and what was found."""

    def __init__(self) -> None:
        self._looks: list[tuple[str | Callable[[], str], Callable[[], list[Any]], list[Any]]] = []
        self._tests: list[str] = []
        self._scope: dict[str, Any] = {"id": id, "map": map, "type": type}
        self._names: dict[int, str] = {}
        self._entries: set[tuple[int, str]] = set()

    def _note(self, label: str | Callable[[], str], look: Callable[[], list[Any]], *tests: str) -> None:
        """Remember what `look` finds now, and the tests that it still does."""
        self._looks.append((label, look, look()))
        self._tests += tests

    def entry(self, label: str, holder: Any, key: str) -> None:
        """Guard a value under a name, which may not exist yet."""
        if (id(holder), key) in self._entries:
            return
        self._entries.add((id(holder), key))
        where = self._named(holder)
        is_there = f"{where}[{key!r}] is {self._named(holder[key])}" if key in holder else f"{key!r} not in {where}"
        self._note(label, lambda: [holder.get(key, _ABSENT)], is_there)

    def absence(self, label: str, holder: Any, key: str) -> None:
        """Guard a missing name that the function may create; later calls do not look for it."""
        self._looks.append((label, lambda: [holder.get(key, _ABSENT)], [_ABSENT]))

    def attribute(self, label: str, holder: Any, key: str) -> None:
        """Guard an attribute that objects of this kind always have."""
        test = f"{self._named(holder)}.{key} is {self._named(getattr(holder, key))}"
        self._note(label, lambda: [getattr(holder, key)], test)

    def registrations(self) -> None:
        """Guard the virtual subclasses of abstract classes."""
        if "token" not in self._scope:
            self._scope["token"] = get_cache_token
            test = f"token() == {self._named(get_cache_token())}"
            self._note("what is registered with an abstract class", lambda: [str(get_cache_token())], test)

    def kind(self, label: str, holder: Any) -> None:
        """Guard the class of an object, which Python lets a program change."""
        test = f"type({self._named(holder)}) is {self._named(type(holder))}"
        self._note(label, lambda: [type(holder)], test)

    def items(self, label: str, look: Callable[[], list[Any]]) -> None:
        """Guard whatever `look` lists, one by one and by identity."""
        self._note(label, look, self._same_ids(f"{self._named(look)}()", look()))

    def cell(self, label: str, cell: Any) -> list[Any]:
        """Guard a variable of the function around another one; return its value, nothing if it has none yet."""

        def look() -> list[Any]:
            try:
                return [cell.cell_contents]
            except ValueError:
                return []

        found = look()
        if found:
            self._note(label, look, f"{self._named(cell)}.cell_contents is {self._named(found[0])}")
        else:
            self.items(label, look)
        return found

    def listed(self, label: str, holder: list[Any]) -> None:
        """Guard the items of a list, by identity."""
        where = self._named(holder)
        if len(holder) > _FEW // 8:
            tests = [self._same_ids(where, holder)]
        else:
            items = [f"{where}[{n}] is {self._named(item)}" for n, item in enumerate(holder)]
            tests = [f"len({where}) == {len(holder)}", *items]
        self._note(label, lambda: [*holder], *tests)

    def mapped(self, label: str, holder: dict[Any, Any]) -> None:
        """Guard the keys and values of a dict, by identity."""
        where = self._named(holder)
        tests = [f"not {where}"]
        if holder:
            tests = [self._same_ids(where, holder), self._same_ids(f"{where}.values()", holder.values())]
        self._note(label, lambda: [*holder, *holder.values()], *tests)

    def slots(self, label: str, holder: Any, found: list[tuple[str, Any]]) -> None:
        """Guard attributes that stand in slots."""

        def look() -> list[Any]:
            return [_held(slot, holder) for _, slot in found]

        held = look()
        if any(one is _EMPTY for one in held) or not _plainly_read(type(holder)):
            self.items(label, look)
            return
        where = self._named(holder)
        pairs = zip(found, held, strict=True)
        told = _naming(label, lambda: {name: _held(slot, holder) for name, slot in found})
        self._note(told, look, *(f"{where}.{name} is {self._named(item)}" for (name, _), item in pairs))

    def own_fields(self, label: str, owner: Any, holder: dict[str, Any]) -> None:
        """Guard the attributes in the dict of an object, which may get another dict."""
        name = self._named(owner)
        # a class may define how its attributes are read, and no code of the user's is to run here
        there = f"{name}.__dict__" if _plainly_read(type(owner)) else f"{self._named(_DICT)}({name}, '__dict__')"
        test = f"{there} is {self._named(holder)}" if holder else f"not {there}"
        self._note(label, lambda: [_DICT(owner, "__dict__")], test)
        if holder:
            self.fields(label, holder)
        else:
            self._note(_naming(label, lambda: dict(holder)), lambda: [*holder])

    def fields(self, label: str, holder: Any) -> None:
        """Guard a mapping of names: its keys, in order, and its values."""
        where = self._named(holder)
        if len(holder) <= _FEW:
            tests = [f"{where}[{key!r}] is {self._named(value)}" for key, value in holder.items()]
        else:
            tests = [self._same_ids(f"{where}.values()", holder.values())]
        keys = f"[*{where}] == {self._named(list(holder))}"
        self._note(_naming(label, lambda: dict(holder)), lambda: [*holder, *holder.values()], keys, *tests)

    def content(self, label: str, array: Any) -> None:
        """Guard the bytes of an array, and how they are read."""

        def how() -> tuple[Any, ...]:
            return array.dtype, array.shape, array.strides, array.flags.num

        held, then = array.tobytes(), how()

        def same() -> bool:
            return how() == then and array.tobytes() == held

        self._looks.append((label, lambda: [array.tobytes(), str(how())], [held, str(then)]))  # one copy for both
        self._tests.append(f"{self._named(same)}()")

    def _same_ids(self, text: str, values: Iterable[Any]) -> str:
        """Return the test that an expression lists these very objects."""
        return f"[*map(id, {text})] == {self._named(list(map(id, values)))}"

    def changes(self) -> Iterator[str]:
        """Yield descriptions of what has changed."""
        for label, look, held in self._looks:
            try:
                now = look()
            except Exception:  # noqa: BLE001 - what can no longer be examined has changed
                now = None
            if now is None or len(now) != len(held) or not all(map(_same, now, held)):
                yield label if isinstance(label, str) else label()

    def written(self, count: int, known: list[Any]) -> Callable[[list[Any]], bool]:
        """Return the test as a function, which keeps alive what it compares with, so that no id is reused.

        It takes the `count` arrays of a call.  As code may compare tensors by ``is``, no array may occur twice or be
        one of those `known`.
        """
        tests = [*self._apart(count, known), *self._tests]
        lines = [
            f"def made({', '.join(self._scope)}):",
            " def serves(given):",
            "  try:",
            f"   {''.join(f'a{n}, ' for n in range(count))}= given" if 0 < count <= _PAIRED else "   pass",
            f"   return {' and '.join(tests) or 'True'}",
            "  except Exception:",
            "   return False",
            " return serves",
        ]
        scope: dict[str, Any] = {}
        exec(compile("\n".join(lines), "<guards of a compiled function>", "exec"), scope)
        serves = scope["made"](**self._scope)
        serves.kept = self._looks
        return serves

    def _apart(self, count: int, known: list[Any]) -> Iterator[str]:
        """Yield tests that arrays are different: pair by pair if they are few, as a set if they are many."""
        names = [f"a{n}" for n in range(count)]
        if count > _PAIRED:
            yield f"len({{*map(id, given)}}) == {count}"
        else:
            yield from (f"{a} is not {b}" for n, a in enumerate(names) for b in names[:n])
        if count and known:
            if count * len(known) > _PAIRED:
                yield f"{self._named(frozenset(map(id, known)))}.isdisjoint(map(id, given))"
            else:
                yield from (f"{a} is not {self._named(b)}" for a in names for b in known)

    def _named(self, value: Any) -> str:
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"v{len(self._names)}"
            self._scope[name] = value
        return name


def _naming(label: str, look: Callable[[], dict[Any, Any]]) -> Callable[[], str]:
    """Return what puts the name of the attribute that has changed by now into a label."""
    then = look()

    def told() -> str:
        now = look()
        names = [name for name in {**then, **now} if then.get(name, _ABSENT) is not now.get(name, _ABSENT)]
        return label.replace("an attribute", f"the attribute {names[0]!r}", 1) if names else label

    return told


def _held(slot: Any, holder: Any) -> Any:
    try:
        return slot.__get__(holder)
    except AttributeError:
        return _EMPTY


def _plainly_read(kind: type) -> bool:
    """Return whether reading an attribute of such an object runs no code of the user's."""
    own = kind.__getattribute__
    return (own is object.__getattribute__ or kind is FunctionType) and "__dict__" not in _shown(kind)


def _shown(kind: type) -> set[str]:
    """Return the names that a class computes in a property."""
    return {name for cls in kind.__mro__ for name, item in vars(cls).items() if isinstance(item, property)}


def _same(now: Any, then: Any) -> bool:
    return now is then or (now.__class__ in (bytes, str) and now.__class__ is then.__class__ and now == then)
