"""Convert MuJoCo's scene errors to one-line messages with file, line number, element and remedy."""

from __future__ import annotations

import os
import re
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from xml.parsers import expat

import mujoco
import numpy as np

from tactile_sim.errors import SceneError
from tactile_sim.files import MOST_TEXT, read_file
from tactile_sim.names import Names
from tactile_sim.scenes.contact_sensors import fault_of_contact_sensor

_REMEDIES = {
    "no decoder found for mesh": "; convert the mesh to STL or OBJ",
    "stl_decoder": "; export it again, because it may be incomplete",
    "surface area is too small": "; check the unit and the scale of the mesh",
    "vertices required": "; a mesh must enclose a volume",
    "Error opening file": "; files are relative to the scene's folder, or to its meshdir or texturedir",
    "qhull error": "; the vertices of a mesh must be finite and not lie in one plane",
    "unknown exception": "; MuJoCo gives no reason; often, a count or size is too large for the memory",
    "geometry specification not found": "; a shape is a box, sphere, cylinder, capsule or mesh",
    "larger than mjMINVAL": "; give the body a geom with enough mass, or an inertial",
}
_OF_A_MODEL = re.compile(r"could not parse model file with error: (.*) Element 'model', line (\d+)$")
_KINDS = (("geom", "geom", "geoms"), ("jnt", "joint", "joints"), ("body", "body", "bodies"))
NOT_CONTENT = re.compile(r"<\?.*?(?:\?>|\Z)|<!--.*?(?:-->|\Z)|<!DOCTYPE[^>]*(?:>|\Z)", re.DOTALL)
"""Comments and declarations. An unclosed one matches up to the end, so that the search time is linear."""
_INCLUDE = re.compile(r"<include\b[^<>]*(?:(?<=/)>|>\s*</include\s*>)")
_FILE = re.compile(r"""\bfile\s*=\s*["']([^"']*)["']""")
_OPENING = re.compile(r"<[A-Za-z_][^<>]*>")
_MALFORMED = re.compile(r"bad format in attribute '(\w+)'")
_ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_PLACE = re.compile(r"\s*Element '([^']*)', line (\d+)\s*$")


@dataclass(frozen=True)
class _Line:
    """A line of a scene, with the file and the line number from which it comes."""

    file: Path
    number: int  # starts at 1
    text: str


def refusal(path: Path, error: Exception) -> SceneError:
    """Convert MuJoCo's error about the scene ``path`` to a one-line SceneError.

    MuJoCo's errors about included files contain neither the file name nor the line; this function adds both.
    """
    message = " ".join(str(error).split())
    if "Element 'contact'" in message:
        for file in scene_files(path):
            if fault := fault_of_contact_sensor(file):
                return SceneError(f"{file}: {fault}")
    if model := _OF_A_MODEL.search(message):
        attached = _attached(path, int(model[2]))
        if attached is not None:
            return refusal(attached, ValueError(model[1]))
    broken = re.search(r"XML parse error.*?Error=(?:XML_ERROR_)?(\w+).*?Line number=(\d+)", message)
    if broken:
        file = next((file for file in scene_files(path) if not _well_formed(file)), path)
        return SceneError(f"{file}: line {broken[2]}: broken XML ({broken[1].lower().replace('_', ' ')})")
    reason, element, line = _parts(message)
    file = path
    if line == 0:
        file, line = _included(path, reason, element) or (path, 0)
    if line and (attribute := _MALFORMED.match(reason)):
        name, value = _malformed(file, line, element, attribute[1])
        element, reason = name or element, f"{reason}, got {value!r}" if value else reason
    place = f"line {line}: " if line else ""
    return SceneError(f"{file}: {place}{f'{element!r}: ' if element else ''}{_with_remedy(reason)}")


def reason_of(error: Exception) -> str:
    """Return the reason stated in MuJoCo's error, without element and line, plus a remedy if one is known."""
    return _with_remedy(_parts(" ".join(str(error).split()))[0])


def _with_remedy(reason: str) -> str:
    remedy = next((remedy for sign, remedy in _REMEDIES.items() if sign in reason), "")
    return reason.rstrip(".?") + remedy if remedy else reason


