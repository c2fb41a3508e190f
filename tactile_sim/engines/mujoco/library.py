"""Batch functions of MuJoCo's C library that MuJoCo's Python package does not expose."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tactile_sim.errors import EngineError


class BatchConfig(ctypes.Structure):
    """The C struct with the arguments of ``mjb_makeBatch``."""

    _fields_ = [("nthread", ctypes.c_int), ("persistent", ctypes.c_ubyte)]


class BatchOwner:
    """Owner of a batch in C memory.

    The batch is deleted as soon as neither this object nor any array returned by `view` is referenced.
    """

    def __init__(self, batch: int):
        self._batch, self._delete = batch, library().mjb_deleteBatch

    def __del__(self) -> None:
        self._delete(self._batch)

    def view(self, address: int, shape: tuple[int, ...], kind: Any) -> np.ndarray:
        """Return an array that views memory of the batch and keeps the batch alive.

        Args:
            address: Address of the first element.
            shape: Shape of the array.
            kind: ctypes type of the elements.
        """
        memory = (kind * int(np.prod(shape))).from_address(address)
        memory.owner = self
        return np.frombuffer(memory, np.dtype(kind)).reshape(shape)


def step_function(lib: ctypes.CDLL, name: str, integers: int = 0) -> Any:
    """Return a library function that compiled kernels can call.

    Its arguments are the addresses of the model and the data, followed by integers.

    Args:
        lib: The library.
        name: Name of the function.
        integers: Number of integer arguments.
    """
    kinds = [ctypes.c_int64, ctypes.c_int64, *[ctypes.c_int] * integers]
    return ctypes.CFUNCTYPE(None, *kinds)((name, lib))


@cache
def library() -> ctypes.CDLL:
    """Load MuJoCo's library and declare the types of its batch functions.

    Raises:
        EngineError: The library is not found, or it is older than MuJoCo 4.0.
    """
    folder = Path(mujoco.__file__).parent
    found = [path for pattern in ("libmujoco.*", "mujoco.dll") for path in folder.glob(pattern)]
    if not found:
        raise EngineError(f"engine 'mujoco': no MuJoCo library in {folder}; install mujoco again with pip")
    lib = ctypes.CDLL(str(found[0]))
    number, place = ctypes.c_int, ctypes.c_void_p
    for name, result, arguments in (
        ("mjb_makeBatch", place, (place, number, place, place, number)),
        ("mjb_deleteBatch", None, (place,)),
        ("mjb_nthread", number, (place,)),
        ("mjb_nstate", number, (place,)),
        ("mjb_state", place, (place,)),
        ("mjb_stateComponent", place, (place, number, place)),
        ("mjb_warning", place, (place,)),
        ("mjb_status", place, (place,)),
        ("mjb_error", ctypes.c_char_p, (place, number)),
        ("mjb_step", number, (place, place, number, number, number)),
        ("mjb_reset", number, (place, place, number, place, number)),
        ("mjb_apply", number, (place, place, number, place, place, number)),
    ):
        function = getattr(lib, name, None)
        if function is None:
            raise EngineError(
                "engine 'mujoco': several environments with skin require mujoco 4.0,"
                f" got {mujoco.__version__}; python -m pip install 'mujoco>=4.0'"
            )
        function.restype, function.argtypes = result, arguments
    return lib
