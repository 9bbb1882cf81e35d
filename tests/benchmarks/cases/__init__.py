"""The programs of the table, in its order."""

from __future__ import annotations

from tests.benchmarks.cases.case import Case
from tests.benchmarks.cases.checkpoint import CheckpointOff, CheckpointOn
from tests.benchmarks.cases.conv_large import ConvLarge
from tests.benchmarks.cases.conv_seed import ConvSeed
from tests.benchmarks.cases.elementwise_1m import Elementwise
from tests.benchmarks.cases.gather import Gather, GatherSparse
from tests.benchmarks.cases.hessian_rosenbrock import HessianRosenbrock
from tests.benchmarks.cases.jacobian_100 import Jacobian
from tests.benchmarks.cases.scalar_chain import ScalarChain
from tests.benchmarks.cases.second_derivative import SecondDerivative
from tests.benchmarks.cases.small_mlp_step import SmallMlpStep
from tests.benchmarks.cases.softmax_xent_large import SoftmaxCrossEntropy

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        ScalarChain(),
        SmallMlpStep(),
        Elementwise(),
        ConvSeed(),
        ConvLarge(),
        Jacobian(),
        HessianRosenbrock(),
        SecondDerivative(),
        Gather(),
        GatherSparse(),
        SoftmaxCrossEntropy(),
        CheckpointOff(),
        CheckpointOn(),
    )
}
IMPORT = "import"
"""The case that is not a program: the import statement, in a fresh process each time."""
NAMES = (*CASES, IMPORT)
