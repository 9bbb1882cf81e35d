"""A new elementwise op is one block in one file: drawn, explained, differentiated, checked by the tests and fused."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.op import REGISTRY
from tests.ops import test_derivatives as derivatives

MODULE = '''
"""A family of one op."""

import numpy as np

from autodiff_lab.engine.apply import unary

bump = unary(
    "bump", lambda x: x * np.exp(-(x * x)), lambda ops, g, out, x: g * (ops.exp(-(x * x)) * (1 - 2 * (x * x))),
    symbol="bump", latex="{0} e^{{-{0}^2}}", locals_latex=("(1 - 2 {0}^2) e^{{-{0}^2}}",),
    sentence="weighs {0} by a bell", expression="{0} * exp(-({0} * {0}))", keeps="inputs",
    doc="x e^(-x²), elementwise.",
)
'''


CHECKS = (
    derivatives.test_first_order_agrees_with_differences,
    derivatives.test_second_order_agrees_with_differences_of_the_first,
    derivatives.test_a_recorded_sweep_equals_a_raw_one_to_the_last_bit,
)


@pytest.fixture
def family(tmp_path: Path) -> Iterator[ModuleType]:
    path = tmp_path / "family_of_one.py"
    path.write_text(MODULE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("family_of_one", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[spec.name]
        REGISTRY.pop("bump", None)


def test_it_is_drawn_and_explained(family: ModuleType) -> None:
    x = lab.Variable(0.5, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = family.bump(x)
        tape.gradient(y, x)
    assert ">bump<" in recording.to_svg()
    assert "= bump(%0)" in recording.to_text()
    assert "bump" in str(recording.ledger(x))


def test_the_table_of_ops_checks_it(family: ModuleType) -> None:
    for check in CHECKS:
        check("bump")


def test_it_is_fused(family: ModuleType) -> None:
    pytest.importorskip("numba", reason="loops need Numba")
    x = lab.constant(np.linspace(-2.0, 2.0, 1000, dtype=np.float32))

    def chain(x: lab.Tensor) -> lab.Tensor:
        return family.bump(x) * 2.0 + 1.0

    compiled = lab.function(chain)
    compiled(x)
    np.testing.assert_allclose(compiled(x).numpy(), chain(x).numpy(), rtol=1e-6)
    (kernel,) = compiled.kernels
    assert "x_i * exp(-(x_i * x_i))" in kernel.source
    assert compiled.skipped == ()
