"""Phases of a scene: the forward pass, each backward pass with the ops that its rules ran, and what is held meanwhile.

All is read off the tables that `draw.scene` has made, whose columns stand there.
"""

from __future__ import annotations

from typing import Any

FORWARD = -1


def phases(payload: dict[str, Any]) -> tuple[list[list[int]], list[str]]:
    """Return the runs of steps of one kind, and the name of each sweep.

    Parameters
    ----------
    payload : dict
        The tables ``steps``, ``sweeps``, ``applications`` and ``tensors`` of a scene.

    Returns
    -------
    list of list of int
        Of each run the sweep, -1 for steps of the program, and the first and last step, counted from 1.
    list of str
        ``backward 2``; where one pass goes back through another, also where it begins.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab.draw.scene import scene
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = x * x
    ...     grad = tape.gradient(y, x)
    >>> phases(scene(recording))
    ([[-1, 1, 1], [0, 2, 2]], ['backward'])
    """
    steps, sweeps = payload["steps"], payload["sweeps"]
    within = _within(payload)
    runs: list[list[int]] = []
    for at, (row, inside) in enumerate(zip(steps, within, strict=True), start=1):
        sweep = max(_sweep(row), inside)
        if runs and runs[-1][0] == sweep:
            runs[-1][2] = at
        else:
            runs.append([sweep, at, at])
    nested = any(inside >= 0 for inside in within)
    names = []
    for at, (targets, *rest) in enumerate(sweeps, start=1):
        kind = "tangents" if rest[6:] and rest[6] else "backward"
        target = payload["tensors"].get(str(targets[0]), ()) if targets else ()
        begins = next((name for name in (*target[:1], *target[6:7]) if name), "")
        number = f" {at}" if len(sweeps) > 1 else ""
        names.append(f"{kind}{number}{f' from {begins}' if nested and begins else ''}")
    return runs, names


def _sweep(row: list[Any]) -> int:
    return next(iter(row[1:2]), FORWARD)


def _within(payload: dict[str, Any]) -> list[int]:
    """Return in which backward pass each op ran that is not of the program: an outer tape recorded it.

    That was the last one that had begun, unless the target of the next one was there already.
    """
    applications, tensors = payload["applications"], payload["tensors"]
    made = [max((tensors[str(t)][3] for t in row[0] if str(t) in tensors), default=-1) for row in payload["sweeps"]]
    found, now = [], FORWARD
    for row in payload["steps"]:
        application = applications.get(str(row[0]), ())
        inside = FORWARD
        if _sweep(row) >= 0:
            now = _sweep(row)
        elif any(root >= 0 for root in application[9:10]):
            after = now + 1
            if after < len(made) and (now < 0 or made[after] > made[now]) and row[0] > made[after]:
                now = after
            inside = now
        found.append(inside)
    return found


def held(payload: dict[str, Any]) -> list[int]:
    """Return the bytes of the values and gradients that exist after each step and that a later step can still read.

    Variables and what no op takes stay; a result goes once its op has been visited, its gradient with the same step.

    Parameters
    ----------
    payload : dict
        The tables ``steps``, ``applications``, ``tensors`` and ``measures`` of a scene.

    Returns
    -------
    list of int
        Before the first step, then after each; empty if the sizes are not known.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab.draw.scene import scene
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording:
    ...     y = x * x
    >>> held(scene(recording))
    [4, 8]
    """
    sizes = payload["measures"].get("bytes", {})
    if not sizes:
        return []
    applications, steps = payload["applications"], payload["steps"]
    end = len(steps) + 1
    read: dict[int, int] = {}
    arrived: dict[int, int] = {}
    taken: set[int] = set()
    for at, row in enumerate(steps, start=1):
        _, inputs, outputs, *_ = applications.get(str(row[0]), (None, (), ()))
        read |= dict.fromkeys((*inputs, *outputs), at)
        taken |= {*inputs}
        for flow in (flow for flows in row[3:] for flow in flows):
            arrived.setdefault(flow[1], at)
    change = [0] * (end + 1)
    for key, (_, kind, _, made, *_) in payload["tensors"].items():
        number, size = int(key), sizes.get(key, 0)
        if kind == "gradient":
            continue
        born = applications[str(made)][5] if str(made) in applications else None
        last = end if kind == "variable" or number not in taken else read.get(number, 0)
        spans = [(born or 0, last)]
        if number in arrived:
            spans.append((arrived[number], end if born is None else max(last, arrived[number])))
        for first, until in spans:
            change[first] += size
            change[until] -= size
    total, sums = 0, []
    for by in change[:end]:
        total += by
        sums.append(total)
    return sums
