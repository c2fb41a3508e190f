"""On-disk cache of compiled kernels, with one file for each kernel and set of argument types.

A file contains a fingerprint of everything from which it was compiled, and a checksum. Outdated, damaged and
unreadable files are ignored and overwritten by the next compilation. Files are never deleted. If no folder is
writable, each process compiles its kernels again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import struct
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from llvmlite.binding import parse_assembly, parse_bitcode
from numba.core import types
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.extending import _Intrinsic

PACKAGE = Path(__file__).parent
_HEADER = struct.Struct("<32s32sQ")
"""File header: fingerprint, SHA-256 of the code, and length of the code [bytes]."""


class KernelCache(NullCache):
    """Cache that loads and saves the compiled code of a Numba dispatcher.

    Args:
        dispatcher: Kernel whose code is saved.
        warn: Called with a one-line message if compiled code cannot be saved.
    """

    writable = True
    """False after the first failure to save, for all caches in this process."""

    def __init__(self, dispatcher: Dispatcher, warn: Callable[[str], None]):
        self._dispatcher = dispatcher
        self._warn = warn

    @property
    def cache_path(self) -> str:
        """Preferred folder for saving compiled code."""
        return str(next(folders(), ""))

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Return the saved code for a signature, or None if the kernel must be compiled."""
        rtsys.initialize(target_context)  # the full refresh takes 0.25 s and only compilation needs it
        name, stamp = self._name(sig, target_context.codegen()), fingerprint(self._dispatcher)
        for folder in folders():
            if (code := _read(folder / name, stamp)) is not None:
                try:
                    return _rebuild(target_context, *pickle.loads(code))
                except Exception:  # for example, written by another version of a library
                    continue
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the compiled code for a signature."""
        if not KernelCache.writable or data.library.has_dynamic_globals:
            return
        code = dumps(data._reduce())
        name, stamp = self._name(sig, data.codegen), fingerprint(self._dispatcher)
        reason = "HOME is not set"
        for folder in folders():
            try:
                folder.mkdir(parents=True, exist_ok=True)
                _write(folder / name, stamp, code)
                return
            except OSError as error:
                reason = f"{folder}: {error.strerror}"
        KernelCache.writable = False
        self._warn(
            f"cannot save compiled kernels ({reason}), so each start compiles them again;"
            " set NUMBA_CACHE_DIR to choose another folder"
        )

    def _name(self, sig: Any, codegen: Any) -> str:
        """Return the file name for these argument types, this processor and this Python version."""
        function = self._dispatcher.py_func
        arguments, _ = normalize_signature(sig)
        made_for = repr(([_layout(argument) for argument in arguments], codegen.magic_tuple()))
        digest = hashlib.sha256(made_for.encode()).hexdigest()[:16]
        kernel = f"{function.__module__}.{function.__qualname__}".replace("<locals>.", "")
        return f"{kernel}-{digest}.{sys.implementation.cache_tag}.nbc"


class _LoadedLibrary(JITCodeLibrary):
    """Machine code from a file. Its LLVM bitcode is parsed only if a kernel that calls it is compiled."""

    bitcode: bytes | None

    def _get_module_for_linking(self) -> Any:
        if self.bitcode is not None:
            self._shared_module, self.bitcode = parse_bitcode(self.bitcode), None
        return self._shared_module


def _rebuild(target_context: Any, library: Any, described: Any, *others: Any) -> CompileResult:
    """Load compiled code as `CompileResult._rebuild` does, but without parsing its bitcode."""
    name, kind, (machine_code, bitcode) = library
    library = name, kind, (machine_code, _no_bitcode())
    # Numba would read the names of the functions from the bitcode.
    names = described.llvm_func_name, described.llvm_cpython_wrapper_name, described.llvm_cfunc_wrapper_name
    target_context.codegen()._engine._defined_symbols.update(names)
    result = CompileResult._rebuild(target_context, library, described, *others)
    result.library.__class__, result.library.bitcode = _LoadedLibrary, bitcode
    return result


@cache
def _no_bitcode() -> bytes:
    return parse_assembly("").as_bitcode()


def _layout(argument: Any) -> Any:
    """Return a description of an argument's type that includes the field names of named tuples."""
    if isinstance(argument, types.BaseTuple):
        parts = argument.types  # type: ignore[attr-defined]
        return argument.name, getattr(argument, "fields", ()), [_layout(part) for part in parts]
    return repr(argument)


