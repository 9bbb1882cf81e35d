"""Steps of optimizers as kernels: vectors that change in place, on NumPy or Numba; see `kernels.optimizers.reference`.

They are not ops: training is not differentiated through.
"""

from __future__ import annotations

from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.optimizers import reference

sgd_step = chosen("sgd_step", reference.sgd_step)
momentum_step = chosen("momentum_step", reference.momentum_step)
adam_step = chosen("adam_step", reference.adam_step)
rmsprop_step = chosen("rmsprop_step", reference.rmsprop_step)
adagrad_step = chosen("adagrad_step", reference.adagrad_step)
nadam_step = chosen("nadam_step", reference.nadam_step)
adamax_step = chosen("adamax_step", reference.adamax_step)
adadelta_step = chosen("adadelta_step", reference.adadelta_step)
