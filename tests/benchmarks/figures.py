"""The figures as they are stored: a JSON file, with as many digits as a measurement has."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.benchmarks.catalog import NAMES
from tests.benchmarks.libraries import PEERS

Figures = dict[str, Any]
DIGITS = 4


def as_json(figures: Figures) -> str:
    """The figures as text: keys in the order of the table, four significant digits, a library's figures on one line."""
    text = json.dumps(_rounded(figures), indent=1, ensure_ascii=False)
    return re.sub(r"\{[^{}]*\}", lambda inner: " ".join(inner.group().split()), text) + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def merged(kept: Figures, new: Figures) -> Figures:
    """The kept figures with the new ones in their place: a case is replaced whole, as its ratios belong together."""
    rows = {**kept.get("rows", {}), **new["rows"]}
    return {
        **kept,
        **new,
        "rows": {name: rows[name] for name in NAMES if name in rows},
        "probes": {**kept.get("probes", {}), **new["probes"]},
        "peers": {**kept.get("peers", {}), **new["peers"]},
    }


def measured(row: dict[str, dict[str, Any]], key: str = "cpu") -> dict[str, float]:
    """Which libraries have a figure in a row, in the order of the table."""
    return {
        peer: row[peer][key] for peer in PEERS if row.get(peer, {}).get(key) is not None and "missing" not in row[peer]
    }


def best(row: dict[str, dict[str, Any]], key: str = "cpu") -> tuple[str, float]:
    """The leader of a row and its figure; by hand is not a library."""
    rated = {peer: value for peer, value in measured(row, key).items() if PEERS[peer].rated}
    return min(rated.items(), key=lambda item: item[1])


def seconds(value: float | None) -> str:
    """A time for people: three digits and a unit."""
    if value is None:
        return "–"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale * 0.9995:
            return f"{_digits(value / scale)} {unit}"
    return f"{_digits(value / 1e-9)} ns"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def ratio(value: float) -> str:
    """A ratio for people: two digits up to 100, whole numbers beyond."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def megabytes(value: float | None) -> str:
    """Bytes for people."""
    return "–" if value is None else f"{value / 2**20:.0f} MB"
