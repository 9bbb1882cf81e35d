"""Several processes that test ops in parallel; most of the time is spent compiling kernels, on one core each."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

ROOT = Path(__file__).parents[2]
SECONDS = 60
"""For one op; a kernel that waits for itself never ends."""
NO_TIME = "no time was left for it"
Task = tuple[str, str]


def judged(tasks: Iterable[Task], count: int = 0, seconds: float | None = None) -> dict[Task, dict[str, Any]]:
    """Judge ops, each a name and a mode, in `count` processes; by default one for every two cores, eight at most.

    After some seconds, those that the environment variable GPU_SECONDS has, no other op is begun.
    """
    waiting: SimpleQueue[Task] = SimpleQueue()
    for task in tasks:
        waiting.put(task)
    verdicts: dict[Task, dict[str, Any]] = {}
    count = count or max(1, min(8, (os.cpu_count() or 2) // 2))
    end = time.monotonic() + (float(os.environ.get("GPU_SECONDS", "inf")) if seconds is None else seconds)
    threads = [threading.Thread(target=_work, args=(waiting, verdicts, end)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return verdicts


def _work(waiting: SimpleQueue[Task], verdicts: dict[Task, dict[str, Any]], end: float) -> None:
    """Give tasks to a process until none is left; start another where one has ended."""
    worker: subprocess.Popen[str] | None = None
    while True:
        try:
            task = waiting.get_nowait()
        except Empty:
            break
        if time.monotonic() > end:
            verdicts[task] = {"verdict": "skipped", "seconds": 0, "why": [NO_TIME]}
            continue
        if worker is None or worker.poll() is not None:
            worker = _started()
        verdicts[task] = _asked(worker, task)
    if worker is not None:
        assert worker.stdin is not None
        worker.stdin.close()
        worker.wait(SECONDS)


def _started() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.gpu.worker"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _asked(worker: subprocess.Popen[str], task: Task) -> dict[str, Any]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    alarm = threading.Timer(SECONDS, worker.kill)
    alarm.start()
    try:
        worker.stdin.write(" ".join(task) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
    except OSError:
        line = ""
    finally:
        alarm.cancel()
    if line:
        return json.loads(line)
    worker.kill()
    return {"verdict": "failed", "seconds": 0, "why": [f"the process ended or took {SECONDS} s: {worker.wait()}"]}
