"""Warp's devices, and arrays on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from tactile_sim.errors import EngineError


def device_named(name: str | None) -> Any:
    """Return a device of Warp.

    Args:
        name: ``cpu``, ``cuda`` or ``cuda:N``; None: the first GPU, or the processor without one.

    Raises:
        EngineError: The machine has no such device.
    """
    if wp.config.log_level == wp.LOG_INFO:  # the default prints a line for each module that is loaded
        wp.config.log_level = wp.LOG_WARNING
    wp.init()
    known = ["cpu", *(str(device) for device in wp.get_cuda_devices())]
    try:
        return wp.get_device(name or known[-1 if len(known) == 1 else 1])
    except (ValueError, RuntimeError):
        raise EngineError(
            f"device: backend 'warp' has {', '.join(known)} on this machine, got {name!r}"
            + ("; it found no NVIDIA GPU" if len(known) == 1 else "")
        ) from None


class Mirror:
    """A device array with a NumPy array of the same values: the same memory on the processor."""

    def __init__(self, array: Any):
        """Make the NumPy array ``host`` (n, ...); vectors and matrices become trailing axes."""
        self.array = array
        self._copy = None
        if array.device.is_cuda:
            self._copy = wp.empty(array.shape, dtype=array.dtype, device="cpu", pinned=True)
        self.host: np.ndarray = (array if self._copy is None else self._copy).numpy()

    def upload(self) -> None:
        """Copy the values of the NumPy array to the device."""
        if self._copy is not None:
            wp.copy(self.array, self._copy)

    def download(self) -> None:
        """Copy the values of the device to the NumPy array; valid after the device is synchronized."""
        if self._copy is not None:
            wp.copy(self._copy, self.array)


class Graphs:
    """Runs sequences of kernels: on a GPU as CUDA graphs, captured when a sequence runs again."""

    def __init__(self, device: Any):
        """Make it for a device."""
        self._device = device
        self._captured: dict[str, Any] = {}

    def run(self, name: str, work: Callable[[], None]) -> None:
        """Run a sequence of launches that has this name."""
        with wp.ScopedDevice(self._device):
            if not self._device.is_cuda:
                work()
            elif name not in self._captured:  # the first run compiles and loads the kernels
                self._captured[name] = None
                work()
            else:
                if self._captured[name] is None:
                    with wp.ScopedCapture() as capture:
                        work()
                    self._captured[name] = capture.graph
                wp.capture_launch(self._captured[name])

    def clear(self) -> None:
        """Forget all graphs, because arrays were replaced."""
        self._captured.clear()
