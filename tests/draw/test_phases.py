"""Phases and held bytes, from tables written by hand: y = x·x + sin x, its gradient, and what an outer tape records."""

from typing import Any

from autodiff_lab.draw.phases import held, phases

FLOWS = [[[0, 1], [1, 2]], [[0, 0]], [[0, 0], [1, 0]]]
TABLES: dict[str, Any] = {
    "tensors": {
        "0": ["x", "variable", 0, -1, 0, 1], "1": ["", "output", 1, 0, 0, 1, "x * x"],
        "2": ["", "output", 2, 1, 0, 1, "sin(x)"], "3": ["y", "output", 3, 2, 0, 1],
        "4": ["two", "constant", 0, -1, -1, 0], "5": ["w", "variable", 4, -1, -1, 1],
    },
    "applications": {
        "0": [0, [0, 0], [1], 0, 0, 1, "", ""], "1": [1, [0], [2], 0, 0, 2, "", ""],
        "2": [2, [1, 2], [3], 0, 0, 3, "", ""],
    },
    "steps": [[0], [1], [2], [2, 0, [4], FLOWS[0]], [1, 0, [4], FLOWS[1]], [0, 0, [4], FLOWS[2]]],
    "sweeps": [[[3], [4], [0, 5], [7, -1], 1, 0]],
    "measures": {"bytes": {str(number): 4 for number in range(6)}},
}  # fmt: skip


def test_a_second_sweep_is_a_phase_of_its_own_and_forward_sweeps_have_their_name() -> None:
    assert phases(TABLES) == ([[-1, 1, 3], [0, 4, 6]], ["backward"])
    again = {**TABLES, "steps": [*TABLES["steps"], [1, 1, [4], [[0, 0]]]]}
    again["sweeps"] = [*TABLES["sweeps"], [[2], [4], [0], [5], 1, -1, [], 1]]
    assert phases(again) == ([[-1, 1, 3], [0, 4, 6], [1, 7, 7]], ["backward 1", "tangents 2"])
    assert phases({**TABLES, "steps": [], "sweeps": []}) == ([], [])


def test_ops_that_a_rule_ran_belong_to_their_backward_pass() -> None:
    """Also the one that comes after the last step of the pass, but before the pass through it begins."""
    tensors = {"6": ["", "output", 5, 3, 0, 1, "cos(x)"], "7": ["dy", "output", 7, 4, 0, 1]}
    rules = {"3": [1, [0], [6], 0, 0, 5, "", "", "of sin", 1], "4": [2, [6, 6], [7], 0, 0, 8, "", "", "of sin", 1]}
    steps = [*TABLES["steps"][:4], [3], *TABLES["steps"][4:], [4], [4, 1, [4], [[0, 6]]]]
    nested = {
        "tensors": TABLES["tensors"] | tensors, "applications": TABLES["applications"] | rules, "steps": steps,
        "sweeps": [*TABLES["sweeps"], [[7], [4], [0], [5], 1, 0]],
    }  # fmt: skip
    assert phases(nested) == ([[-1, 1, 3], [0, 4, 8], [1, 9, 9]], ["backward 1 from y", "backward 2 from dy"])


def test_held_are_variables_from_the_start_results_until_their_op_is_visited_gradients_until_theirs_is() -> None:
    # x, w and an unused constant; x·x; sin x; y; the gradients of x·x and sin x; of x, and sin x goes with its
    # gradient; x·x goes with its own.  Variables, their gradients and what no op takes stay.
    assert held(TABLES) == [12, 16, 20, 24, 32, 28, 20]
    assert held({**TABLES, "measures": {}}) == []
