"""Random typed programs: ours and TensorFlow's values, dtypes, shapes and gradients are the same.

Without TensorFlow, its stored results for the programs of 300 seeds are read from a file. With it, as many seeds as the
environment variable FUZZ_COUNT says are run; every difference must have a row in docs/differences.md.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec

import pytest

import autodiff_lab as lab
from tests.amputation import AWAY
from tests.peers.__main__ import main
from tests.peers.programs.answers import SEEDS, stored
from tests.peers.programs.compare import Difference, differences
from tests.peers.programs.explained import ROWS, explanation
from tests.peers.programs.peers import Peer
from tests.peers.programs.run import found
from tests.tree import ROOT

DOCUMENTED = (lab.errors.LabError, NotImplementedError)


def test_the_answers_that_tensorflow_gave_are_ours() -> None:
    ours, wrong, seeds = Peer(lab), list[str](), set[int]()
    for seed, call, arrays, expected in stored():
        if AWAY & {call.function, call.function.rpartition(".")[0]}:
            continue
        seeds.add(seed)
        wrong += [
            f"seed {seed}: {call}: {difference.what}: {difference.words}"
            for difference in differences(ours.ask(call, arrays), expected, DOCUMENTED)
        ]
    assert not wrong, "\n".join(wrong)
    assert len(seeds) > 0.9 * SEEDS


def test_a_wrong_rule_or_value_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail."""
    from autodiff_lab.engine.op import REGISTRY

    monkeypatch.setattr(REGISTRY["sin"], "rules", (lambda ops, g, out, x: g * ops.cos(x) * 1.01,))
    ordinary = [
        row
        for row in stored()
        if row[1].function == "sin" and row[2][row[1].args[0].at].dtype == "float32"
        for gradient in (row[3].first or ())[:1]
        if gradient is not None and gradient.array.size
    ]
    assert ordinary
    assert any(differences(Peer(lab).ask(call, arrays), expected, DOCUMENTED) for _, call, arrays, expected in ordinary)


def test_every_row_can_be_asked_about_every_statement() -> None:
    """A test of a row that raises would end the comparison of all programs after it."""
    for _, call, arrays, expected in stored():
        for what, items in (("values", expected.values), ("second gradient", expected.second)):
            for mine in (item.array for item in items or [] if item is not None):
                explanation(call, arrays, Difference(what, "it differs", mine, mine))
        explanation(call, arrays, Difference("error", "raises"))


def test_every_explained_difference_has_a_row_in_the_documents() -> None:
    page = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    assert not [name for name, _ in ROWS if f"| {name} |" not in page]


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="TensorFlow is not installed, so there is no peer to ask")
def test_programs_agree_with_tensorflow(figure: Callable[[str, str], None]) -> None:
    count = int(os.environ.get("FUZZ_COUNT", str(SEEDS)))
    rows = [row for row in found(0, count) if "counts" not in row]
    crashes = [row["seed"] for row in rows if "crash" in row]
    wrong = [
        f"seed {r['seed']}: {r['call']}\n  over {r['over'][:300]}\n  {r['differs'][:300]}"
        for r in rows
        if not r.get("row", True)
    ]
    explained = Counter(row["row"] for row in rows if row.get("row"))
    figure(
        "random programs compared with TensorFlow",
        f"{count - len(crashes)}, {len(wrong)} unexplained differences, {len(crashes)} crashes of the peer",
    )
    for name, times in explained.most_common():
        figure(f"explained: {name}", str(times))
    assert not wrong, "\n".join(wrong)


def test_a_comparison_that_fails_is_not_taken_for_a_crash_of_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(RuntimeError, match="the comparison of seed 7 failed"):
        list(found(7, 9))


def test_what_a_python_lacks_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("tests.peers.__main__.NEEDED", ("numpy", "no_such_module", "no_other_module"))
    assert main([]) == 2
    assert "does not have no_such_module, no_other_module: install" in capsys.readouterr().err
