"""Warp devices, arrays that are mirrored on the host, and CUDA graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from tactile_sim.errors import EngineError


def device_named(name: str | None) -> Any:
    """Return a Warp device.

    Args:
        name: ``cpu``, ``cuda`` or ``cuda:N``; None selects the first GPU, or the CPU if there is no GPU.

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


def structs(kind: Any, table: Any, **more: np.ndarray) -> Any:
    """Copy a table to the current device as an array of Warp structs.

    Args:
        kind: Class of the Warp structs.
        table: Structured array or mapping with the fields of the struct.
        **more: Columns by name; they replace those of the table and add fields that it lacks.
    """
    count = len(table) if isinstance(table, np.ndarray) else len(next(iter(table.values())))
    rows = np.zeros(count, kind.numpy_dtype())
    for name in rows.dtype.names or ():
        rows[name] = more[name] if name in more else table[name]
    return wp.array(rows, dtype=kind)


class Mirror:
    """Device array with a NumPy copy of its values; on the CPU, both share the same memory."""

    def __init__(self, array: Any):
        """Create the NumPy array ``host`` (n, ...), which stores vectors and matrices along trailing axes."""
        self.array = array
        self._copy = None
        if array.device.is_cuda:
            self._copy = wp.empty(array.shape, dtype=array.dtype, device="cpu", pinned=True)
        self.host: np.ndarray = (array if self._copy is None else self._copy).numpy()

    def upload(self) -> None:
        """Copy the NumPy array to the device."""
        if self._copy is not None:
            wp.copy(self.array, self._copy)

    def download(self) -> None:
        """Copy the device array to the NumPy array; the values are valid once the device is synchronized."""
        if self._copy is not None:
            wp.copy(self._copy, self.array)


class Graphs:
    """Runner of kernel sequences. On a GPU, each sequence is captured as a CUDA graph on its second run."""

    def __init__(self, device: Any):
        """Initialize without any captured graphs."""
        self._device = device
        self._captured: dict[str, Any] = {}

    def run(self, name: str, work: Callable[[], None]) -> None:
        """Run a sequence of kernel launches.

        Args:
            name: Name of the sequence; runs with the same name reuse its graph.
            work: Function that launches the kernels.
        """
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
        """Discard all captured graphs. Call this after arrays are replaced."""
        self._captured.clear()
