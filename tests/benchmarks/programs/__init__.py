"""Programs as users write them, each at three sizes: the rows that show where this engine is slow.

`program` says how one is defined.  None of them is tuned to, and none is left out because it is slow.
"""

from __future__ import annotations

from tests.benchmarks.programs.densities import Flow, MixtureDensity, Variational
from tests.benchmarks.programs.factorizations import Eigh, GaussianProcess, Svd
from tests.benchmarks.programs.fields import Heat, NeuralOde, SpectralFilter
from tests.benchmarks.programs.geometry import BundleAdjustment, Rendering
from tests.benchmarks.programs.images import Separable, Unet
from tests.benchmarks.programs.iterations import Kalman, Newton, Sinkhorn
from tests.benchmarks.programs.nested import HessianVector, Maml, Pinn
from tests.benchmarks.programs.networks import Causal, Residual, Transformer
from tests.benchmarks.programs.program import SCALES, TEST, Program
from tests.benchmarks.programs.recurrent import Gru, Lstm
from tests.benchmarks.programs.simulations import Gravity, Pendulum
from tests.benchmarks.programs.structures import GraphConvolution, RandomField
from tests.benchmarks.programs.training import AdamMlp, Embedding, SoftmaxRegression, Vae

KINDS: tuple[type[Program], ...] = (
    Transformer, Lstm, Gru, Residual, AdamMlp, Vae, GaussianProcess, Gravity, Pendulum, SoftmaxRegression, Embedding,
    Causal, HessianVector, Maml, Pinn, Svd, Eigh, Unet, Separable, Flow, MixtureDensity, Variational, Newton, Sinkhorn,
    Kalman, RandomField, GraphConvolution, BundleAdjustment, Rendering, Heat, SpectralFilter, NeuralOde,
)  # fmt: skip
PROGRAMS: dict[str, Program] = {row.name: row for kind in KINDS for row in map(kind, SCALES)}
TESTED: dict[str, Program] = {kind.program: kind(TEST) for kind in KINDS}
"""Each program once, at a size that can be differentiated numerically."""
