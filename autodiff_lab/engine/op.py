"""Op: all that is known of one operation, and the registry of them.

An op is declared once, by `unary`, `binary` or `general` (see `apply`), with its kernel, its derivative rules and the
facts that texts, pictures and tests read.  A rule is ``lambda ops, g, out, x, y: ...``, one for each input, called only
for inputs that were tracked when the op ran; or one callable for all inputs, with the keyword `need`, where the
inputs share work.  Rules take every operation that is not an operator from `ops`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from autodiff_lab.engine.namespace import find_ops

UNREGISTERED = "unregistered"
"""In place of rules: the op has a derivative that nobody wrote; a sweep through it raises LookupError."""

Rule = Callable[..., Any]


class Domain(NamedTuple):
    """Where an elementwise op is defined and smooth; tests sample inside it.

    `low` and `high` bound the argument (exclusive), `away_from` are points to keep a distance from: kinks and poles.
    """

    low: float | None = None
    high: float | None = None
    away_from: tuple[float, ...] = ()

    def __str__(self) -> str:
        parts: list[str] = []
        if self.low is not None:
            parts.append(f"x > {self.low:g}")
        if self.high is not None:
            parts.append(f"x < {self.high:g}")
        parts.extend(f"x ≠ {point:g}" for point in self.away_from)
        return ", ".join(parts) or "all real numbers"


REALS = Domain()


class Op:
    """One operation.

    Attributes
    ----------
    name : str
        The name in texts, recordings and the registry.
    kernel : callable
        Arrays in, array (or tuple of arrays) out.
    rules : tuple of callable, callable, None or ``UNREGISTERED``
        One rule for each input, one for all, None if the op is not differentiable.
    symbol, latex, locals_latex, sentence : str
        How it is written: on a node, as a formula with ``{0}``, ``{1}`` for the inputs, the factor that each input's
        contribution is multiplied by, and the words of the stepper.
    expression : str or callable
        What a fused loop computes for one element: arithmetic on ``{0}``, ``{1}`` for the inputs, on ``zero``, ``one``,
        ``infinity`` and ``number(0.5)``, and calls of ``exp expm1 log log1p sqrt abs tanh sigmoid softplus erf erfc
        normal_cdf erfinv erfcinv ndtri lgamma digamma trigamma tetragamma bessel_i0 bessel_i0e power floor ceil nearest
        floor_divide remainder larger smaller choose``, and Bessel functions up to ``bessel_i2``; ``sin({0})``,
        ``cos({0})`` and ``tan({0})`` stand alone.  Where the text depends on a parameter or on a constant, a function
        of ``(constants, **params)``, which has a NumPy scalar for each input that is one known finite number, else
        None; it may return None.  An op without an expression is not fused: it runs with its kernel.
    keeps : str
        What its rules read: 'all', 'inputs', 'other input' (of two inputs the rule of each reads the other), 'output',
        'output and input 1' or 'nothing'; tapes let go of the rest of large values.
    stacked : bool
        Whether its rules take cotangents with extra leading axes.
    dtypes : str
        What an op without parameters requires of its operands: 'floating', 'same' or 'any'; '' with parameters.
    warns : bool
        Whether NumPy's own Python modules may warn while the kernel runs; kernels that call ufuncs themselves set it
        to False and save half a microsecond.
    part : callable, optional
        For an op that takes a part of its one input: that part of an array, with the op's parameters, as a view.  What
        the op contributes to an adjoint is then added to the part alone.
    rows : callable, optional
        For an op that takes rows of its first input: from `ops`, the cotangent, the inputs and the parameters, the
        pair of a cotangent and the positions of its rows, or None where the gradient is dense.
    steps : bool
        Whether its rules give 0 for every real cotangent.  A sweep then computes no contribution; the attribute holds
        these rules, False without, and others in their place are called.
    apply : callable
        The op itself, on tensors; calling the `Op` calls it.
    """

    __slots__ = (
        "apply", "arity", "doc", "domain", "dtypes", "elementwise", "expression", "keeps", "kernel", "latex",
        "locals_latex", "name", "operator", "part", "registered", "rows", "rules", "sentence", "stacked",
        "steps", "symbol", "warns",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        rules: tuple[Rule | None, ...] | Rule | str | None,
        arity: int | None = None,
        *,
        symbol: str = "",
        latex: str = "",
        locals_latex: tuple[str, ...] = (),
        sentence: str = "",
        expression: str | Callable[..., str | None] = "",
        domain: tuple[Domain, ...] = (REALS,),
        keeps: str = "all",
        stacked: bool = True,
        elementwise: bool = False,
        dtypes: str = "",
        warns: bool = True,
        registered: str = "",
        operator: str = "",
        part: Callable[..., Any] | None = None,
        rows: Callable[..., Any] | None = None,
        steps: bool = False,
        doc: str = "",
    ) -> None:
        self.name, self.kernel, self.rules, self.arity = name, kernel, rules, arity
        self.symbol, self.latex, self.locals_latex = symbol, latex, locals_latex
        self.sentence, self.expression, self.domain = sentence, expression, domain
        self.keeps, self.stacked, self.elementwise, self.warns = keeps, stacked, elementwise, warns
        self.registered, self.operator, self.doc, self.dtypes = registered, operator, doc, dtypes
        self.part, self.rows = part, rows
        self.steps = steps and rules
        self.apply: Callable[..., Any] = _undeclared

    def __repr__(self) -> str:
        return f"<Op {self.name!r}>"

    def __call__(self, *inputs: Any, **params: Any) -> Any:
        """Apply the op to tensors."""
        return self.apply(*inputs, **params)

    @property
    def __name__(self) -> str:
        """The name, under which functions have it too."""
        return self.name

    @property
    def differentiable(self) -> bool:
        """Whether gradients pass, or would if the rule were there."""
        return self.rules is not None

    def describe(self) -> tuple[Any, ...]:
        """Return the fields of an `OpDescribed` event."""
        return (
            self.name,
            self.symbol or self.name,
            self.latex,
            self.locals_latex,
            self.sentence,
            self.elementwise,
            self.differentiable,
        )


def _undeclared(*inputs: Any, **params: Any) -> Any:
    raise TypeError("This op belongs to a single call of a user-defined function and cannot be applied again.")


class Registry(dict[str, Op]):
    """Ops by name.  Families load late, so a question that depends on all ops loads them all.

    Examples
    --------
    >>> "erf" in REGISTRY, "no such op" in REGISTRY
    (True, False)
    """

    def __missing__(self, name: str) -> Op:
        find_ops(name)
        found = dict.get(self, name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        if not dict.__contains__(self, name):
            find_ops(str(name))
        return dict.__contains__(self, name)

    def __iter__(self) -> Iterator[str]:
        find_ops()
        return dict.__iter__(self)

    def __len__(self) -> int:
        find_ops()
        return dict.__len__(self)

    def get(self, name: str, default: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the op of a name, or the default."""
        if name in self:
            return self[name]
        return default

    def keys(self) -> Any:
        """Return the names of all ops."""
        find_ops()
        return dict.keys(self)

    def values(self) -> Any:
        """Return all ops."""
        find_ops()
        return dict.values(self)

    def items(self) -> Any:
        """Return the names and ops, all of them."""
        find_ops()
        return dict.items(self)


REGISTRY = Registry()


def register(op: Op) -> Op:
    """Put an op into the registry; names are unique."""
    if dict.__contains__(REGISTRY, op.name):
        raise KeyError(f"an op named {op.name!r} is already registered")
    REGISTRY[op.name] = op
    return op


def registered_gradients() -> tuple[str, ...]:
    """Return the names of the ops that have a derivative rule, in TensorFlow's spelling where it has one.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> "MatMul" in lab.registered_gradients()
    True
    """
    return tuple(sorted(_registered_names()))


def _registered_names() -> Iterator[str]:
    for op in REGISTRY.values():
        if op.rules is not None and op.rules != UNREGISTERED:
            yield op.registered or op.name
