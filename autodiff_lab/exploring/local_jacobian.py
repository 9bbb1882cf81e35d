"""`local_jacobian`: all derivatives of one op of a recording with respect to one of its inputs, at the recorded values.

A backward pass never builds this matrix: the rule of the op multiplies with it. Here it is built, from that same rule.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.jacobian import JacobianTable, svg
from autodiff_lab.draw.lines import cut
from autodiff_lab.errors import InvalidArgumentError, NotInRecording
from autodiff_lab.explain.expressions import spoken
from autodiff_lab.explain.subjects import subject
from autodiff_lab.recording.model import Application
from autodiff_lab.recording.recording import Recording
from autodiff_lab.teaching.program import number_of, registered_op

LARGEST = 1_000_000
"""Numbers in a matrix that is computed."""
DRAWN = 4096
"""Numbers in a matrix that is drawn."""


@dataclass(frozen=True, repr=False, eq=False)
class LocalJacobian:
    """The Jacobian of one op; in a notebook a map to walk with the arrow keys.

    Attributes
    ----------
    op : str
        The op.
    output, input : str
        Names of the result and of the input.
    array : numpy.ndarray
        float64, of the shape of the result followed by that of the input.
    """

    op: str
    output: str
    input: str
    array: np.ndarray[Any, Any]
    _table: JacobianTable

    def __repr__(self) -> str:
        matrix = self._table.matrix
        if matrix.size > DRAWN:
            return self._table.account()
        return (
            f"{self._table.account()}\n{np.array2string(matrix, precision=4, suppress_small=True, max_line_width=110)}"
        )

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the map, a picture of it where there are no widgets, and always the text."""
        if self._table.matrix.size > DRAWN:
            return {"text/plain": repr(self)}
        try:
            from autodiff_lab.widgets.jacobian_map import JacobianMap
        except ImportError:
            return {"text/plain": repr(self), "image/svg+xml": svg(self._table)}
        return JacobianMap(self._table)._repr_mimebundle_(**options)

    def _ipython_display_(self) -> None:
        """Show the map and its picture as two outputs, where widgets are installed."""
        try:
            from autodiff_lab.widgets.outputs import publish
        except ImportError:
            raise NotImplementedError from None
        publish(self)


def local_jacobian(recording: Recording, result: object, position: int = 0) -> LocalJacobian:
    """Compute all derivatives of one op of a recording with respect to one of its inputs.

    Parameters
    ----------
    recording : Recording
        A finished one; a loaded file will do.
    result : Tensor, int or str
        The result of the op: an object of the program, an id, or a name as the printed recording shows it.
    position : int
        Which input, from 0.  For ``x * x`` there are two of them.

    Returns
    -------
    LocalJacobian
        ``.array`` has the numbers, shape (*result, *input).

    Raises
    ------
    NotInRecording
        A `LookupError`: the name or id is not in the recording, or no recorded op made it.
    InvalidArgumentError
        There is no such input, the op has no derivative with respect to it, the recording kept only a summary of a
        value, or the matrix has more than a million numbers.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable([1.0, 2.0, 3.0], name="x")
    >>> with lab.record() as recording:
    ...     y = lab.cumsum(x)
    >>> lab.local_jacobian(recording, y).array
    array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]])
    """
    if not isinstance(recording, Recording):
        raise InvalidArgumentError(f"local_jacobian takes a recording, but this is a {type(recording).__name__}.")
    recording = recording.so_far()
    application, key = _made(recording, result)
    at = _position(recording, application, position)
    output, source = spoken(recording, key), spoken(recording, application.inputs[at])
    sizes = [recording.tensors[k].snapshot.size for k in (key, application.inputs[at])]
    if sizes[0] * sizes[1] > LARGEST:
        raise InvalidArgumentError(
            f"The Jacobian of {output} with respect to {source} has {sizes[0] * sizes[1]:,} numbers, and at most "
            f"{LARGEST:,} are computed. Record the op on smaller tensors."
        )
    array = _computed(recording, application, key, at)
    shapes = [recording.tensors[k].snapshot.shape for k in (key, application.inputs[at])]
    table = JacobianTable(array, shapes[0], shapes[1], cut(output), cut(source), None)
    return LocalJacobian(application.op, output, source, array, table)


def _made(recording: Recording, result: Any) -> tuple[Application, int]:
    who = subject(recording, result, "result")
    for key in reversed(who.tensors):
        index = recording.tensors[key].application
        if index is not None:
            return recording.applications[index], key
    raise NotInRecording(f"{who.name} is not the result of a recorded op. Name one that is, such as 'y' or '%1'.")


def _position(recording: Recording, application: Application, position: int) -> int:
    names = [f"{at}: {spoken(recording, key)}" for at, key in enumerate(application.inputs)]
    try:
        at = operator.index(position)
    except TypeError:
        at = -1
    if not 0 <= at < len(names):
        has = f"Its inputs are {', '.join(names)}." if names else "It has none."
        raise InvalidArgumentError(f"{application.op} has no input at position {position!r}. {has}")
    return at


def _computed(recording: Recording, application: Application, key: int, at: int) -> np.ndarray[Any, Any]:
    """Run the op on a tape, in float64, and return the Jacobian of the result."""
    op = registered_op(recording, application)
    name = spoken(recording, application.inputs[at])
    inputs = [lab.constant(number_of(recording, tensor)) for tensor in application.inputs]
    if op is None or not op.differentiable or not inputs[at].dtype.is_floating:
        raise InvalidArgumentError(f"{application.op} has no derivative with respect to {name}.")
    try:
        with lab.GradientTape() as tape:
            tape.watch(inputs[at])
            made = op(*inputs, **(application.params or {}))
            made = made[application.outputs.index(key)] if isinstance(made, tuple) else made
        found = tape.jacobian(made, inputs[at], unconnected_gradients=lab.UnconnectedGradients.ZERO)
    except Exception as error:
        raise InvalidArgumentError(
            f"{application.op} cannot be computed again from the recording ({type(error).__name__}: {error})."
        ) from error
    return found.numpy()
