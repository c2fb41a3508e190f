"""Compilation of numerical kernels with Numba.

Compiled code is stored on disk (see `tactile_sim.kernel_cache`). Numba's own cache is not used, because it
does not detect changes in called functions and raises errors if a file is damaged or the disk is full.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numba import carray, cfunc, njit, types  # noqa: TID251
from numba.core import cgutils
from numba.core import event as numba_event
from numba.extending import intrinsic, register_jitable
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from tactile_sim import signals
from tactile_sim.compilation_progress import Progress, warn
from tactile_sim.kernel_cache import KernelCache


def kernel(function: Callable | str | None = None, counted: bool = True, **options: Any) -> Any:
    """Compile a function to machine code on its first call, or immediately if a signature is specified.

    Use this as ``@kernel``, ``@kernel(error_model="numpy")`` or ``@kernel("void(f8[::1], f8)")``.

    Args:
        function: Function to compile, or the signature to compile it for, in Numba's notation.
        counted: Whether the kernel counts references to arrays, which can take longer than a short loop. A
            kernel without reference counts must not create or return arrays; views of its arguments are
            allowed.
        options: Options for `numba.njit`, except ``cache``.

    Returns:
        A Numba dispatcher, which other kernels can call.
    """
    options["_nrt"] = counted
    if not callable(function):
        return lambda decorated: _compiled(decorated, function, options)
    return _compiled(function, None, options)


def _compiled(function: Callable, signature: str | None, options: dict[str, Any]) -> Any:
    dispatcher = njit(**options)(function)
    if dispatcher is function:  # NUMBA_DISABLE_JIT is set
        return function
    dispatcher._cache = KernelCache(dispatcher, warn=warn)
    if signature:
        dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher


def callback(signature: str, function: Callable) -> Any:
    """Compile a function that is called from C code.

    The function is compiled again in each process, so it should be short.

    Args:
        signature: Signature in Numba's notation; pointers have type int64.
        function: Function to compile. It may call kernels, C functions from ctypes, and `floats_from_zero`,
            `ints_from_zero` and `longs_from_zero`.

    Returns:
        An object whose ``address`` is the pointer to the function.
    """
    return cfunc(signature)(function)


def _make_pointer(typing_context: Any, address: Any) -> Any:
    """Define a Numba intrinsic that converts an integer address to a ``void*``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.intp), generate


def packing(kinds: Sequence[tuple[Any, int]]) -> tuple[Callable[[Sequence[np.ndarray]], np.ndarray], Any]:
    """Create functions to pass many arrays to a kernel as one table, since each argument takes 0.1 to 0.2 µs.

    Args:
        kinds: The NumPy dtype of each array and its number of axes, at most 3.

    Returns:
        A function ``pack(arrays)`` that returns the table (n, 4) int64, and a function ``unpack(table)`` for
        kernels that returns a tuple of the arrays. Keep the arrays alive while the table is used.
    """
    arrays = tuple(types.Array(from_dtype(np.dtype(dtype)), axes, "C") for dtype, axes in kinds)

    def pack(given: Sequence[np.ndarray]) -> np.ndarray:
        table = np.ones((len(arrays), 4), np.int64)
        for row, array, (dtype, axes) in zip(table, given, kinds, strict=True):
            if array.dtype != dtype or array.ndim != axes or not array.flags.c_contiguous:
                raise TypeError(
                    f"expected a C-contiguous array of {dtype} with {axes} axes, got {array.dtype}"
                )
            row[: 1 + axes] = array.ctypes.data, *array.shape
        return table

    def make_arrays(typing_context: Any, table: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            numbers = make_array(table)(context, builder, arguments[0]).data
            made = []
            for row, array in enumerate(arrays):
                places = [
                    cgutils.gep(builder, numbers, context.get_constant(types.intp, 4 * row + k))
                    for k in range(1 + array.ndim)
                ]
                address, *lengths = (builder.load(place) for place in places)
                item = context.get_abi_sizeof(context.get_data_type(array.dtype))
                steps = [context.get_constant(types.intp, item)]
                for length in reversed(lengths):
                    steps.insert(0, builder.mul(steps[0], length))
                out = make_array(array)(context, builder)
                data = builder.inttoptr(address, out.data.type)
                populate_array(out, data, lengths, steps[1:], steps[-1], meminfo=None)
                made.append(out._getvalue())
            return context.make_tuple(builder, signature.return_type, made)

        return types.Tuple(arrays)(table), generate

    return pack, intrinsic(make_arrays)


def _make_copy(typing_context: Any, target: Any, to: Any, source: Any, begin: Any, size: Any) -> Any:
    """Define a Numba intrinsic that copies bytes between two uint8 arrays, as in ``memcpy``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        out, data = (
            builder.gep(make_array(kind)(context, builder, array).data, [start])
            for kind, array, start in ((target, *arguments[:2]), (source, *arguments[2:4]))
        )
        cgutils.raw_memcpy(builder, out, data, arguments[4], 1)
        return context.get_dummy_value()

    return types.none(target, types.intp, source, types.intp, types.intp), generate


copy_bytes: Any = intrinsic(_make_copy)
"""In kernels, ``copy_bytes(target, to, source, begin, size)`` copies ``source[begin:]`` to ``target[to:]``.

The arrays are uint8. A loop over more than a few bytes takes several times as long.
"""
_pointer: Any = intrinsic(_make_pointer)
_MOST = 1 << 59
"""Array length that exceeds any real memory."""


@register_jitable
def floats_from_zero() -> Any:
    """Return all memory from address 0 as a float64 array. Use it only in functions for `callback`."""
    return carray(_pointer(0), (_MOST,), np.float64)


@register_jitable
def ints_from_zero() -> Any:
    """Return all memory from address 0 as an int32 array. Use it only in functions for `callback`."""
    return carray(_pointer(0), (_MOST,), np.int32)


@register_jitable
def longs_from_zero() -> Any:
    """Return all memory from address 0 as an int64 array. Use it only in functions for `callback`."""
    return carray(_pointer(0), (_MOST,), np.int64)


class _Uninterrupted(numba_event.Listener):
    """Numba event listener that defers signal handlers during compilation.

    If a handler raised an exception in a callback of the compiler, the compilation would crash.
    """

    def __init__(self) -> None:
        self._signals = ExitStack()
        self._depth = 0

    def on_start(self, event: numba_event.Event) -> None:
        signals.check()
        if not signals.in_main_thread():
            return
        if not self._depth:
            self._signals.enter_context(signals.deferred())
        self._depth += 1

    def on_end(self, event: numba_event.Event) -> None:
        if not signals.in_main_thread():
            return
        self._depth -= 1
        if not self._depth:
            self._signals.close()


numba_event.register("numba:compile", Progress())
numba_event.register("numba:compiler_lock", _Uninterrupted())
