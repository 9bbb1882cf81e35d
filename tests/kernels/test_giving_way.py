"""NumPy's OpenBLAS leaves a processor to the compiler while that runs, and gets its threads back."""

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest

from autodiff_lab.kernels.base import compiler
from autodiff_lab.kernels.matmul import giving_way
from autodiff_lab.kernels.matmul.giving_way import leaving_a_processor

BEFORE = 4


def await_the_background() -> None:
    """Wait until the background has done all jobs and given its processor back."""
    compiler.wait()
    while giving_way._lowered:
        time.sleep(0.001)


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The threads of OpenBLAS, four of them, on what seems to be a machine with four processors."""
    found = next(iter(giving_way.libraries()), None)
    if found is None:
        pytest.skip("NumPy was not built with OpenBLAS")
    await_the_background()  # other tests may have asked for something
    monkeypatch.setattr(giving_way, "processors", lambda: 4)
    before = found.read()
    found.write(BEFORE)
    yield found
    found.write(before)


def test_one_processor_is_left_and_given_back(threads: Any) -> None:
    with leaving_a_processor():
        assert threads.read() == 3
    assert threads.read() == BEFORE


def test_the_last_thread_stays(threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(giving_way, "processors", lambda: 1)
    with leaving_a_processor():
        assert threads.read() == 1
    assert threads.read() == BEFORE


def test_fewer_threads_than_processors_are_left_as_they_are(threads: Any) -> None:
    threads.write(2)
    with leaving_a_processor():
        assert threads.read() == 2
        threads.write(4)
    assert threads.read() == 4


def test_what_somebody_else_sets_meanwhile_stays(threads: Any) -> None:
    with leaving_a_processor():
        threads.write(2)
    assert threads.read() == 2
    threads.write(BEFORE)
    with leaving_a_processor():
        assert threads.read() == 3
    assert threads.read() == BEFORE


def test_who_comes_second_neither_lowers_nor_restores(threads: Any) -> None:
    with leaving_a_processor():
        with leaving_a_processor():
            assert threads.read() == 3
        assert threads.read() == 3
    assert threads.read() == BEFORE


def test_an_error_restores_the_threads(threads: Any) -> None:
    with pytest.raises(OSError, match="no room"), leaving_a_processor():
        raise OSError("no room")
    assert threads.read() == BEFORE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_all_threads(threads: Any) -> None:
    with leaving_a_processor():
        child = os.fork()
        if child == 0:
            os._exit(threads.read())
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == BEFORE
        assert threads.read() == 3


def test_every_library_gives_way() -> None:
    pytest.importorskip("scipy.linalg", reason="SciPy has an OpenBLAS of its own")
    counts = [each.read() for each in giving_way.libraries()]
    with leaving_a_processor():
        lowered = [each.read() for each in giving_way.libraries()]
    most = max(1, giving_way.processors() - 1)
    assert lowered == [min(count, most) for count in counts]
    assert [each.read() for each in giving_way.libraries()] == counts


def test_other_libraries_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(giving_way, "loaded_with", lambda module: iter(()))
    assert giving_way.libraries() == []
    with leaving_a_processor():
        pass


def test_jobs_of_the_background_have_a_processor(threads: Any) -> None:
    told: list[int] = []

    def job() -> None:
        told.append(threads.read())
        raise RuntimeError("the next job has one too")

    compiler.ask(job)
    compiler.ask(job)
    await_the_background()
    assert told == [3, 3]
    assert threads.read() == BEFORE
