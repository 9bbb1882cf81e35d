"""Random tensors: ``lab.random``."""

from typing import TYPE_CHECKING

from autodiff_lab.ops.catalogue import late as _late
from autodiff_lab.ops.random import categorical, gamma, normal, poisson, set_seed, shuffle, truncated_normal, uniform
from autodiff_lab.ops.random_generator import Generator, get_global_generator, set_global_generator
from autodiff_lab.ops.random_stateless import (
    stateless_categorical,
    stateless_gamma,
    stateless_normal,
    stateless_parameterized_truncated_normal,
    stateless_poisson,
    stateless_shuffle,
    stateless_truncated_normal,
    stateless_uniform,
)

if TYPE_CHECKING:
    from autodiff_lab.extras.families.sampled import log_uniform_candidate_sampler

_EXTRAS = {"log_uniform_candidate_sampler": "families.sampled"}

__all__ = [
    "Generator",
    "categorical",
    "gamma",
    "get_global_generator",
    "log_uniform_candidate_sampler",
    "normal",
    "poisson",
    "set_global_generator",
    "set_seed",
    "shuffle",
    "stateless_categorical",
    "stateless_gamma",
    "stateless_normal",
    "stateless_parameterized_truncated_normal",
    "stateless_poisson",
    "stateless_shuffle",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]


__path__: list[str] = []  # no modules inside, but `imports` can answer for names of other packages

if not TYPE_CHECKING:  # a checker sees the names above, and reports others
    __getattr__ = _late(__name__, _EXTRAS)
