"""Watching a training in a real JupyterLab: the view follows, and a step opens in the explorer below."""

import pytest

from tests.browser.conftest import OpenNotebook, Screenshot
from tests.browser.pages import explorer

PROGRAM = """import time
import autodiff_lab as lab

lab.random.set_seed(0)
model = lab.Sequential([lab.layers.Dense(16, activation="relu"), lab.layers.Dense(1)])
x = lab.random.normal((32, 4))
y = lab.reduce_sum(x, axis=1, keepdims=True)
model.build((None, 4))
optimizer = lab.optimizers.SGD(0.05)
with lab.watch_training(model, every=10, steps=60, title="A line") as watch:
    for _ in range(60):
        with lab.GradientTape() as tape:
            loss = lab.reduce_mean((model(x) - y) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        watch.step(loss)
print(len(watch.losses))"""


@pytest.mark.slow
def test_a_training_is_followed_and_a_step_opens(open_notebook: OpenNotebook, screenshot: Screenshot) -> None:
    view = open_notebook([PROGRAM])
    root = view.page.locator(".lab-training")
    root.wait_for()
    assert "60 steps, ended, " in root.locator(".status").inner_text()
    assert root.locator("tbody tr").count() == 4
    assert root.locator("circle.gradient").count() == 4
    root.locator(".board").focus()
    before = root.locator(".sentence").inner_text()
    view.page.keyboard.press("Home")
    view.page.wait_for_function(
        "text => document.querySelector('.lab-training .sentence').textContent !== text", arg=before
    )
    assert root.locator(".sentence").inner_text().startswith("Step 1, loss")
    view.page.keyboard.press("End")
    view.page.keyboard.press("Enter")
    opened = explorer(view.page)
    assert "step" in opened.get_attribute("aria-label")
    screenshot(view, "watch-training")
