"""The pool: every item once, in order, whatever the number of threads; errors, forks and nested calls included."""

import os
import threading

import pytest

from autodiff_lab.kernels.base.threads import spread, thread_count


@pytest.fixture(autouse=True)
def four_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODIFF_LAB_THREADS", "4")


@pytest.mark.parametrize("size", [0, 1, 3, 4, 1001])
def test_ranges_make_up_the_whole_in_order(size: int) -> None:
    met = [i for part in spread(lambda low, high: list(range(low, high)), size) for i in part]
    assert met == list(range(size))


def test_small_work_stays_in_one_range() -> None:
    assert spread(lambda low, high: (low, high), 99, least=100) == [(0, 99)]
    assert spread(lambda low, high: (low, high), 200, least=100) == [(0, 100), (100, 200)]


def test_ranges_run_side_by_side() -> None:
    meeting = threading.Barrier(4, timeout=30)
    spread(lambda low, high: meeting.wait(), 4)  # passes only if all four are there at once


def test_an_error_comes_out_after_every_range_has_ended() -> None:
    ended: list[int] = []

    def run(low: int, high: int) -> None:
        if low == 0:
            raise ValueError("the first range")
        ended.append(low)

    with pytest.raises(ValueError, match="the first range"):
        spread(run, 4)
    assert sorted(ended) == [1, 2, 3]


def test_an_error_in_another_thread_comes_out_too() -> None:
    def run(low: int, high: int) -> None:
        if low == 2:
            raise ValueError("the third range")

    with pytest.raises(ValueError, match="the third range"):
        spread(run, 4)


def test_a_call_from_within_works_alone() -> None:
    inner = spread(lambda low, high: len(spread(lambda a, b: b - a, 100)), 4)
    assert inner[1:] == [1, 1, 1]


def test_eight_threads_share_the_pool() -> None:
    sums: list[int] = []

    def work() -> None:
        sums.extend(sum(spread(lambda low, high: high - low, 1000)) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [1000] * 400


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_makes_its_own_pool() -> None:
    assert sum(spread(lambda low, high: high - low, 100)) == 100
    child = os.fork()
    if child == 0:
        os._exit(0 if sum(spread(lambda low, high: high - low, 100)) == 100 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_number_of_threads_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    assert thread_count() == 4
    monkeypatch.delenv("AUTODIFF_LAB_THREADS")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert thread_count() >= 1
