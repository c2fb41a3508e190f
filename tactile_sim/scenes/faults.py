"""Report MuJoCo's errors about a scene, with the file, the line and its text, and log its warnings."""

from __future__ import annotations

import logging
import os
import re
import tempfile
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import unescape
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.common.errors import SceneError
from tactile_sim.common.files import MOST_TEXT, read_file
from tactile_sim.common.names import Names

ERRORS = (ValueError, RuntimeError, mujoco.FatalError)
"""Exceptions that MuJoCo raises for an invalid scene."""
_REMEDIES = {
    "no decoder found for mesh": "; convert the mesh to STL or OBJ",
    "stl_decoder": "; export it again, because it may be incomplete",
    "surface area is too small": "; check the unit and the scale of the mesh",
    "contact frame undefined": "; check the sizes and positions of the geoms",
    "vertices required": "; a mesh must enclose a volume",
    "Error opening file": "; files are relative to the scene's folder, or to its meshdir or texturedir",
    "qhull error": "; the vertices of a mesh must be finite and not lie in one plane",
    "unknown exception": "; MuJoCo gives no reason; often, a count or size is too large for the memory",
    "geometry specification not found": "; a shape is a box, sphere, cylinder, capsule or mesh",
    "larger than mjMINVAL": "; give the body a geom with enough mass, or an inertial",
}
_KINDS = (("geom", "geom", "geoms"), ("jnt", "joint", "joints"), ("body", "body", "bodies"))
NOT_CONTENT = re.compile(r"<\?.*?(?:\?>|\Z)|<!--.*?(?:-->|\Z)|<!DOCTYPE[^>]*(?:>|\Z)", re.DOTALL)
"""Comments and declarations. An unclosed one matches up to the end, so that the search time is linear."""
_INCLUDE = re.compile(r"<include\b[^<>]*(?:(?<=/)>|>\s*</include\s*>)")
_FILE = re.compile(r"""\bfile\s*=\s*["']([^"']*)["']""")
_OPENING = re.compile(r"<[A-Za-z_][^<>]*>")
_LINE = re.compile(r"\bline (?:number=)?(\d+)", re.IGNORECASE)
_PREFIX = re.compile(r"^((XML )?Error: ?)+")
_LONGEST_TEXT = 200
"""Number of characters of a scene's line that an error message shows."""


class Line(NamedTuple):
    """A line of a scene, with the file and the line number from which it comes."""

    file: Path
    number: int  # starts at 1; 0: of a file that was rewritten
    text: str


def refusal(path: Path, error: Exception, rewritten: str | None = None) -> SceneError:
    """Convert MuJoCo's error about a scene to a SceneError with the file, the line and its text.

    ``rewritten`` is the text that MuJoCo has read instead of the file, whose lines have other numbers.
    """
    reason, element, number = _parts(error)
    line = _find(path, number, reason, rewritten) if number is not None else None
    where, text = f"{path}: ", ""
    if line is not None:
        where = f"{line.file}: {f'line {line.number}: ' if line.number else ''}"
        text = line.text.strip()[:_LONGEST_TEXT]
    return SceneError(f"{where}{element and f'{element!r}: '}{_with_remedy(reason, text and f', in {text}')}")


def reason_of(error: Exception) -> str:
    """Return the reason stated in MuJoCo's error, without element and line, plus a remedy if one is known."""
    return _with_remedy(_parts(error)[0])


def _parts(error: Exception) -> tuple[str, str, int | None]:
    """Return the reason that an error states, the element and its line, which is 0 in an included file."""
    message, _, place = str(error).strip().rpartition("\nElement ")
    reason, element = (message, place.partition("'")[2].partition("'")[0]) if message else (place, "")
    number = _LINE.findall(place)
    return _PREFIX.sub("", " ".join(reason.split())), element, int(number[-1]) if number else None


def _with_remedy(reason: str, text: str = "") -> str:
    remedy = next((remedy for sign, remedy in _REMEDIES.items() if sign in reason), "")
    return (reason.rstrip(".?") if remedy or text else reason) + text + remedy


def _find(path: Path, number: int, reason: str, rewritten: str | None) -> Line | None:
    """Return the line of a scene to which an error with this line number refers."""
    if rewritten is not None:
        return Line(path, 0, "".join(rewritten.split("\n")[number - 1 : number]))
    lines = _lines(path, path.parent, set())
    broken = next((file for file in scene_files(path) if not _well_formed(file)), None)
    if broken and (found := _LINE.search(reason)):
        number = int(found[1])
    elif number == 0:  # of an included file: parse the scene again with the included files in their places
        try:
            spec = mujoco.MjSpec.from_string("\n".join(line.text for line in lines))
            spec.modelfiledir = str(path.parent)
            spec.compile()
        except ERRORS as error:
            again = _parts(error)[2]
            return lines[again - 1] if again else None
        return None
    return next((line for line in lines if (line.file, line.number) == (broken or path, number)), None)


