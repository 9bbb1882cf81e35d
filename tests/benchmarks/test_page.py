"""The page on performance agrees with the stored figures."""

from __future__ import annotations

import json

import pytest

from tests.benchmarks import page, standing, tables
from tests.benchmarks.__main__ import FIGURES
from tests.benchmarks.catalog import NAMES
from tests.benchmarks.figures import Figures, as_json, merged, ratio, seconds
from tests.benchmarks.process import without_folders
from tests.tree import shown


def row(**cpu: float) -> dict[str, dict[str, float]]:
    """A row of the table."""
    return {name.replace("_", "-"): {"cpu": value, "wall": value} for name, value in cpu.items()}


def figures(**rows: dict[str, dict[str, float]]) -> Figures:
    return {"rows": rows, "probes": {}, "peers": {}, "machine": {}, "method": {}}


def test_the_pages_are_what_the_figures_say() -> None:
    kept = json.loads(FIGURES.read_text(encoding="utf-8"))
    stale = [shown(path) for path, text in page.pages(kept).items() if path.read_text(encoding="utf-8") != text]
    assert not stale, f"{stale}: write them again with `python -m tests.benchmarks --page`"
    assert FIGURES.read_text(encoding="utf-8") == as_json(kept)


def test_the_leader_is_bold_and_what_is_written_by_hand_leads_nothing() -> None:
    text = tables.table(figures(gather=row(lab=3e-3, torch=2e-3, numpy=1e-3)), tables.ratio_cell)
    assert text.splitlines()[-1] == "| `gather` | 1.5 | **1.0** | 0.50 |"


def test_a_case_that_is_behind_is_told() -> None:
    kept = figures(
        gather=row(lab=3e-3, lab_function=2.4e-3, torch=2e-3, jax=4e-3, numpy=1e-3), import_=row(lab=1.0, torch=9.0)
    )
    assert tables.misses(kept) == "- `gather`: lab.function takes 1.2 times as long as PyTorch."
    assert "1 of 2 cases and slower in `gather` (1.5)" in tables.eager_misses(kept)


def test_what_ran_op_by_op_is_told() -> None:
    kept = figures(gather=row(lab_function=1.0), import_=row(lab_function=1.0))
    kept["rows"]["gather"]["lab-function"]["fallbacks"] = 3
    kept["rows"]["import_"]["lab-function"]["fallbacks"] = 0
    assert "`gather` fallbacks=3" in tables.fallbacks(kept)


def test_a_library_that_failed_has_no_figure() -> None:
    broken = row(lab=1.0, torch=0.5)
    broken["torch"]["missing"] = "it ended with status 1"  # type: ignore[assignment]
    assert tables.table(figures(gather=broken), tables.ratio_cell).splitlines()[-1] == "| `gather` | **1.0** |"
    assert "left out: it ended with status 1" in page.line("gather", "torch", broken["torch"])


def test_a_case_measured_again_takes_the_place_of_the_old_one() -> None:
    old = figures(**{"gather": row(lab=1.0, torch=1.0), "import": row(lab=2.0)})
    both = merged(old, figures(gather=row(lab=5.0), scalar_chain=row(lab=3.0)))
    assert list(both["rows"]) == [name for name in NAMES if name in {"scalar_chain", "gather", "import"}]
    assert both["rows"]["gather"] == row(lab=5.0), "ratios belong to one run"


@pytest.mark.parametrize(
    ("value", "words"),
    [(1.234, "1.23 s"), (0.1234, "123 ms"), (9.996e-3, "10.0 ms"), (2.5e-6, "2.50 µs"), (3e-8, "30.0 ns")],
)
def test_times_have_three_digits(value: float, words: str) -> None:
    assert seconds(value) == words


@pytest.mark.parametrize(("value", "words"), [(1.0, "1.0"), (0.504, "0.50"), (9.96, "10"), (1234.5, "1,234")])
def test_ratios_are_as_exact_as_they_are(value: float, words: str) -> None:
    assert ratio(value) == words


def test_rows_are_sorted_by_how_far_they_are_behind() -> None:
    kept = figures(
        lstm_small=row(lab=6.0, lab_function=3.0, torch=3.0, jax=1.0),
        svd_large=row(lab=2.0, lab_function=2.0, torch=4.0, jax=4.0, torch_compile=2.5),
        gather_sparse=row(lab=9.0, lab_function=8.0, torch=1.0),
        eigh_small=row(lab=1.0, lab_function=5.0, torch=1.0, jax=1.0),
    )
    assert standing.ordered(kept) == ["eigh_small", "lstm_small", "svd_large", "gather_sparse"]
    lines = tables.all_rows(kept).splitlines()[2:]
    assert lines[1].split(" | ")[1:4] == ["3.0 (jax.jit)", "2.0", "6.00 s"]
    assert lines[2].split(" | ")[1:3] == ["0.80 (torch.compile)", "0.50"]
    assert lines[3].split(" | ")[1:3] == ["–", "9.0"], "no other library compiles it"


def test_shares_are_counted_over_rows_and_for_each_size() -> None:
    kept = figures(
        lstm_small=row(lab=6.0, lab_function=1.2, torch=3.0, jax=1.0),
        eigh_small=row(lab=1.0, lab_function=1.0, torch=1.0, jax=1.0),
        svd_large=row(lab=2.8, lab_function=4.0, torch=2.0, jax=1.0),
    )
    assert standing.shares(kept) == [
        ["all rows", "1 of 3", "2 of 3", "1.7", "1 of 3", "2 of 3", "1.4"],
        ["small programs", "1 of 2", "2 of 2", "1.1", "1 of 2", "1 of 2", "1.4"],
        ["large programs", "0 of 1", "0 of 1", "4.0", "0 of 1", "1 of 1", "1.4"],
    ]


def test_rows_that_moved_are_told() -> None:
    old = figures(lstm_small=row(lab=3.0, lab_function=3.0, torch=3.0, jax=1.0), eigh_small=row(lab=1.0, torch=1.0))
    new = figures(lstm_small=row(lab=3.1, lab_function=1.5, torch=3.0, jax=1.0), eigh_small=row(lab=1.3, torch=1.0))
    assert [line.split() for line in standing.moved(old, new)] == [
        ["lstm_small", "lab.function", "3.0", "->", "1.5,", "nearer"],
        ["eigh_small", "lab", "1.0", "->", "1.3,", "further", "behind"],
    ]
    assert standing.moved(old, old) == ["No row has moved by a tenth."]


def test_what_was_left_out_is_told_with_its_reason() -> None:
    kept = figures(svd_small=row(lab=1.0, torch_compile=1.0), svd_large=row(lab=1.0, torch_compile=1.0))
    for name in kept["rows"]:
        kept["rows"][name]["torch-compile"] = {"missing": "no compiler"}
    assert standing.left_out(kept) == ["- torch.compile in `svd_small`, `svd_large`: no compiler"]


def test_what_a_failed_library_said_names_no_folder() -> None:
    words = without_folders("ImportError: /a/b-1/c.so: no /d/e.py, ratio 1/2")
    assert words == "ImportError: …/c.so: no …/e.py, ratio 1/2"
