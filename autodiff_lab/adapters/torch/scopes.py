"""Where in a program an op belongs: modules, and blocks of the profiler."""

from __future__ import annotations

import weakref
from typing import Any


class Scopes:
    """The scope of what runs now, as a path."""

    def __init__(self) -> None:
        self.path = ""
        self.names: dict[int, str] = {}
        """Paths of modules and parameters by the ids of the objects, below the module that was called first."""
        self.calls: dict[str, int] = {}
        self._modules: list[tuple[str, str]] = []
        self._blocks: list[str] = []
        self._roots: dict[int, Any] = {}

    def enter_module(self, module: Any, args: Any) -> None:
        """A module is called: a scope of its own, numbered if it is called again."""
        if not self._modules:
            self.look_into(module)
        outer, scope = self._modules[-1] if self._modules else ("", "")
        path = self.names.get(id(module), "") if self._modules else ""
        own = path.removeprefix(f"{outer}." if outer else "").replace(".", "/") or type(module).__name__
        scope = f"{scope}/{own}" if scope else own
        count = self.calls[scope] = self.calls.get(scope, 0) + 1
        self._modules.append((path, scope if count == 1 else f"{scope} ({count})"))
        self._update()

    def leave_module(self, module: Any, args: Any, out: Any) -> None:
        """A module is left."""
        if self._modules:
            self._modules.pop()
        self._update()

    def profiled(self, name: str, args: tuple[Any, ...]) -> None:
        """Enter or leave a block of `torch.profiler.record_function`; optimizers use it for their steps."""
        if "enter" in name:
            label = str(args[0])
            self._blocks.append(label.rsplit("#", maxsplit=1)[-1].replace("/", ".") if "#" in label else label)
        elif self._blocks:
            self._blocks.pop()
        self._update()

    def look_into(self, module: Any) -> None:
        """Learn the paths of what is in a module."""
        known = self._roots.get(id(module))
        if known is None or known() is not module:
            self._roots[id(module)] = weakref.ref(module)
            self.names |= {id(part): path for path, part in module.named_modules()}
            self.names |= {id(parameter): _plain(path) for path, parameter in module.named_parameters()}
            self.names |= {id(buffer): _plain(path) for path, buffer in module.named_buffers()}

    def _update(self) -> None:
        inner = self._modules[-1][1] if self._modules else ""
        self.path = "/".join(filter(None, (*self._blocks, inner)))


def _plain(path: str) -> str:
    """Return the path of a parameter without the wrapper that `torch.compile` puts around a module."""
    return path.replace("_orig_mod.", "")
