"""The choice between the NumPy kernel of a heavy op and the compiled loops that override it.

NumPy runs until the override is compiled, for classes of calls in which it is the faster one, and for whatever the
override declines.  A class is made of dtypes, shapes, layouts and parameters.  The first call with enough work makes a
thread in the background compile the override and measure which kernel is faster for calls of this class; what was
measured is kept on disk, for each machine.  `use_kernels` and the environment variable
``AUTODIFF_LAB_KERNELS`` (``auto``, ``numpy``, ``numba``) change this: ``numpy`` where results must not depend on the
machine, ``numba`` to wait for every override and use it at any size.  Either fixes every choice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from autodiff_lab.kernels.base.compiler import COMPILING, NotYet, active, ask, let_in, waits, wish, wishes
from autodiff_lab.kernels.base.likes import Like, signature

FAMILIES = "autodiff_lab.kernels"
MODES = ("auto", "numpy", "numba")
WORTH_ASKING = 50_000
"""Work, in elements or multiplications of all calls of a class together, for which an override is measured."""
LITTLE = 1000
"""Work of a call below which its number counts more than its size: a thousand such calls are reason to compile."""
LITTLE_COUNTS = 50
"""What such a call counts as: NumPy takes microseconds for a call on few elements, whatever their number."""
MOST_CLASSES = 4096
"""Number of shapes of which a kernel remembers what it runs on; then it begins again with what is on disk."""

_state: dict[str, Any] = {"mode": os.environ.get("AUTODIFF_LAB_KERNELS") or "auto"}
IN_USE = _state
"""Under ``"mode"`` the mode of `use_kernels`, for ops so quick that calling a `Chosen` would slow them down."""
ELSEWHERE: set[type] = set()
"""Classes of arrays outside the CPU's memory; empty until a GPU is used."""
CHOSEN: dict[str, Chosen] = {}
"""Every kernel that has an override, by its name."""


