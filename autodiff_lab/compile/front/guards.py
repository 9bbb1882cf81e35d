"""Guards: what a function saw when it was traced, and the test that it still sees the same.

The test runs before every call of a compiled function, so it is one generated expression: comparisons of identities,
name by name where names are known, and whole lists of identities where they are not.
"""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

_FEW = 64
"""Up to so many attributes are compared one by one, which is quicker than as a list."""
_PAIRED = 8
"""Up to so many arrays are compared pair by pair."""
_DICT = object.__getattribute__
"""Reads an attribute, and runs no code of the user's for it."""
_ABSENT: Any = type("_Absent", (), {})()
_EMPTY = "an empty slot"


class Guards:
    """Values that were looked at, how to look at them again, and what was there."""

    def __init__(self) -> None:
        self._looks: list[tuple[str, Callable[[], list[Any]], list[Any]]] = []
        self._tests: list[str] = []
        self._scope: dict[str, Any] = {"id": id, "map": map, "type": type}
        self._names: dict[int, str] = {}
        self._entries: set[tuple[int, str]] = set()

    def entry(self, label: str, holder: Any, key: str) -> None:
        """Guard a value under a name, which may not exist yet."""
        if (id(holder), key) in self._entries:
            return
        self._entries.add((id(holder), key))
        there = key in holder
        self._looks.append((label, lambda: [holder.get(key, _ABSENT)], [holder.get(key, _ABSENT)]))
        where = self._named(holder)
        self._tests.append(f"{where}[{key!r}] is {self._named(holder[key])}" if there else f"{key!r} not in {where}")

    def absence(self, label: str, holder: Any, key: str) -> None:
        """Guard a missing name that the function may make; later calls do not look for it."""
        self._looks.append((label, lambda: [holder.get(key, _ABSENT)], [_ABSENT]))

    def attribute(self, label: str, holder: Any, key: str) -> None:
        """Guard an attribute that objects of this kind always have."""
        held = getattr(holder, key)
        self._looks.append((label, lambda: [getattr(holder, key)], [held]))
        self._tests.append(f"{self._named(holder)}.{key} is {self._named(held)}")

    def registrations(self) -> None:
        """Guard the virtual subclasses of abstract classes."""
        if "token" not in self._scope:
            held = get_cache_token()
            self._scope |= {"token": get_cache_token}
            self._looks.append(
                ("what is registered with an abstract class", lambda: [str(get_cache_token())], [str(held)])
            )
            self._tests.append(f"token() == {self._named(held)}")

    def kind(self, label: str, holder: Any) -> None:
        """Guard the class of an object, which Python lets a program change."""
        held = type(holder)
        self._looks.append((label, lambda: [type(holder)], [held]))
        self._tests.append(f"type({self._named(holder)}) is {self._named(held)}")

    def items(self, label: str, look: Callable[[], list[Any]]) -> None:
        """Whatever `look` lists, one by one and by identity."""
        held = look()
        self._looks.append((label, look, held))
        self._tests.append(f"[*map(id, {self._named(look)}())] == {self._named(list(map(id, held)))}")

    def listed(self, label: str, holder: list[Any]) -> None:
        """Guard the items of a list, by identity."""
        held = [*holder]
        self._looks.append((label, lambda: [*holder], held))
        where = self._named(holder)
        if len(held) > _FEW // 8:
            self._tests.append(f"[*map(id, {where})] == {self._named(list(map(id, held)))}")
        else:
            self._tests.append(f"len({where}) == {len(held)}")
            self._tests += [f"{where}[{n}] is {self._named(item)}" for n, item in enumerate(held)]

    def mapped(self, label: str, holder: dict[Any, Any]) -> None:
        """Guard the keys and values of a dict, by identity."""
        where = self._named(holder)
        self._looks.append((label, lambda: [*holder, *holder.values()], [*holder, *holder.values()]))
        for text, held in ((where, [*holder]), (f"{where}.values()", [*holder.values()])):
            self._tests.append(f"[*map(id, {text})] == {self._named(list(map(id, held)))}")

    def slots(self, label: str, holder: Any, found: list[tuple[str, Any]]) -> None:
        """Attributes that stand in slots."""

        def look() -> list[Any]:
            return [_held(slot, holder) for _, slot in found]

        held = look()
        if _EMPTY in held or not _plainly_read(type(holder)):
            self.items(label, look)
            return
        self._looks.append((label, look, held))
        where = self._named(holder)
        self._tests += [f"{where}.{name} is {self._named(item)}" for (name, _), item in zip(found, held, strict=True)]

    def own_fields(self, label: str, owner: Any, holder: dict[str, Any]) -> None:
        """Guard the attributes in the dict of an object, which may get another dict."""
        name = self._named(owner)
        # a class may read its attributes in a way of its own, and nothing of the user's is to run here
        there = f"{name}.__dict__" if _plainly_read(type(owner)) else f"{self._named(_DICT)}({name}, '__dict__')"
        self._looks.append((label, lambda: [_DICT(owner, "__dict__")], [holder]))
        if holder:
            self._tests.append(f"{there} is {self._named(holder)}")
            self.fields(label, holder)
        else:
            self._tests.append(f"not {there}")
            self._looks.append((label, lambda: [*holder], []))

    def fields(self, label: str, holder: Any) -> None:
        """Guard a mapping of names: its keys, in order, and its values."""
        self._looks.append((label, lambda: [*holder, *holder.values()], [*holder, *holder.values()]))
        where = self._named(holder)
        self._tests.append(f"[*{where}] == {self._named(list(holder))}")
        if len(holder) <= _FEW:
            self._tests += [f"{where}[{key!r}] is {self._named(value)}" for key, value in holder.items()]
        else:
            self._tests.append(f"[*map(id, {where}.values())] == {self._named(list(map(id, holder.values())))}")

    def content(self, label: str, array: Any) -> None:
        """Guard the bytes of an array, and how they are read."""

        def look() -> list[Any]:
            return [array.tobytes(), f"{array.dtype.str}{array.shape}{array.strides}{array.flags.num}"]

        self._looks.append((label, look, look()))
        self._tests.append(f"{self._named(look)}() == {self._named(look())}")

    def changes(self) -> Iterator[str]:
        """Yield what is no longer what it was, in words."""
        for label, look, held in self._looks:
            try:
                now = look()
            except Exception:  # noqa: BLE001 - what cannot be looked at any more has changed
                now = None
            if now is None or len(now) != len(held) or not all(map(_same, now, held)):
                yield label

    def written(self, count: int, known: list[Any]) -> Callable[[list[Any]], bool]:
        """Return the test as a function; what it compares with is kept alive by it, so that no identity is used again.

        It is given the `count` arrays of a call.  As code may compare tensors by ``is``, no array may be there twice or
        be one of those `known`.
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
        """Tests that arrays are different ones: pair by pair where they are few, as a set where they are many."""
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
    """Return the names that a class answers for in a way of its own."""
    return {name for cls in kind.__mro__ for name, item in vars(cls).items() if isinstance(item, property)}


def _same(now: Any, then: Any) -> bool:
    return now is then or (now.__class__ in (bytes, str) and now.__class__ is then.__class__ and now == then)
