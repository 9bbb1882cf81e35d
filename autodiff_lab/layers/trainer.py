"""Trainer: the methods by which a model is compiled, fitted, evaluated and asked for predictions, as in Keras."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from autodiff_lab.engine import nest
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.metrics import Metric

if TYPE_CHECKING:
    from autodiff_lab.training.callbacks import History


class Trainer(Layer):
    """What `Model` can do with data; a subclass may override `train_step`, `compute_loss` and the like.

    Attributes
    ----------
    stop_training : bool
        Whether `fit` ends after this step; callbacks set it.
    history : History or None
        Of the last `fit`.
    """

    stop_training = False
    history: History | None = None
    _compiled: Any = None

    def compile(self, optimizer: Any = "rmsprop", loss: Any = None, loss_weights: Any = None, metrics: Any = None,
                weighted_metrics: Any = None, run_eagerly: bool = False, jit_compile: Any = "auto",
                **ignored: Any) -> None:  # fmt: skip
        """Choose how the model is trained.

        Parameters
        ----------
        optimizer : Optimizer or str
        loss : Loss, callable or str, optional
            Of labels and predictions; a list or a dict for several outputs, added up.
        loss_weights : list or dict of float, optional
            Factors of the losses of several outputs.
        metrics, weighted_metrics : list of Metric, callable or str, optional
            Reported beside the loss; the latter with sample weights. ``"accuracy"`` is the one that fits the labels.
        run_eagerly : bool
            Whether steps are never compiled.
        jit_compile : 'auto' or bool
            Whether steps are compiled with `lab.function`; 'auto' does so in loops of 1,000 steps and more.

        Raises
        ------
        InvalidArgumentError
            If a name is unknown.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> model = lab.Sequential([lab.layers.Dense(1)])
        >>> model.compile(optimizer="adam", loss="mse", metrics=["mae"])
        """
        from autodiff_lab.training.compiled import Compiled

        unknown = set(ignored) - {"steps_per_execution", "auto_scale_loss"}
        if unknown:
            raise TypeError(f"compile() got an unexpected keyword argument {min(unknown)!r}")
        self._compiled = Compiled(optimizer, loss, loss_weights, metrics, weighted_metrics, run_eagerly, jit_compile)

    @property
    def optimizer(self) -> Any:
        """The optimizer that `compile` was given."""
        return None if self._compiled is None else self._compiled.optimizer

    @property
    def metrics(self) -> list[Metric]:
        """The metrics that `fit` reports, that of the loss first, and those that are attributes of the model."""
        own = [value for value in vars(self).values() if isinstance(value, Metric)]
        return [*([] if self._compiled is None else self._compiled.all_metrics()), *own]

    @property
    def metrics_names(self) -> list[str]:
        """The names of `metrics`."""
        return [metric.name for metric in self.metrics]

    @property
    def _output_names(self) -> list[str]:
        """The names of several outputs; a model that is a graph has them."""
        return []

    def reset_metrics(self) -> None:
        """Reset the state of all metrics."""
        for metric in self.metrics:
            metric.reset_state()

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None,
                     training: bool = True) -> Any:  # fmt: skip
        """Return the loss of a batch, including what layers add to it; a subclass may override this.

        Raises
        ------
        InvalidArgumentError
            If the model was compiled without a loss and no layer adds one.
        """
        total = None if y is None else self._compiled.total_loss(y, y_pred, sample_weight, self._output_names)
        for added in self.losses:
            total = added if total is None else total + added
        if total is None:
            raise InvalidArgumentError(f"{self.name}: there is no loss to train with. Try model.compile(loss='mse').")
        return total

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """Add a batch to the metrics, and return the results so far; a subclass may override this."""
        if y is not None:
            self._compiled.update_metrics(y, y_pred, sample_weight, self._output_names)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """Return the results of the metrics by name."""
        return {metric.name: metric.result() for metric in self.metrics}

    def train_step(self, data: Any) -> dict[str, Any]:
        """Take one step on a batch (x,), (x, y) or (x, y, sample_weight); a subclass may override this.

        Returns
        -------
        dict of str to Tensor
            The losses and metrics so far.
        """
        x, y, weights = cast("tuple[Any, Any, Any]", (*data, None, None)[:3])
        with GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, weights)
        variables = self.trainable_variables
        if variables:
            self.optimizer.apply_gradients(zip(tape.gradient(loss, list(variables)), variables, strict=True))
        return self._measured(x, y, y_pred, loss, weights)

    def test_step(self, data: Any) -> dict[str, Any]:
        """Evaluate a batch as `train_step` gets it; a subclass may override this."""
        x, y, weights = cast("tuple[Any, Any, Any]", (*data, None, None)[:3])
        y_pred = self(x, training=False)
        return self._measured(x, y, y_pred, self.compute_loss(x, y, y_pred, weights, training=False), weights)

    def predict_step(self, data: Any) -> Any:
        """Return the outputs for a batch; a subclass may override this."""
        return self(data[0], training=False)

    def _measured(self, x: Any, y: Any, y_pred: Any, loss: Any, weights: Any) -> dict[str, Any]:
        count = nest.flatten(x)[0][0].shape[0]
        self._compiled.loss_tracker.update_state(loss, sample_weight=float(count))
        return self.compute_metrics(x, y, y_pred, weights)

    def fit(self, x: Any = None, y: Any = None, batch_size: int | None = None, epochs: int = 1, verbose: Any = "auto",
            callbacks: list[Any] | None = None, validation_split: float = 0.0, validation_data: Any = None,
            shuffle: bool = True, class_weight: Any = None, sample_weight: Any = None, initial_epoch: int = 0,
            steps_per_epoch: int | None = None, validation_steps: int | None = None,
            validation_batch_size: int | None = None, validation_freq: int = 1) -> History:  # fmt: skip
        """Train the model.

        Parameters
        ----------
        x, y : array, structure of arrays, or iterable
            Inputs and labels with one row per example; or `x` alone, a dataset or another iterable of batches (x, y) or
            (x, y, sample_weight).
        batch_size : int, optional
            32 by default.
        epochs : int
            How often the data is gone through.
        verbose : {'auto', 0, 1, 2}
            Nothing, a bar for each epoch, or a line for each epoch.
        callbacks : Callback or list of Callback, optional
        validation_split : float
            Share of the last examples that are set aside for validation.
        validation_data : tuple or iterable of batches, optional
            Evaluated after each epoch.
        shuffle : bool
            Whether arrays are shuffled before each epoch, by the global seed.
        class_weight : dict of int to float, optional
            Weights of the examples by class number.
        sample_weight : array, optional
            Weights of the examples.
        initial_epoch : int
            Number of the first epoch.
        steps_per_epoch, validation_steps : int, optional
            Batches for each epoch, for data without an end.
        validation_batch_size : int, optional
        validation_freq : int
            Epochs between two validations.

        Returns
        -------
        History
            The losses and metrics of each epoch.

        Raises
        ------
        InvalidArgumentError
            If the model is not compiled, or the data cannot be used.
        ShapeMismatch
            If x and y differ in their number of examples, or the loss refuses them.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> x = [[0.0], [1.0], [2.0], [3.0]]
        >>> model = lab.Sequential([lab.layers.Dense(1, kernel_initializer="zeros")])
        >>> model.compile(lab.optimizers.SGD(0.1), loss="mse")
        >>> history = model.fit(x, [[1.0], [3.0], [5.0], [7.0]], epochs=200, verbose=0)
        >>> round(history.history["loss"][-1], 3), model.predict([[10.0]]).round(2).tolist()
        (0.0, [[21.0]])
        """
        from autodiff_lab.training import fitting

        return fitting.fit(
            self, x, y, batch_size, epochs, verbose, callbacks, validation_split, validation_data, shuffle,
            class_weight, sample_weight, initial_epoch, steps_per_epoch, validation_steps, validation_batch_size,
            validation_freq,
        )  # fmt: skip

    def evaluate(self, x: Any = None, y: Any = None, batch_size: int | None = None, verbose: Any = "auto",
                 sample_weight: Any = None, steps: int | None = None, callbacks: list[Any] | None = None,
                 return_dict: bool = False) -> Any:  # fmt: skip
        """Return the loss and the metrics on data that is given as to `fit`.

        Returns
        -------
        float, list of float or dict of str to float
            The loss alone if there are no metrics; a dict if `return_dict` is set.

        Raises
        ------
        InvalidArgumentError
            If the model is not compiled, or there is no data.
        """
        from autodiff_lab.training import fitting

        return fitting.evaluate(self, x, y, batch_size, verbose, sample_weight, steps, callbacks, return_dict)

    def predict(self, x: Any, batch_size: int | None = None, verbose: Any = "auto", steps: int | None = None,
                callbacks: list[Any] | None = None) -> Any:  # fmt: skip
        """Return the outputs for data, computed in batches, as NumPy arrays with one row per example.

        Raises
        ------
        InvalidArgumentError
            If there is no data.
        """
        from autodiff_lab.training import fitting

        return fitting.predict(self, x, batch_size, steps, callbacks)

    def train_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None,
                       return_dict: bool = False) -> Any:  # fmt: skip
        """Take one step on one batch, and return its loss and metrics as `evaluate` does."""
        from autodiff_lab.training import fitting

        return fitting.on_batch(self, "train", x, y, sample_weight, class_weight, return_dict)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
        """Return the loss and the metrics of one batch as `evaluate` does."""
        from autodiff_lab.training import fitting

        return fitting.on_batch(self, "test", x, y, sample_weight, None, return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """Return the outputs for one batch as NumPy arrays."""
        from autodiff_lab.training import fitting

        return fitting.predict_on_batch(self, x)
