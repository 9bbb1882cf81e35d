"""Record, draw, explain and compile; print what came of it as a line of JSON, in any Python with NumPy and SciPy."""

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import autodiff_lab as lab


def main() -> dict[str, Any]:
    """Use what the package promises without Numba, widgets, threads and processes, and return what came of it."""
    w, b, unused = lab.Variable(0.5, name="w"), lab.Variable(-0.2, name="b"), lab.Variable(1.0, name="unused")
    with lab.record("one neuron") as recording:
        with lab.GradientTape() as tape:
            z = w * 2.0 + b
            out = lab.tanh(z)
            loss = (out - 1.0) ** 2
        slopes = tape.gradient(loss, [w, b, unused])

    @lab.function
    def slope(x: lab.Tensor) -> lab.Tensor:
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = lab.reduce_sum(lab.sin(x) * x)
        return inner.gradient(y, x)

    with tempfile.TemporaryDirectory() as folder:
        page, saved = Path(folder, "page.html"), Path(folder, "neuron.json")
        recording.to_html(page)
        recording.save(saved)
        html = page.read_text(encoding="utf-8")
        loaded = lab.load_recording(saved)
    return {
        "slopes": [None if s is None else round(float(s), 5) for s in slopes],
        "text": recording.to_text(),
        "svg": recording.to_svg().startswith("<svg"),
        "page": "<svg" in html and "one neuron" in html,
        "loaded": loaded.to_text(lines=False) == recording.to_text(lines=False),
        "why": str(recording.explain(loss, unused)),
        "compiled": [round(float(v), 5) for v in slope(lab.constant([1.0, 2.0, 3.0])).numpy()],
        "how": slope.why(),
        "layer": list(lab.keras.layers.Dense(3, activation="relu")(lab.ones((2, 4))).shape),
        "numba": find_spec("numba") is not None,
    }


if __name__ == "__main__":
    print("FACTS " + json.dumps(main(), sort_keys=True))