class Chosen:
    """A kernel with an override: call it like the reference.

    Attributes
    ----------
    name : str
        Its key in `CHOSEN`.
    reference : callable
        The kernel in NumPy, which defines the result.
    pays : dict of tuple to bool
        By the signature of a call, whether it runs on the override.
    failures : dict of str to str
        By dtype character, why there is no override.
    family, function : str
        The folder in which the overrides are found, and their name: in ``numba.py`` for the CPU, ``cuda.py`` for a GPU.
    """

    def __init__(self, name: str, reference: Callable[..., Any], override: str, work: Callable[..., float]) -> None:
        self.name, self.reference, self.work = name, reference, work
        self.family, _, self.function = override.rpartition(".")
        self._faster: Callable[..., Any] | None = None
        self._on_gpu: Any = NotImplemented  # until somebody looks for it
        self.pays: dict[Any, bool] = {}
        self.failures: dict[str, str] = {}
        self._met: dict[Any, float] = {}
        self._compiled: set[str] = set()
        self._whole: set[str] = set()
        self.__doc__, self.__name__ = reference.__doc__, name

    def __call__(self, *arrays: Any, **params: Any) -> Any:  # noqa: C901 - spelled out: small calls feel it
        """Run the reference or the override; arrays of a GPU go to a CUDA kernel."""
        if arrays[0].__class__ in ELSEWHERE:
            return self._on_device(arrays, params)
        mode = _state["mode"]
        if mode == "auto":
            try:  # as `signature` does, without the call
                if len(arrays) == 1:
                    (a,) = arrays
                    key: Any = (a.dtype, a.size, a.strides, *params.values())
                elif len(arrays) == 2:
                    a, b = arrays
                    key = (a.dtype, a.size, a.strides, b.dtype, b.size, b.strides, *params.values())
                elif len(arrays) == 3:
                    a, b, c = arrays
                    key = (
                        a.dtype, a.size, a.strides, b.dtype, b.size, b.strides, c.dtype, c.size, c.strides,
                        *params.values(),
                    )  # fmt: skip
                else:
                    key = (*[told for a in arrays for told in (a.dtype, a.size, a.strides)], *params.values())
                pays = self.pays.get(key)
            except (AttributeError, TypeError):  # None among the arrays, or a list among the parameters
                key = repr(signature(arrays, params))
                pays = self.pays.get(key)
            if pays is None:
                self._meet(key, arrays, params)
            elif pays:
                result = self._faster(*arrays, **params)  # type: ignore[misc]
                if result is not NotImplemented:
                    return result
        elif mode == "numba" and self.compile(arrays[0].dtype):
            result = self._faster(*arrays, **params)  # type: ignore[misc]
            if result is not NotImplemented:
                return result
        return self.reference(*arrays, **params)

    def _meet(self, key: Any, arrays: tuple[Any, ...], params: dict[str, Any]) -> None:
        """Count the work of calls with a signature, and have them measured when it is worth it."""
        let_in()
        work = self.work(*arrays, **params)
        dtype = arrays[0].dtype
        if work <= 0 or dtype.char in self.failures:
            self._remember(key, False)
        else:
            before = self._met.get(key, 0.0)
            counts = work if work >= LITTLE else max(work, LITTLE_COUNTS) if self._compiled else LITTLE_COUNTS
            self._met[key] = before + counts
            if not before and self._is_known(arrays, params):
                counts = self._met[key] = float(WORTH_ASKING)
            if before < WORTH_ASKING <= before + counts and numba_is_there():
                given = [Like.of(array) for array in arrays]
                ask(lambda: self._find_out(key, dtype, given, params, work))

    def _find_out(self, key: Any, dtype: Any, given: list[Any], params: dict[str, Any], work: float) -> None:
        """Have the override compiled and measured in a process of its own, and decide by what comes back."""
        there = import_module(f"{FAMILIES}.base.measuring").is_there
        if not waits() and not there(self.name, self.override(), dtype, given, params):
            import_module("autodiff_lab.kernels.base.elsewhere").have_made([self._wish(dtype, given, params)])
        self._decide(key, dtype, given, params, work)

    def _decide(self, key: Any, dtype: Any, given: list[Any], params: dict[str, Any], work: float) -> None:
        """Find out whether calls with a signature run on the override; a large one does if that cannot be found."""
        pays: bool | None = False
        if self.takes(dtype):
            measuring = import_module("autodiff_lab.kernels.base.measuring")
            pays = measuring.pays(self.name, self.reference, self.override(), given, params)
            if pays is None:
                pays = work >= WORTH_ASKING
        self._remember(key, pays)

    def _remember(self, key: Any, pays: bool) -> None:
        if len(self.pays) >= MOST_CLASSES:
            self.pays, self._met = {}, {}
        self.pays[key] = pays

    def _on_device(self, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run the CUDA kernel of this name; where there is none, the reference, on CuPy."""
        if _state["mode"] != "numpy":
            override = self.cuda_override()
            result = NotImplemented if override is None else override(*arrays, **params)
            if result is not NotImplemented:
                return result
        return self.reference(*arrays, **params)

    def prepare(self, dtype: Any, values: Sequence[Any] = (), params: dict[str, Any] | None = None) -> bool:
        """Compile the override for a dtype, and decide now about calls on arrays of the dtypes and shapes of values.

        Returns
        -------
        bool
            Whether there is an override.
        """
        given = [Like.in_rows(value.dtype, value.shape) for value in values] if _state["mode"] == "auto" else []
        key, params = signature(given, params or {}), params or {}
        try:
            if not (self.takes(dtype) if given else self.compile(dtype)):
                return False
            if given and key not in self.pays:
                if wishes() is not None and not self._is_measured(given, params):
                    raise NotYet
                self._decide(key, dtype, given, params, WORTH_ASKING)
        except NotYet:
            wish(self._wish(dtype, given, params))
        return True

    def _wish(self, dtype: Any, given: list[Any], params: dict[str, Any]) -> Any:
        """Return what another process needs to know to compile and measure the override."""
        wishes = import_module("autodiff_lab.kernels.base.elsewhere")
        return wishes.Override(self.name, self.reference, f"{self.family}.{self.function}", dtype, given, params)

    def _is_known(self, arrays: tuple[Any, ...], params: dict[str, Any]) -> bool:
        """Return whether calls of a class were compared before, where it takes little to find out."""
        looks = self._faster is not None and active()
        return looks and self._is_measured([Like.of(array) for array in arrays], params)

    def _is_measured(self, given: list[Any], params: dict[str, Any]) -> bool:
        """Return whether calls of a class were compared before, in this process or in another one."""
        measuring = import_module("autodiff_lab.kernels.base.measuring")
        return measuring.class_of(self.name, self.override(), given, params) in measuring.kept()

    def compile(self, dtype: Any) -> bool:
        """Compile all loops of the override for a dtype, and return whether there is one."""
        char = dtype.char
        if char not in self._whole and self._tried(dtype, lambda loop: loop[dtype]):
            self._whole.add(char)
        return char in self._whole

    def takes(self, dtype: Any) -> bool:
        """Return whether there is an override for a dtype, and load those of its loops that were compiled before.

        The others are compiled where a call is measured that needs them.
        """
        return self._tried(dtype, lambda loop: loop.load(dtype))

    def _tried(self, dtype: Any, get: Callable[[Any], Any]) -> bool:
        char = dtype.char
        with COMPILING:
            if char not in self.failures:
                why = self._why_not(dtype, get)
                if why:
                    self.failures[char] = why
                    self._compiled.discard(char)
                else:
                    self._compiled.add(char)
        return char in self._compiled

    def _why_not(self, dtype: Any, get: Callable[[Any], Any]) -> str:
        """Return why a dtype has no override; an empty text if it has one, after getting its loops."""
        if not numba_is_there():
            return "Numba is not installed"
        try:
            faster = self.override()
            if dtype.char not in faster.chars:  # type: ignore[attr-defined]
                return f"the override does not take {dtype}"
            for loop in faster.loops:  # type: ignore[attr-defined]
                get(loop)
        except NotYet:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a compiler says, NumPy does the work
            return f"{type(error).__name__}: {error}"
        return ""

    def override(self) -> Callable[..., Any]:
        """Return the function that overrides the reference."""
        if self._faster is None:
            self._faster = getattr(import_module(f"{FAMILIES}.{self.family}.numba"), self.function)
        return self._faster  # pyright: ignore[reportReturnType]

    def cuda_override(self) -> Callable[..., Any] | None:
        """Return the CUDA kernel that overrides the reference, if there is one; importing it imports Numba's CUDA."""
        if self._on_gpu is NotImplemented:
            place = f"{FAMILIES}.{self.family}"
            there = self.family and find_spec(place) and find_spec(f"{place}.cuda")
            found = import_module(f"{place}.cuda") if there else None
            self._on_gpu = getattr(found, self.function, None)
        return self._on_gpu


class OnGpu(Chosen):
    """A kernel that is NumPy's on the CPU and has an override on a GPU only.

    An op that is quick on the CPU checks where its operand lives, and calls this for a GPU only.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.choose import OnGpu
    >>> OnGpu("double", lambda x: 2 * x)(np.float32(3.0))
    np.float32(6.0)
    """

    def __init__(self, name: str, reference: Callable[..., Any], override: str = "") -> None:
        super().__init__(name, reference, override or place_of(reference), lambda x, *rest, **how: x.size)

    def __call__(self, *arrays: Any, **params: Any) -> Any:
        """Run the CUDA kernel on arrays of a GPU, the reference on others."""
        if arrays[0].__class__ in ELSEWHERE:
            return self._on_device(arrays, params)
        return self.reference(*arrays, **params)

    def compile(self, dtype: Any) -> bool:
        """Return False: there is no override for the CPU."""
        return False


def on_gpu_alone(name: str, reference: Callable[..., Any]) -> OnGpu:
    """Make the kernel of an op that has an override on a GPU only, and register it by its name."""
    made = CHOSEN[name] = OnGpu(name, reference)
    return made


def place_of(reference: Callable[..., Any]) -> str:
    """Name the family of a reference, which is the folder of its module, and the function, with a dot between.

    Examples
    --------
    >>> from autodiff_lab.kernels.base.choose import place_of
    >>> from autodiff_lab.kernels.softmax import reference
    >>> place_of(reference.softmax)
    'softmax.softmax'
    """
    folder = reference.__module__.rpartition(".")[0]
    return f"{folder.rpartition('.')[2]}.{reference.__name__}"


def chosen(
    name: str,
    reference: Callable[..., Any],
    override: str = "",
    work: Callable[..., float] = lambda x, *rest, **how: x.size,
) -> Chosen:
    """Make the kernel of a heavy op out of its reference; its overrides are found beside it.

    Parameters
    ----------
    name : str
        Of the kernel.
    reference : callable
        Arrays in, array or tuple of arrays out.
    override : str, optional
        Family and function, with a dot between, where they are not those of the reference. ``numba.py`` in the folder
        of the family holds the override for the CPU, made by `loops.override`; ``cuda.py`` the one for a GPU. Both are
        called like the reference, and return NotImplemented for what they do not support.
    work : callable
        Called like the reference; returns how large a call is, in elements or multiplications; must be quick.
    """
    made = CHOSEN[name] = Chosen(name, reference, override or place_of(reference), work)
    return made


def numba_is_there() -> bool:
    """Return whether Numba can be imported, without importing it."""
    if "numba" not in _state:
        _state["numba"] = find_spec("numba") is not None
    return _state["numba"]


@contextmanager
def use_kernels(mode: str) -> Generator[None]:
    """Choose which kernels heavy ops run on, for a block and in all threads.

    Parameters
    ----------
    mode : str
        ``"auto"``: overrides where they are compiled and faster; ``"numpy"``: always the reference, whose results do
        not depend on the machine; ``"numba"``: the override wherever there is one, waiting for it to be compiled.

    Raises
    ------
    ValueError
        If the mode is unknown.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.use_kernels("numpy"):
    ...     y = lab.nn.softmax(lab.constant([1.0, 1.0]))
    >>> print(y)
    Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """
    if mode not in MODES:
        raise ValueError(f"use_kernels: unknown mode {mode!r}. Try one of {MODES}.")
    before, _state["mode"] = _state["mode"], mode
    try:
        yield
    finally:
        _state["mode"] = before


def kernels_in_use() -> dict[str, str]:
    """Return the kernel that each heavy op of this process runs on, and for how many of the shapes that it met.

    Returns
    -------
    dict of str to str
        By kernel name, for the kernels that have been measured or failed to compile.

    Examples
    --------
    >>> from autodiff_lab.kernels.base.choose import kernels_in_use
    >>> isinstance(kernels_in_use(), dict)
    True
    """
    told: dict[str, str] = {}
    for name, kernel in CHOSEN.items():
        words: list[str] = []
        for char in sorted(kernel._compiled):
            found = [pays for key, pays in kernel.pays.items() if key[0] == char]
            words.append(f"{char}: Numba for {sum(found)} of {len(found)} shapes")
        words += [f"{char}: NumPy, {why}" for char, why in kernel.failures.items()]
        if words:
            told[name] = "; ".join(words)
    return told


def _after_fork() -> None:
    """Forget in the child what the background was asked to compile: it does not run there."""
    for kernel in CHOSEN.values():
        kernel._met = {}


if _state["mode"] not in MODES:
    raise ValueError(f"AUTODIFF_LAB_KERNELS={_state['mode']!r} is unknown. Try one of {MODES}.")
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
