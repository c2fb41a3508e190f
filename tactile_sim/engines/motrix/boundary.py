"""Import of motrixsim, conversion of its panics to errors, and capture of its terminal output."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from tactile_sim.errors import EngineError

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_WARNING = re.compile(r"^\S+Z\s+WARN \S+: (.*)$")
_PLACE = re.compile(r" at line: \d+$")


def motrixsim() -> ModuleType:
    """Import motrixsim.

    Returns:
        The package.

    Raises:
        EngineError: Motrixsim is not installed or cannot be loaded. The message names the install command.
    """
    try:
        with captured_output():
            import motrixsim
    except ImportError as error:
        why = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
        raise EngineError(
            f"engine 'motrix' needs the package motrixsim, which is not installed{why}: "
            f"{sys.executable} -m pip install 'motrixsim<0.11' (make setup does it)"
        ) from None
    return motrixsim


def is_panic(error: BaseException) -> bool:
    """Return whether an exception is a panic of motrixsim, which derives from BaseException."""
    return type(error).__name__ == "PanicException"


@contextmanager
def engine_errors(failure: str) -> Iterator[None]:
    """Convert all errors of motrixsim, including panics, to EngineError with a one-line message.

    Args:
        failure: Description of the failed action, for the message "engine 'motrix' <failure>: ...".
    """
    try:
        yield
    except EngineError:
        raise
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            raise EngineError(f"engine 'motrix' {failure}: {' '.join(str(error).split())}") from None
        raise


@contextmanager
def captured_output() -> Iterator[list[str]]:
    """Capture terminal output, including that of native code.

    At the end of the block, the lines of output are added to the yielded list.
    """
    lines: list[str] = []
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(stream) for stream in (1, 2)]
    with tempfile.TemporaryFile() as file:
        try:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
            yield lines
        finally:
            for stream, copy in zip((1, 2), saved, strict=True):
                os.dup2(copy, stream)
                os.close(copy)
            file.seek(0)
            lines += _COLOURS.sub("", file.read().decode("utf-8", "replace")).splitlines()


def ignored_features(lines: list[str]) -> list[str]:
    """Return the scene elements and attributes that motrixsim reports as ignored.

    Args:
        lines: Terminal output of motrixsim.

    Returns:
        Each ignored feature once, with its name in MJCF.
    """
    found: dict[str, None] = {}
    listing = False
    for line in lines:
        if warning := _WARNING.match(line):
            listing = warning[1].startswith("These fields")
            if not listing:
                found[_PLACE.sub("", warning[1])] = None
        elif listing and _PLACE.search(line):
            element, _, attribute = _PLACE.sub("", line).partition("@")
            found[f"{element} {attribute}".strip()] = None
        else:
            listing = False
    return list(found)