def _well_formed(path: Path) -> bool:
    try:
        ElementTree.parse(path)
    except (ElementTree.ParseError, OSError):
        return False
    return True


@contextmanager
def without_qhull_report() -> Iterator[None]:
    """Discard the long report that qhull prints to standard error if a mesh has no convex hull."""
    try:
        saved = os.dup(2)
    except OSError:  # standard error is closed
        yield
        return
    failed = False
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 2)
        try:
            yield
        except ERRORS:
            failed = True
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            printed.seek(0)
            text = printed.read()
            if text and not (failed and b"qhull" in text.lower()):
                with suppress(OSError):
                    os.write(2, text)


def not_a_number(model: mujoco.MjModel) -> str | None:
    """Describe the first field of a model that contains NaN, such as ``pos of geom 'pad'``, or return None.

    MuJoCo itself only warns about NaN.
    """
    for prefix, kind, listed in _KINDS:
        for field in (field for field in dir(model) if field.startswith(f"{prefix}_")):
            values = getattr(model, field)
            if values.dtype.kind == "f" and np.isnan(values).any():
                name = getattr(Names(model), listed)[np.argwhere(np.isnan(values))[0, 0]]
                return f"{field.removeprefix(f'{prefix}_')} of {kind} {name!r}"
    return None


def scene_files(path: Path) -> list[Path]:
    """Return the paths of a scene's main file and of all files that it includes."""
    return [path, *dict.fromkeys(line.file for line in _lines(path, path.parent, set()) if line.file != path)]


def _lines(path: Path, folder: Path, done: set[Path]) -> list[Line]:
    """Return the lines of a file, with the lines of each included file in place of its first include."""
    top = not done
    done.add(path)
    try:
        text = read_file(path, MOST_TEXT).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return []
    text = NOT_CONTENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    begin, end = 0, len(text)
    if not top:  # only the children of the root element are inserted into the including file
        opening = _OPENING.search(text)
        begin, end = (opening.end() if opening else end), max(text.rfind("</"), 0)
    lines: list[Line] = []

    def add(begin: int, end: int) -> None:
        first = text.count("\n", 0, begin) + 1
        lines.extend(Line(path, first + k, part) for k, part in enumerate(text[begin:end].split("\n")))

    for include in _INCLUDE.finditer(text, begin, end):
        file = file_of(include[0], folder, path.parent)
        if file is not None and file not in done:
            add(begin, include.start())
            lines += _lines(file, folder, done)
            begin = include.end()
    add(begin, end)
    return lines


def file_of(element: str, *folders: Path) -> Path | None:
    """Return the file that an element references, from the first folder that contains it, or None."""
    named = _FILE.search(element)
    name = unescape(named[1]).replace("\\", "/") if named else ""
    files = [Path(os.path.normpath(folder / name)) for folder in folders] if name else []
    return next((file for file in files if os.path.isfile(file)), None)


_LOG = logging.getLogger("tactile_sim.mujoco")
_PREFIX_WARNING = "Attaching a spec with an empty prefix"
_UNNEEDED = ("prevent the model from being saved", "Attach conflict")
"""Parts of messages about scenes that are saved, and about conflicts, of which Python warns itself."""
_UNSTABLE = tuple(f"Nan, Inf or huge value in {what} " for what in ("QPOS", "QVEL", "QACC"))
_ignored = set(_UNNEEDED)
"""Parts of messages that are not logged."""
_logged: set[tuple[str | Path, str]] = set()
"""Scenes and compiler warnings that have been logged."""


def _log_warning(message: str) -> None:
    if not any(part in message for part in _ignored):
        _LOG.warning(message)


def log_warnings() -> None:
    """Log the warnings of MuJoCo in this process with the logger ``tactile_sim.mujoco``."""
    mujoco.set_mju_user_warning(_log_warning)


def ignore_instability() -> None:
    """Stop logging MuJoCo's warnings about unstable physics, because an engine reports them as faults."""
    _ignored.update(_UNSTABLE)


@contextmanager
def logged_warnings(path: str | Path) -> Iterator[None]:
    """Log the Python warnings of MuJoCo's compiler, such as deprecated attributes, once for each scene."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
        if (path, text) not in _logged and not text.startswith(_PREFIX_WARNING):
            _logged.add((path, text))
            _LOG.warning("%s: %s", path, text)


@contextmanager
def without_compiler_warnings() -> Iterator[None]:
    """Ignore the Python warnings of MuJoCo's compiler about a scene for which they have been logged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def without_prefix_warning() -> Iterator[None]:
    """Ignore MuJoCo's warning about robots without a name prefix while the block runs.

    The warning matters only for scenes that are saved.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _PREFIX_WARNING)
        yield
