"""What programs ask about the machine: its devices, their details, and how full their memory is."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from autodiff_lab.engine.devices import place_of
from autodiff_lab.errors import DeviceError, UnimplementedError


class PhysicalDevice(NamedTuple):
    """A device that the machine has.

    Attributes
    ----------
    name : str
        ``"/physical_device:GPU:0"``.
    device_type : str
        ``"CPU"`` or ``"GPU"``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.config.list_physical_devices("CPU")[0].device_type
    'CPU'
    """

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device by the name that `device` takes.

    Attributes
    ----------
    name : str
        ``"/device:GPU:0"``.
    device_type : str
        ``"CPU"`` or ``"GPU"``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.config.list_logical_devices("CPU")[0].name
    '/device:CPU:0'
    """

    name: str
    device_type: str


def _listed(kind: str | None) -> list[tuple[int, str]]:
    wanted = ("CPU", "GPU") if kind is None else (kind.upper(),)
    gpus = import_module("autodiff_lab.gpu").memories() if "GPU" in wanted else ()
    return [(0, "CPU")] * ("CPU" in wanted) + [(memory.index, "GPU") for memory in gpus]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices of this machine; no GPU is listed where our kernels could not run on it.

    Parameters
    ----------
    device_type : str, optional
        ``"CPU"`` or ``"GPU"``, for these alone.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return [PhysicalDevice(f"/physical_device:{kind}:{index}", kind) for index, kind in _listed(device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Return the devices of this machine by the names that `device` takes.

    Parameters
    ----------
    device_type : str, optional
        ``"CPU"`` or ``"GPU"``, for these alone.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> with lab.device(lab.config.list_logical_devices("CPU")[0].name):
    ...     print(lab.zeros(2).device)
    /CPU:0
    """
    return [LogicalDevice(f"/device:{kind}:{index}", kind) for index, kind in _listed(device_type)]


def _memory(device: Any, asked: str) -> Any:
    """Return the memory of a GPU, given its name or an entry of the lists."""
    name = getattr(device, "name", device)
    place = place_of(name.replace("physical_device", "device") if isinstance(name, str) else name)
    if place.__class__ is str:
        raise DeviceError(f"{asked}: memory statistics are kept for GPUs only, got {place}. Try 'GPU:0'.")
    return place


def get_memory_info(device: str) -> dict[str, int]:
    """Return the bytes of a GPU that arrays use, and that its pool keeps for the next ones.

    Parameters
    ----------
    device : str
        ``"GPU:0"`` and the like.

    Returns
    -------
    dict of str to int
        ``current``: bytes in use; ``peak``: the most that the pool has held since `reset_memory_stats`; ``pool``: what
        it holds now, in use or not; ``free`` and ``total``: of the GPU, whoever uses it.

    Raises
    ------
    DeviceError
        If there is no such GPU.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> if lab.config.list_physical_devices("GPU"):
    ...     assert lab.config.experimental.get_memory_info("GPU:0")["current"] >= 0
    """
    return _memory(device, "get_memory_info").figures()


def reset_memory_stats(device: str) -> None:
    """Free what the pool of a GPU keeps unused, and reset the peak.

    Parameters
    ----------
    device : str
        ``"GPU:0"`` and the like.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> if lab.config.list_physical_devices("GPU"):
    ...     lab.config.experimental.reset_memory_stats("GPU:0")
    """
    _memory(device, "reset_memory_stats").forget_peak()


def get_device_details(device: Any) -> dict[str, Any]:
    """Return details of a GPU; empty for a CPU.

    Parameters
    ----------
    device : PhysicalDevice or str
        From `list_physical_devices`.

    Returns
    -------
    dict
        ``device_name``, ``compute_capability``, ``multiprocessors``, ``memory`` in bytes, ``simulated``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.config.experimental.get_device_details(lab.config.list_physical_devices("CPU")[0])
    {}
    """
    name = getattr(device, "name", device)
    return {} if "CPU" in str(name).upper() else _memory(device, "get_device_details").details()


def set_memory_growth(device: Any, enable: bool) -> None:
    """Let the memory of a GPU grow as needed, which it always does here.

    Raises
    ------
    UnimplementedError
        If all of it is to be taken at once.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> for gpu in lab.config.list_physical_devices("GPU"):
    ...     lab.config.experimental.set_memory_growth(gpu, True)
    """
    if not enable:
        raise UnimplementedError(
            "set_memory_growth: the memory pool of a GPU always grows as needed. Try True, or drop the call."
        )


def enable_op_determinism(enabled: bool = True) -> None:
    """Do nothing: every op gives the same bits at every run, on any device; for programs written for TensorFlow.

    Parameters
    ----------
    enabled : bool
        Without effect: no kernel adds in a random order.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.config.experimental.enable_op_determinism()
    """


def simulate_gpu() -> None:
    """Simulate a small GPU in this process, slowly, so that devices and kernels can be tried on any machine.

    It must come before the first look for a GPU; ``NUMBA_ENABLE_CUDASIM=1`` in the environment does the same.

    Raises
    ------
    DeviceError
        If this process has looked for a real GPU already.

    Examples
    --------
    >>> import subprocess, sys
    >>> program = "import autodiff_lab as lab; lab.config.simulate_gpu(); print(lab.zeros(2).gpu().device)"
    >>> print(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip())
    /GPU:0
    """
    import_module("autodiff_lab.gpu").simulate()


WHEN_EAGER: list[Callable[[], None]] = []
"""What compiled functions do when the switch below changes."""
_eager = [False]


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Run compiled functions op by op, so that `print` and debuggers see each call; False compiles them again.

    Parameters
    ----------
    run_eagerly : bool
        Whether calls of every `lab.function` in this process run eagerly from now on.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.config.run_functions_eagerly(True)
    >>> lab.config.functions_run_eagerly()
    True
    >>> lab.config.run_functions_eagerly(False)
    """
    _eager[0] = bool(run_eagerly)
    for forget in WHEN_EAGER:
        forget()


def functions_run_eagerly() -> bool:
    """Return whether `run_functions_eagerly` is in force.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.config.functions_run_eagerly()
    False
    """
    return _eager[0]
