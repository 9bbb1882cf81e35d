"""Expect an error by its text, without the line of the user that it quotes: a table of tests holds the words itself."""

import re
from collections.abc import Generator
from contextlib import contextmanager

import pytest


@contextmanager
def refused(error: type[BaseException], words: str) -> Generator[pytest.ExceptionInfo[BaseException]]:
    """Expect an error whose text matches, the user's line apart."""
    with pytest.raises(error) as caught:
        yield caught
    text = re.sub(r"\n  at [^\n]*", "", str(caught.value))
    assert re.search(words, text), f"{words!r} is not in {text!r}"
