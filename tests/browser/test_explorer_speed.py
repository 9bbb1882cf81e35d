"""The speed of the explorer is printed, never asserted; what is asserted is that the work was done."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage
from tests.browser.pages import explorer, read_step, save, take_focus

Figure = Callable[[str, str], None]
STEPS = 15

PRESS = """async ({ root, key, times }) => {
    const target = root.querySelector(".graph");
    const handled = [], drawn = [];
    for (let count = 0; count < times; count += 1) {
        const start = performance.now();
        target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        root.querySelector(".halo").getBoundingClientRect();  // what changed is laid out before the clock stops
        handled.push(performance.now() - start);
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
        drawn.push(performance.now() - start);
    }
    return { handled, drawn };
}"""


def small_ops(count: int, blocks: int = 0) -> Recording:
    """Record `count` ops on vectors of 8 numbers, each reading recent values, and the gradient; in scopes if wanted."""
    chance = np.random.default_rng(0)
    leaves = [lab.Variable(chance.uniform(-1, 1, 8).astype(np.float32), name=f"x{at}") for at in range(4)]
    ops = [lab.sin, lab.tanh, lab.add, lab.multiply]
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            values = list(leaves)
            for at in range(count - 1):
                op = ops[int(chance.integers(len(ops)))]
                other = values[int(chance.integers(max(0, len(values) - 12), len(values)))]
                with lab.name_scope(f"block{at * blocks // count}" if blocks else "all"):
                    values.append(op(values[-1]) if op in ops[:2] else op(values[-1], other))
            result = lab.reduce_sum(values[-1])
        tape.gradient(result, leaves)
    if not blocks:  # one scope would fold all; the first view must cope with 500 ops that nobody grouped
        return _without_scopes(recording)
    return recording


def _without_scopes(recording: Recording) -> Recording:
    applications = tuple(replace(application, scope="") for application in recording.applications)
    tensors = {key: replace(record, scope="") for key, record in recording.tensors.items()}
    return replace(recording, applications=applications, tensors=tensors)


def percentiles(times: list[float]) -> str:
    middle, high = np.percentile(times, [50, 95])
    return f"{middle:.1f} ms median, {high:.1f} ms at the 95th percentile"


@pytest.mark.slow
def test_a_step_at_500_nodes(open_page: OpenPage, tmp_path: Path, figure: Figure) -> None:
    file = save(small_ops(500), tmp_path)
    figure("explorer, page with 500 ops and every value", f"{file.stat().st_size / 1000:.0f} kB")
    view = open_page(file)
    view.page.emulate_media(reduced_motion="no-preference")
    root = explorer(view.page)
    assert root.locator(".box").count() >= 500
    take_focus(root)
    view.page.keyboard.press("Home")
    before = read_step(root)["step"]
    times = view.page.evaluate(PRESS, {"root": root.element_handle(), "key": "ArrowRight", "times": STEPS})
    assert read_step(root)["step"] == before + STEPS
    figure("explorer, step at 500 nodes, key to changed DOM", percentiles(times["handled"]))
    figure("explorer, step at 500 nodes, key to next frame", percentiles(times["drawn"]))


@pytest.mark.slow
def test_opening_2000_ops_in_scopes(open_page: OpenPage, tmp_path: Path, figure: Figure) -> None:
    recording = small_ops(2000, blocks=40)
    assert len(recording.order) >= 4000
    start = time.perf_counter()
    file = save(recording, tmp_path)
    made = time.perf_counter()
    view = open_page(file)
    root = explorer(view.page)
    opened = time.perf_counter()
    assert "×40" in (root.locator(".box.loop").text_content() or "")
    told = f"scene and page {made - start:.2f} s, opening {opened - made:.2f} s, {file.stat().st_size / 1e6:.2f} MB"
    figure("explorer, 2,000 ops in 40 scopes", told)


def test_the_page_of_a_small_program(tmp_path: Path, figure: Figure) -> None:
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * x + lab.sin(x)
        tape.gradient(y, x)
    size = save(recording, tmp_path).stat().st_size
    figure("explorer, page of x*x + sin(x)", f"{size / 1000:.0f} kB")
    assert size < 130_000


@pytest.mark.slow
def test_the_page_of_500_ops_is_below_a_megabyte(tmp_path: Path) -> None:
    assert save(small_ops(500), tmp_path).stat().st_size < 1_000_000