def folders() -> Iterator[Path]:
    """Yield the folders for compiled code, in order of preference.

    If the environment variable ``NUMBA_CACHE_DIR`` names a folder, only a subfolder of it is used. Otherwise,
    the folders are the package's ``__pycache__`` and a subfolder of the user's cache folder.
    """
    own = f"tactile_sim_{hashlib.sha256(bytes(PACKAGE)).hexdigest()[:12]}"  # several copies may be installed
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen) / own
        return
    yield PACKAGE / "__pycache__"
    if caches := os.environ.get("XDG_CACHE_HOME"):
        yield Path(caches) / own
    elif (home := os.path.expanduser("~")) != "~":
        yield Path(home) / ".cache" / own


def _read(path: Path, stamp: bytes) -> bytes | None:
    """Return the code in a file, or None if the file is missing, damaged or outdated."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) < _HEADER.size:
        return None
    made_from, checksum, length = _HEADER.unpack_from(data)
    code = data[_HEADER.size : _HEADER.size + length]
    return code if (made_from, checksum) == (stamp, hashlib.sha256(code).digest()) else None


def _write(path: Path, stamp: bytes, code: bytes) -> None:
    """Write code to a file in place. Processes that read an incomplete file detect and ignore it."""
    data = _HEADER.pack(stamp, hashlib.sha256(code).digest(), len(code)) + code
    try:
        path.write_bytes(data)
    except OSError:
        path.unlink(missing_ok=True)
        raise


@cache
def fingerprint(dispatcher: Dispatcher) -> bytes:
    """Return a digest of the code and constants of a kernel and of all kernels that it calls.

    Raises:
        TypeError: The kernel uses an object whose changes cannot be detected.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for kernel in sorted(_reachable(dispatcher), key=_identity):
        digest.update(_own_fingerprint(kernel))
    return digest.digest()


def _reachable(dispatcher: Dispatcher) -> set[Dispatcher]:
    """Return the kernel and all kernels that it calls, directly or indirectly."""
    found: set[Dispatcher] = set()
    todo = [dispatcher]
    while todo:
        kernel = todo.pop()
        if kernel not in found:
            found.add(kernel)
            todo += [value for _, value in _referenced(kernel.py_func) if isinstance(value, Dispatcher)]
    return found


@cache
def _own_fingerprint(kernel: Dispatcher) -> bytes:
    function = kernel.py_func
    # The order of a set differs between processes.
    options = {k: sorted(v) if isinstance(v, set) else v for k, v in kernel.targetoptions.items()}
    parts = [_identity(kernel), sorted(options.items()), repr(function.__defaults__)]
    parts += _code(function.__code__, function.__doc__)
    parts += [(name, _value(value, kernel)) for name, value in _referenced(function)]
    return hashlib.sha256(repr(parts).encode()).digest()


def _identity(kernel: Dispatcher) -> tuple[str, str]:
    return kernel.py_func.__module__, kernel.py_func.__qualname__


def _code(code: CodeType, doc: str | None) -> list[Any]:
    """Return the parts of a code object that determine its behaviour, without location and docstring."""
    parts = [code.co_code, code.co_exceptiontable, code.co_flags, code.co_argcount, code.co_kwonlyargcount]
    parts += [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            parts.append(_code(constant, None))
        elif isinstance(constant, frozenset):
            parts.append(sorted(map(repr, constant)))
        else:
            parts.append(None if constant == doc else constant)
    return parts


def _referenced(function: Any) -> list[tuple[str, Any]]:
    """Return the names and values of the global and closure variables that a function uses."""
    names: list[str] = []
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names += code.co_names
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    scope = function.__globals__
    found = {name: scope[name] for name in names if name in scope}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return sorted((found | {name: cell.cell_contents for name, cell in cells}).items())


def _value(value: Any, kernel: Dispatcher) -> Any:
    """Return a description of a constant's value that is the same in every process."""
    if isinstance(value, Dispatcher):
        return _identity(value)
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, _Intrinsic):  # of `tactile_sim.compilation`
        return value._name, [repr(cell.cell_contents) for cell in value._defn.__closure__ or ()]
    if isinstance(value, (bool, int, float, complex, str, bytes, np.generic, np.dtype, type(None))):
        return type(value).__name__, value
    if isinstance(value, tuple):
        return type(value).__name__, [_value(part, kernel) for part in value]
    if isinstance(value, type) and issubclass(value, tuple):
        return value.__name__, getattr(value, "_fields", ()), repr(getattr(value, "_field_defaults", {}))
    if isinstance(value, type) and issubclass(value, Enum):
        return value.__name__, repr(list(value))
    if isinstance(value, ModuleType) and not value.__name__.startswith("tactile_sim"):
        return value.__name__
    if isinstance(value, (type, FunctionType, BuiltinFunctionType, np.ufunc)):
        return value.__name__  # functions of libraries only: our own must be kernels
    name = ".".join(_identity(kernel))
    raise TypeError(f"{name}: a kernel cannot use {value!r}; import a constant or a kernel instead")
