"""Programs as users write them, each at three sizes: the rows that show where this engine is slow.

`program` says how one is defined.  They are written plainly, not for what is fast here, and none is left out because it
is slow.
"""

from __future__ import annotations

from tests.benchmarks.programs.densities import (
    BayesianNetwork,
    Flow,
    MaskedFlow,
    MixtureDensity,
    SmallCovariances,
    Variational,
)
from tests.benchmarks.programs.energies import Hamiltonian, TotalVariation
from tests.benchmarks.programs.equations import DoublePendulum, Heston, LotkaVolterra
from tests.benchmarks.programs.evolution import Phylogeny
from tests.benchmarks.programs.factorizations import Eigh, GaussianProcess, Svd
from tests.benchmarks.programs.fields import Heat, NeuralOde, Ptychography, SpectralFilter, SpectralLoss, Wave
from tests.benchmarks.programs.generative import Diffusion, GradientPenalty, VqVae
from tests.benchmarks.programs.geometry import BundleAdjustment, RadianceField, Rendering, RobotArm
from tests.benchmarks.programs.images import Lovasz, Separable, SqueezeExcite, Style, Unet
from tests.benchmarks.programs.iterations import Equilibrium, FittedDiffusion, Kalman, Newton, Sinkhorn
from tests.benchmarks.programs.language import AdditiveAttention, Decoder, SkipGram, Topics
from tests.benchmarks.programs.nested import HessianVector, LennardJones, Maml, Pinn
from tests.benchmarks.programs.networks import Causal, Experts, Kan, Residual, Transformer
from tests.benchmarks.programs.policies import CartPole, Ppo
from tests.benchmarks.programs.program import SCALES, TEST, Program
from tests.benchmarks.programs.recurrent import Gru, Lstm, StateSpace
from tests.benchmarks.programs.regression import CountRegression, QuantileSpline, Ratings
from tests.benchmarks.programs.simulations import Gravity, Lattice, Pendulum
from tests.benchmarks.programs.structures import GraphAttention, GraphConvolution, HiddenMarkov, PointSets, RandomField
from tests.benchmarks.programs.survival import Cox
from tests.benchmarks.programs.time_series import Activity, Ctc, Garch, SoftDtw
from tests.benchmarks.programs.training import AdamMlp, Embedding, SgdMomentum, SoftmaxRegression, Vae
from tests.benchmarks.programs.transformers import Llama, Swin
from tests.benchmarks.programs.unsupervised import Gan, InfoNce, Tsne

KINDS: tuple[type[Program], ...] = (
    Transformer, Lstm, Gru, Residual, AdamMlp, Vae, GaussianProcess, Gravity, Pendulum, SoftmaxRegression, Embedding,
    Causal, HessianVector, Maml, Pinn, Svd, Eigh, Unet, Separable, Flow, MixtureDensity, Variational, Newton, Sinkhorn,
    Kalman, RandomField, GraphConvolution, BundleAdjustment, Rendering, Heat, SpectralFilter, SpectralLoss, NeuralOde,
    Decoder, Experts, InfoNce, SkipGram, Ratings, Heston, LotkaVolterra, Equilibrium, RadianceField, GraphAttention,
    LennardJones, CountRegression, StateSpace, HiddenMarkov, Gan, SqueezeExcite, RobotArm, Wave, SgdMomentum,
    QuantileSpline, SmallCovariances, DoublePendulum, AdditiveAttention, BayesianNetwork,
    Ppo, Llama, GradientPenalty, VqVae, Garch, Cox, Diffusion, SoftDtw, Hamiltonian, TotalVariation, Tsne, Activity,
    PointSets, Topics, CartPole, Style, MaskedFlow, Swin, Ctc, Kan, Lattice,
    Phylogeny, Lovasz, Ptychography, FittedDiffusion,
)  # fmt: skip
PROGRAMS: dict[str, Program] = {row.name: row for kind in KINDS for row in map(kind, SCALES)}
TESTED: dict[str, Program] = {kind.program: kind(TEST) for kind in KINDS}
"""Each program once, at a size that can be differentiated numerically."""
