"""What users read of a compiled function: its program, its source, and why it runs eagerly."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from autodiff_lab.compile.front.entry import Compiled, assumptions
from autodiff_lab.compile.front.trace import Refusal, where
from autodiff_lab.compile.front.waiting import Waiting
from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.errors import InvalidArgumentError


def _decides(line: Line, program: Program) -> str:
    """Return what a program assumes: a value and where it comes from, or a shape."""
    value = line.params.get("value")
    if value is None:
        return f"the shape of `{line.op.name}`"
    made, text = program.made_by.get(line.ins[0]), str(value[0] if len(value) == 1 else list(value))
    name = program.values[line.ins[0]].name or "an argument"
    return f"{text:.40} from `{made.op.name}`" if made is not None else f"{text:.40} in {name}"


class Readable:
    """The part of a compiled function that is read."""

    __slots__ = ()
    fallbacks: int
    _entries: dict[Any, Any]
    _built: int
    _declined: int
    _heard: int
    _latest: Compiled | None
    _refusals: list[Refusal]
    _slower: str
    _waiting: Waiting | None

    @property
    def program(self) -> Program:
        """The program of the latest signature; waits until it is compiled.

        Raises
        ------
        InvalidArgumentError
            If none is compiled; the message says why.
        """
        return self._compiled().program

    @property
    def source(self) -> str:
        """The generated Python of the latest signature compiled."""
        return self._compiled().code.source

    @property
    def compiled(self) -> bool:
        """Whether there is a program, for some signature, that is ready."""
        return self._latest is not None

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """What became one call in the latest signature compiled: fused loops and programs of scalars."""
        return self._compiled().code.kernels

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Why the latest trace could not be compiled, each reason with its line; empty if it was."""
        return tuple(self._refusals)

    @property
    def skipped(self) -> tuple[str, ...]:
        """Runs of elementwise ops that could not be fused, and why; usually empty."""
        return self._compiled().code.skipped

    def wait(self) -> None:
        """Wait for the program that is being compiled in the background, if there is one; until then calls run eagerly.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> f = lab.function(lambda x: lab.sin(x) * x)
        >>> _ = f(lab.constant(1.0))
        >>> f.wait()
        >>> f.compiled
        True
        """
        if self._waiting is not None:
            self._waiting.wait(self._name)
            self._waiting = None

    def _compiled(self) -> Compiled:
        self.wait()
        if self._latest is None:
            raise InvalidArgumentError(f"{self._name}: no program. {self.why()}")
        return self._latest

    def why(self) -> str:
        """Say why calls ran eagerly, or that none did; and which loops over arrays run as loops, which unrolled.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> @lab.function
        ... def f(x):
        ...     return x * float(x)
        >>> _ = f(lab.constant(1.0))
        >>> print(f.why().split(".")[0])
        f runs eagerly: the value of a tensor leaves the ops through float
        """
        if self._refusals:
            reasons = "; ".join(dict.fromkeys(map(str, self._refusals[:3])))
            if self._built and self._latest is None:
                return (
                    f"{self._name} ran eagerly: {reasons}. If only the first call does that, as where it creates "
                    "something, the next one can be compiled."
                )
            return f"{self._name} runs eagerly: {reasons}"
        if self._slower:
            return f"{self._name} runs eagerly: {self._slower}"
        if self._waiting is not None and not self._waiting.done.is_set():
            return f"{self._name} is being compiled; until it is, calls run eagerly. {self._name}.compile(...) waits."
        if self._declined:
            return (
                f"{self._name} is compiled, but {self._declined} of its calls ran eagerly: an op raised an error, a "
                "variable or a result had another shape than in the trace, or a value that controls a branch, an index "
                "or a shape had changed."
                f"{self._assumed()}"
            )
        heard = (
            f"{self._heard} call{'s' * (self._heard > 1)} of {self._name} ran op by op, inside a tape or a recording. "
            "To compile the backward pass too, decorate the function that opens the tape."
        )
        if self._latest is None:
            return heard if self._heard else f"{self._name} has not been called yet."
        told = [
            f"{self._name} is compiled.{self._loops()}{self._assumed()}",
            *(f"{why}." for why in self._latest.code.unrolled),
        ]
        return " ".join([*told, heard] if self._heard else told)

    def _loops(self) -> str:
        """Name the loops over arrays that run as loops, in the order in which they run."""
        turns = [str(turns) for kernel in self.kernels for turns in kernel.turns]
        if len(turns) < 2:
            return f" One loop over arrays, of {turns[0]} iterations, runs as a loop." if turns else ""
        many = f"{', '.join(turns[:-1])} and {turns[-1]}"
        return f" {len(turns)} loops over arrays, of {many} iterations, run as loops."

    def _assumed(self) -> str:
        """Say what the latest program assumes, if anything."""
        assumed = assumptions(self._latest.program) if self._latest is not None else []
        if self._latest is None or not assumed:
            return ""
        places = dict.fromkeys(where(line.place) for line in assumed if line.place is not None)
        found = list(dict.fromkeys(_decides(line, self._latest.program) for line in assumed))
        more = [f"{len(found) - 3} more"] if len(found) > 3 else []
        *others, last = [*found[:3], *more]
        what = f"{', '.join(others)} and {last}" if others else last
        controls, differs = ("control", "they differ") if len(found) > 1 else ("controls", "it differs")
        count = 1 + len(self._latest.others)
        return (
            f" It is specialized to {what}, which {controls} a branch, an index or a shape "
            f"({'; '.join(list(places)[:3])}). A call in which {differs} runs eagerly until it has a program of its "
            f"own: {count} program{'s' * (count > 1)} so far."
        )

    @property
    def _name(self) -> str:
        return getattr(self, "__name__", "the function")

    def __repr__(self) -> str:
        return f"<Function {self._name}: {len(self._entries)} signatures, {self.fallbacks} fallbacks>"

    def to_html(self, path: str | Path) -> None:
        """Write one HTML file with the graph, the program and the source, which needs no network and no kernel.

        Parameters
        ----------
        path : str or Path
            The file to write; an existing one is replaced.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from autodiff_lab.exploring.program import to_html

        Path(path).write_text(to_html(cast("Any", self)), encoding="utf-8")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Return what a notebook shows: graph, program and source side by side, or why the function runs eagerly."""
        from autodiff_lab.exploring.program import bundle

        return bundle(cast("Any", self), include=include, exclude=exclude)

    def _ipython_display_(self) -> None:
        """Show the widget and its picture as two outputs, where widgets are installed."""
        try:
            from autodiff_lab.widgets.outputs import publish
        except ImportError:
            raise NotImplementedError from None
        publish(self)
