"""The way to motrixsim and back: its import, its panics, and what it says on the terminal alone."""

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
    """The package; EngineError with the line that installs it where it is missing."""
    try:
        with hushed():
            import motrixsim
    except ImportError as error:
        why = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
        raise EngineError(
            f"engine 'motrix' needs the package motrixsim, which is not installed{why}: "
            f"{sys.executable} -m pip install 'motrixsim<0.11' (make setup does it)"
        ) from None
    return motrixsim


def is_panic(error: BaseException) -> bool:
    """Whether motrixsim panicked: such an error is no Exception, so that hardly anything catches it."""
    return type(error).__name__ == "PanicException"


@contextmanager
def guarded(doing: str) -> Iterator[None]:
    """What motrixsim throws becomes an EngineError on one line, a panic too."""
    try:
        yield
    except EngineError:
        raise
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            raise EngineError(f"engine 'motrix' {doing}: {' '.join(str(error).split())}") from None
        raise


@contextmanager
def hushed() -> Iterator[list[str]]:
    """Keeps what is written to the terminal meanwhile, below Python too; gives its lines afterwards."""
    lines: list[str] = []
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(stream) for stream in (1, 2)]
    with tempfile.TemporaryFile() as kept:
        try:
            for stream in (1, 2):
                os.dup2(kept.fileno(), stream)
            yield lines
        finally:
            for stream, copy in zip((1, 2), saved, strict=True):
                os.dup2(copy, stream)
                os.close(copy)
            kept.seek(0)
            lines += _COLOURS.sub("", kept.read().decode("utf-8", "replace")).splitlines()


def left_out(lines: list[str]) -> list[str]:
    """What motrixsim says it leaves out of a scene, each once, in the words of the scene."""
    said: dict[str, None] = {}
    listing = False
    for line in lines:
        if warning := _WARNING.match(line):
            listing = warning[1].startswith("These fields")
            if not listing:
                said[_PLACE.sub("", warning[1])] = None
        elif listing and _PLACE.search(line):
            element, _, attribute = _PLACE.sub("", line).partition("@")
            said[f"{element} {attribute}".strip()] = None
        else:
            listing = False
    return list(said)
