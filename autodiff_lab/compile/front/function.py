"""`lab.function`: a Python function whose calls run as one compiled program.

The first call of a signature runs the function eagerly under a `Trace` and compiles what was recorded; later calls run
the program if the surroundings are unchanged.  What cannot be compiled runs eagerly, and `why` gives the reason.
Inside a tape, a recording or another compiled function a call runs op by op, so that it is differentiated, drawn or
compiled with the rest.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from autodiff_lab.compile.front.effects import Effects
from autodiff_lab.compile.front.entry import Compiled, Plan, Refused, compiled, not_made
from autodiff_lab.compile.front.kinds import replaced
from autodiff_lab.compile.front.signature import Call, copy_of, quick_key, take_apart
from autodiff_lab.compile.front.surroundings import Surroundings
from autodiff_lab.compile.front.trace import Refusal, Trace
from autodiff_lab.compile.front.typed import P, R, Typed
from autodiff_lab.compile.front.variants import Varied, add_beside, changing
from autodiff_lab.compile.front.waiting import Trial, Waiting, example_of, in_background, progress
from autodiff_lab.engine import configuration, nest
from autodiff_lab.engine.devices import current_memory
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import active, sinks_now

_MOST_TRACES = 5
"""How many times one signature may be traced because the surroundings changed."""
_MOST_SIGNATURES = 64
_BUILDS = 3
"""Calls that layers may take to build themselves."""
_MET = Refusal("an argument, a tensor, can be reached in another way too", None)
_REPLACED = Refusal("a built-in function of Python has been replaced", None)
_PROFILED = Refusal("another profiler is active, so side effects could not be observed", None)


class Function(Varied, Typed[P, R]):
    """A compiled function; made by `function`.

    Attributes
    ----------
    fallbacks : int
        How many calls ran eagerly although nothing recorded, because they could not be compiled.  A call that
        builds variables, such as the first one of a training step, is not counted: the next one is compiled.
    """

    # These are slots, so that `__dict__` holds only what the user sets, which is guarded.
    __slots__ = (
        "__dict__", "__weakref__", "_attempts", "_backend", "_built", "_declined", "_entries", "_fast", "_known",
        "_latest", "_lock", "_refusals", "_reported", "_slower", "_trials", "_waiting", "fallbacks", "python_function",
    )  # fmt: skip
    _guarded = ("python_function",)

    def __init__(self, function: Callable[P, R], backend: str = "auto") -> None:
        functools.update_wrapper(self, function)
        self.python_function = function
        self.fallbacks = 0
        self._built = self._declined = 0  # calls that built what a program needs, and that no program could serve
        self._heard = 0  # calls inside a tape or a recording
        self._backend = backend
        self._fast: dict[Any, Compiled] = {}
        self._trials: dict[Any, Trial] = {}  # by quick key, until it is known which way is faster
        self._waiting: Waiting | None = None
        self._entries: dict[Any, Compiled | Refused | Waiting] = {}
        self._attempts: dict[Any, int] = {}
        self._latest: Compiled | None = None
        self._refusals: list[Refusal] = []
        self._reported = False
        self._slower = ""  # what was measured, if the program is slower than the function
        self._known: dict[int, Tensor] = {}  # tensors that it reaches other than as arguments
        self._lock = threading.RLock()
        _made.add(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:  # noqa: D102 - see the class
        if sinks := sinks_now():
            self._heard += not sinks[0].traces  # another function's trace takes the ops into its program
            return self._eagerly(args, kwargs)
        arrays: list[Any] = []
        key: list[Any] = []
        quick = quick_key(args, arrays, key)
        if quick and kwargs:
            key.append(Function)  # a dict among the arguments is not the keywords
            quick = quick_key((kwargs,), arrays, key)
        memory = current_memory()
        if memory is not None:  # where new tensors are created is part of the signature
            key.append(memory)
        if quick:
            known = tuple(key)
            entry = self._fast.get(known)
            if entry is not None and entry.serves(arrays):
                done, result = entry.call(arrays)
                if done:
                    return result
            elif known in self._trials:
                done, result = self._tried(known, arrays, args, kwargs)
                if done:
                    return result
            return self._slowly(args, kwargs, known)
        return self._slowly(args, kwargs, None)

    def _tried(self, key: Any, arrays: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
        """Serve a call while the program is compiled or compared with the function; False if it cannot be served."""
        trial = self._trials[key]
        done, result = trial.call(arrays, lambda: self._eagerly(args, kwargs))
        if trial.settled:
            trial.settled = False
            if trial.slower:
                self._slower = trial.report(self._name)
            elif self._trials.pop(key, None) is not None and trial.entry is not None:
                self._fast[key] = trial.entry
                self._slower = self._slower if any(other.slower for other in self._trials.values()) else ""
        elif not done:
            self._trials.pop(key, None)
        return done, result

    def _slowly(self, args: tuple[Any, ...], kwargs: dict[str, Any], key: tuple[Any, ...] | None) -> Any:
        """Serve a call whose quick key is not known yet, if it has one."""
        if configuration.functions_run_eagerly():
            return self._eagerly(args, kwargs)
        if replaced():  # compiling needs them as Python made them
            self.fallbacks += 1
            self._refusals = [_REPLACED]
            return self.python_function(*args, **kwargs)
        call = take_apart(self.python_function, args, kwargs, self._known)
        if call.by_identity:
            key = None
        done, result = self._served(call, key)
        if done:
            return result
        refused = isinstance(self._entries.get(call.key), Refused)
        if refused or sys.getprofile() is not None or not self._lock.acquire(blocking=False):
            if refused or sys.getprofile() is not None:
                self.fallbacks += 1
                if not refused:
                    self._refusals = [_PROFILED]
            return call.plainly(self.python_function)
        try:
            done, result = self._served(call, key)  # another thread may have been here in the meantime
            return result if done else self._trace(call, key)
        finally:
            self._lock.release()

    def _served(self, call: Call, key: tuple[Any, ...] | None) -> tuple[bool, Any]:
        """Run the program of a call if there is one that can serve it."""
        entry = self._entries.get(call.key)
        if isinstance(entry, Waiting):
            return True, entry.meanwhile(lambda: call.plainly(self.python_function))
        if not isinstance(entry, Compiled) or not entry.unchanged():
            return False, None
        done, result = entry.call([t._held for t in call.tensors])
        if done:
            if key is not None and key not in self._trials:
                if entry.compared or not in_background() or self._backend == "numpy":
                    self._fast[key] = entry
                else:
                    self._trials[key] = Trial(entry)
        elif not entry.moved():
            self.fallbacks += 1
            self._declined += 1
            return True, self._beside(entry, call)
        return done, result

    def _eagerly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run op by op; NumPy arguments become tensors here too, so that results do not depend on an open tape."""
        if not kwargs and all(x.__class__ is Tensor or x.__class__ is Variable for x in args):
            return self.python_function(*args)  # pyright: ignore[reportCallIssue]
        return take_apart(self.python_function, args, kwargs).plainly(self.python_function)

    def compile(self, *args: Any, **kwargs: Any) -> bool:
        """Trace the function for arguments like these, and wait until its program is ready.

        The function runs once; then variables and sources of random numbers are put back, and other effects remain.
        After a second a line on standard error says what is waited for.

        Parameters
        ----------
        *args, **kwargs
            Arguments of a call, or a `TensorSpec` for a tensor, which is made of ones.

        Returns
        -------
        bool
            Whether calls like this run a program; `why` gives the reason if they do not.

        Raises
        ------
        InvalidArgumentError
            If a spec has an open length, or a tape or a recording is open.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> f = lab.function(lambda x: lab.reduce_sum(x * x))
        >>> f.compile(lab.TensorSpec([3]))
        True
        >>> print(f(lab.constant([1.0, 2.0, 3.0])))
        Tensor(14.0, shape=(), dtype=float32)
        """
        if sinks_now():
            raise InvalidArgumentError(f"{self._name}.compile: a tape or a recording is open. Compile outside of it.")
        leaves, rebuild = nest.flatten((args, kwargs))
        args, kwargs = self._fitted(*rebuild([example_of(leaf) for leaf in leaves]))
        entry, traced = None, False
        call = take_apart(self.python_function, args, kwargs, self._known)
        with progress(self._name):
            for _ in range(_BUILDS):
                with self._lock:
                    entry = self._entries.get(call.key)
                    if not isinstance(entry, (Refused, Waiting)) and not (entry is not None and entry.unchanged()):
                        self._trace(call, None, for_real=False)
                        traced = True
                        entry = self._entries.get(call.key)
                if isinstance(entry, Waiting):
                    entry.wait(self._name)
                    entry = self._entries.get(call.key)
                if entry is not None:
                    break
                call = take_apart(self.python_function, args, kwargs, self._known)
            if isinstance(entry, Compiled) and not traced:
                self._make_beside(entry, call)
        return isinstance(entry, Compiled)

    def _fitted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments as calls are made with them."""
        return args, kwargs

    def _trace(
        self, call: Call, key: tuple[Any, ...] | None, *, for_real: bool = True, beside: Compiled | None = None
    ) -> Any:
        """Run the function under a trace, and compile it or note why not.

        This is the actual call: it runs once; if it is not `for_real`, it is undone.  The program is put `beside`
        another one for the same arguments that assumes other values, if there is one.
        """
        around = Surroundings(self.python_function, call.objects)
        plain = call.key
        if self._meets(call, around):
            call, key = take_apart(self.python_function, call.args, call.kwargs, self._known), None
        copies = [copy_of(t) for t in call.tensors]
        trace = Trace(copies, call.names)
        lent = call.lend(copies)
        try:
            with lent as (args, kwargs), active(trace), Effects(around, trace) as effects:
                result = self.python_function(*args, **kwargs)
        finally:
            if not for_real:
                trace.before.undo()
        refusals = [*trace.refusals, *effects.refusals, *around.refusals, *lent.refusals(around.holds)]
        if not around.observed():
            refusals.append(Refusal("its calls could not be observed", None))
        changed = next(around.changes(), None)
        met = self._meets(call, around)  # through a function that it called: the next call knows
        building = met or trace.builds or effects.imports() or (changed is not None and not refusals)
        refusals += [_MET] * met
        if changed is not None:
            refusals.append(Refusal(f"it changes {changed} while it runs, which a program would not repeat", None))
        attempt = self._attempts[call.key] = self._attempts.get(call.key, 0) + (beside is None)
        refusals += self._too_many(attempt, self._entries.get(call.key), bool(refusals))
        if not refusals:
            refusals = not_made(result, lambda value: around.holds(value) or id(value) in lent.containers)
        if not refusals:
            around.finish(len(call.tensors))
            made = compiled(trace, result, around, call.objects, self._backend)
            if not isinstance(made, list):
                self._refusals, self._built = [], 0
                self._known |= around.tensors
                self._make(made, call, key, beside)
                return result
            refusals = made
        if beside is None:
            self._refusals = refusals
            had = self._entries.pop(call.key, None) is not None
            self._built += 1
            if not (building and (attempt == 1 or had)):  # what this call built exists in the next one
                self.fallbacks, self._built = self.fallbacks + self._built, 0
                self._refuse(call, plain)
        return result

    def _make(self, plan: Plan, call: Call, key: tuple[Any, ...] | None, beside: Compiled | None) -> None:
        """Make the program of a call, or have it made in the background."""
        later = plan.on_cpu and self._backend != "numpy" and in_background()
        if beside is not None:
            add_beside(beside, plan, later)
        elif later:
            waiting = self._entries[call.key] = self._waiting = Waiting(plan.entry)
            if key is not None:
                self._trials[key] = Trial(waiting)
            waiting.start(lambda: self._ready(call, waiting))
        else:
            self._make_now(plan, call, key)

    def _make_now(self, plan: Plan, call: Call, key: tuple[Any, ...] | None) -> None:
        try:
            made = self._entries[call.key] = self._latest = plan.entry()
        except Exception as error:  # noqa: BLE001 - an error of ours is not the user's
            self._give_up(call, error)
            return
        if key is not None:
            self._fast[key] = made

    def _give_up(self, call: Call, error: object) -> None:
        """Let calls like this one run eagerly, because their program could not be made."""
        self._refusals = [Refusal(f"its program could not be made: {str(error) or type(error).__name__}", None)]
        self._entries[call.key] = Refused(self._refusals, call.objects)

    def _ready(self, call: Call, waiting: Waiting) -> None:
        """Take over what the background has made."""
        if self._entries.get(call.key) is not waiting:
            return
        if waiting.entry is not None:
            self._entries[call.key] = self._latest = waiting.entry
        else:
            self._give_up(call, waiting.error)

    def _too_many(self, attempt: int, before: Any, refused: bool) -> Iterator[Refusal]:
        """Yield reasons that lie in earlier calls; `before` is the entry that they made."""
        if attempt > _MOST_TRACES and not refused:
            yield Refusal(changing(before), None)
        if len(self._entries) >= _MOST_SIGNATURES:
            yield Refusal("it is called with too many kinds of arguments. Pass changing numbers as tensors", None)

    def _meets(self, call: Call, around: Surroundings) -> bool:
        """Return whether the function reaches a tensor of a call in another way too; such tensors count by identity."""
        met = any(id(t) in around.tensors for t in call.tensors)
        if met:
            self._known |= around.tensors
        return met

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Function:
        """Return a function that takes the arguments described here and no others.

        Parameters
        ----------
        *args, **kwargs
            For each parameter a `TensorSpec`, a tensor or array with the shape and dtype, a structure of them, or
            another Python value, which is then fixed and may be left out in calls.

        Returns
        -------
        Function
            With an `input_signature`. It is compiled at its first call with each shape.

        Raises
        ------
        TypeError
            If the arguments do not fit the parameters.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> power = lab.function(lambda x, n: x**n)
        >>> cube = power.get_concrete_function(lab.TensorSpec([None]), 3)
        >>> print(cube(lab.constant([1.0, 2.0])))
        Tensor([1. 8.], shape=(2,), dtype=float32)
        """
        from autodiff_lab.compile.front.signed import concrete

        return concrete(self, args, kwargs)

    def _forget(self) -> None:
        """Begin again in a child process: what was being made in the parent is not made there, nor are locks freed."""
        self._lock = threading.RLock()
        self._waiting = None
        self._trials.clear()
        for key in [key for key, entry in self._entries.items() if isinstance(entry, Waiting)]:
            del self._entries[key]

    def __deepcopy__(self, memo: Any) -> Function:
        return self

    def __reduce__(self) -> str:
        """Pickle by name, as functions are: another process finds its own under that name."""
        return self.python_function.__qualname__


def _after_fork() -> None:
    """Renew what belongs to threads of the parent, which do not exist in a child process."""
    for made in _made:
        made._forget()  # pyright: ignore[reportPrivateUsage]


def _forget_quick_keys() -> None:
    """Send the next call of every function through `_slowly`, which reads the configuration."""
    for made in list(_made):
        made._fast.clear()  # pyright: ignore[reportPrivateUsage]
        made._trials.clear()  # pyright: ignore[reportPrivateUsage]


_made: weakref.WeakSet[Function[..., Any]] = weakref.WeakSet()
configuration.WHEN_EAGER.append(_forget_quick_keys)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