def without_line(message: str, urdf: str) -> str:
    """Replace the line number in MuJoCo's error about a rewritten URDF with the link or joint on that line.

    The line numbers in the user's file are different.

    Args:
        message: MuJoCo's error.
        urdf: Text of the rewritten URDF.
    """
    place = _PLACE.search(message)
    if place is None:
        return message
    owners: set[str] = set()
    path: list[str] = []

    def enter(tag: str, attributes: dict[str, str]) -> None:
        path.append(f"{tag} {attributes.get('name')!r}")
        if tag == place[1] and parser.CurrentLineNumber == int(place[2]):
            owners.update(path[1:2])

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = enter, lambda _: path.pop()
    parser.Parse(urdf, True)
    where = f"{owners.pop()}: " if len(owners) == 1 else ""
    return f"{where}{place[1]}: {message[: place.start()].removeprefix('XML Error: ')}"


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
        except (ValueError, RuntimeError, mujoco.FatalError):
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


def _parts(message: str) -> tuple[str, str, int | None]:
    """Split MuJoCo's error message into reason, element and line number.

    The line number is 0 for an included file, and None if the message contains none.
    """
    message = re.sub(r"^((XML )?Error: ?)+", "", message)
    place = re.search(r" Element (?:name )?'([^']*)'(?:, id \d+)?(?:, line (\d+))?", message)
    if place is None:
        return message, "", None
    return message[: place.start()], place[1], int(place[2]) if place[2] else None


def _malformed(file: Path, line: int, tag: str, attribute: str) -> tuple[str, str]:
    """Find the first element with a non-numeric word in a numeric attribute, beginning at a line.

    Args:
        file: The scene's file.
        line: Line at which the search begins.
        tag: Tag of the element.
        attribute: Name of the numeric attribute.

    Returns:
        The name of the element and the text of the attribute; both are empty if there is no such element.
    """
    text = "\n".join(found.text for found in _lines(file, file.parent, set()) if found.file == file)
    start = sum(len(part) + 1 for part in text.split("\n")[: line - 1])
    for element in re.finditer(rf"<{re.escape(tag)}\b[^<>]*>", text[start:]):
        given = {key: one or two for key, one, two in _ATTRIBUTE.findall(element[0])}
        if attribute in given and not all(map(_is_number, given[attribute].split())):
            return given.get("name", ""), given[attribute]
    return "", ""


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _included(path: Path, reason: str, element: str) -> tuple[Path, int] | None:
    """Return the included file and the line number that cause an error, or None.

    The scene is parsed again with the included files inlined. Includes that fail are left unchanged.

    Args:
        path: The scene's main file.
        reason: Reason in MuJoCo's error message.
        element: Element in MuJoCo's error message.
    """
    lines = _lines(path, path.parent, set())
    try:
        spec = mujoco.MjSpec.from_string("\n".join(line.text for line in lines))
        spec.modelfiledir = str(path.parent)
        spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        again, where, number = _parts(" ".join(str(error).split()))
        if number and (again == reason or where == element == "include"):
            return lines[number - 1].file, lines[number - 1].number
    return None


def scene_files(path: Path) -> list[Path]:
    """Return the paths of a scene's main file and of all files that it includes."""
    return [path, *dict.fromkeys(line.file for line in _lines(path, path.parent, set()) if line.file != path)]


def _attached(path: Path, number: int) -> Path | None:
    """Return the file that a line of a scene refers to in a ``<model>`` element, or None if there is none."""
    lines = _lines(path, path.parent, set())
    text = next((line.text for line in lines if (line.file, line.number) == (path, number)), "")
    return file_of(text, path.parent)


def _lines(path: Path, folder: Path, done: set[Path]) -> list[_Line]:
    """Return the lines of a file, with the lines of each included file in place of its first include.

    Args:
        path: File to read.
        folder: Folder of the scene's main file, which MuJoCo searches first.
        done: Files that have already been included, which are not included again; empty for the main file.
    """
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
    lines: list[_Line] = []
    for include in _INCLUDE.finditer(text, begin, end):
        file = file_of(include[0], folder, path.parent)
        if file is not None and file not in done:
            lines += _written(path, text, begin, include.start())
            lines += _lines(file, folder, done)
            begin = include.end()
    return lines + _written(path, text, begin, end)


def file_of(element: str, *folders: Path) -> Path | None:
    """Return the file that an element references, from the first folder that contains it, or None."""
    named = _FILE.search(element)
    name = unescape(named[1]).replace("\\", "/") if named else ""
    files = [Path(os.path.normpath(folder / name)) for folder in folders] if name else []
    return next((file for file in files if os.path.isfile(file)), None)


def _written(path: Path, text: str, begin: int, end: int) -> list[_Line]:
    first = text.count("\n", 0, begin) + 1
    return [_Line(path, first + k, line) for k, line in enumerate(text[begin:end].split("\n"))]


def _well_formed(path: Path) -> bool:
    try:
        ElementTree.parse(path)
    except (ElementTree.ParseError, OSError):
        return False
    return True
