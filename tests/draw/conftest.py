"""Golden files of the drawing tests: readable text, regenerated with one switch.

``RENEW_GOLDENS=1 python -m pytest tests/draw`` writes them again; review the difference before you keep it.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with the golden file of that name."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("RENEW_GOLDENS"):
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"{path.name} is missing; RENEW_GOLDENS=1 writes it."
        assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; RENEW_GOLDENS=1 renews it."

    return compare
