"""Convert meshes in formats that MuJoCo cannot read, decompose meshes, and cache the results."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import struct
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.common.errors import SceneError
from tactile_sim.common.files import MOST_ASSET, check_file, read_file

CONVERTED = (".dae", ".gltf", ".glb", ".ply", ".off")
"""Extensions of meshes that are always converted."""
MOST_STL_FACES = 200_000
"""Largest number of triangles in an STL file that MuJoCo reads."""
_VERSION = b"1"
"""Version of the conversion. Change it with the conversion, so that older cached files are not used."""
_UNIT = re.compile(rb"""<unit\b[^>]*\bmeter\s*=\s*["']([^"']+)["']""")
_FACE = 50  # bytes of a triangle in a binary STL file


def mujoco_mesh(path: Path, where: str) -> Path:
    """Return a mesh file that MuJoCo can read: the file itself, or a converted copy in the cache.

    COLLADA, glTF, PLY and OFF files are converted to OBJ, as are ASCII STL files and STL files with more than
    `MOST_STL_FACES` triangles. COLLADA's unit is applied, but its up axis is ignored, as in RViz.
    """
    kind = path.suffix.lower()
    try:
        if kind not in CONVERTED and not (kind == ".stl" and _rejected_stl(path)):
            return path
        content = read_file(path, MOST_ASSET)
    except OSError as error:
        raise SceneError(f"{where}: {path}: cannot be read: {error.strerror or error}") from None
    parts = [_VERSION, kind.encode(), content, *(_referenced(path, content) if kind == ".gltf" else ())]
    name = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:32]
    return cached(f"{name}.obj", lambda: _converted(path, kind, content, where))


def cached(name: str, make: Callable[[], bytes]) -> Path:
    """Return the path of a file in the cache, and create the file if it is missing."""
    folder = cache_folder()
    file = folder / name
    if not file.is_file():
        content = make()
        handle, temporary = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as output:
            output.write(content)
        os.replace(temporary, file)  # another process may write the same file
    return file


@cache
def cache_folder() -> Path:
    """Return the folder for converted meshes in the user's cache, or a temporary folder as a fallback."""
    home = os.path.expanduser("~")
    parents = [os.environ.get("XDG_CACHE_HOME", ""), os.path.join(home, ".cache") if home != "~" else ""]
    for parent in filter(None, parents):
        folder = Path(parent) / "tactile_sim" / "meshes"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="tactile_sim_meshes_"))


def read_mesh(path: Path, where: str) -> Any:
    """Read a mesh file as a single `trimesh.Trimesh`."""
    import trimesh

    try:
        check_file(path, MOST_ASSET)
        mesh = trimesh.load_scene(path).to_mesh()
    except ImportError as error:
        raise SceneError(
            f"{where}: {path}: needs {error.name}; install it: pip install {error.name}"
        ) from None
    except OSError as error:
        raise SceneError(f"{where}: {path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:  # each format raises its own exceptions
        raise SceneError(
            f"{where}: {path}: not a valid {path.suffix} file{_reason(error)}; export it again, or as STL"
        ) from None
    if not len(mesh.faces):
        raise SceneError(f"{where}: {path}: must have triangles, got none; export it again")
    return mesh


def _reason(error: Exception) -> str:
    """Return why a library cannot read a file, or nothing if its message would mean nothing to users."""
    if isinstance(error, AttributeError | LookupError | TypeError | UnicodeError | struct.error):
        return ""
    message = re.sub(r"^(\w+(Error|Exception): )+", "", str(error))
    return f": {message}" if message else ""


def _converted(path: Path, kind: str, content: bytes, where: str) -> bytes:
    """Convert a mesh and return the bytes of an OBJ file."""
    if kind == ".dae":
        try:
            import collada  # noqa: F401
        except ImportError:
            raise SceneError(
                f"{where}: {path}: COLLADA needs the package pycollada; install it: pip install pycollada"
            ) from None
    mesh = read_mesh(path, where)
    if kind == ".dae" and (unit := _UNIT.search(content[: 1 << 20])):
        mesh.apply_scale(float(unit[1]))
    return mesh.export(file_type="obj", include_normals=False, include_texture=False, header=None).encode()


def _rejected_stl(path: Path) -> bool:
    """Return whether MuJoCo would reject an STL file because it is ASCII or too large."""
    check_file(path, MOST_ASSET)
    with open(path, "rb") as file:
        head = file.read(84)
    faces = int.from_bytes(head[80:84], "little")
    if len(head) == 84 and os.path.getsize(path) == 84 + _FACE * faces:
        return faces > MOST_STL_FACES
    return head.lstrip()[:5].lower() == b"solid"


def _referenced(path: Path, content: bytes) -> Iterator[bytes]:
    """Yield the contents of the buffer files that a glTF file references."""
    try:
        buffers = json.loads(content).get("buffers", [])
        addresses = [buffer.get("uri", "") for buffer in buffers]
    except (ValueError, AttributeError):
        return  # reported by the conversion
    for address in addresses:
        if not address.startswith("data:"):
            yield read_file(path.parent / address, MOST_ASSET)


THRESHOLD = 0.05
"""Parts with a concavity below this fraction of the mesh's size are not divided further."""


def convex_parts(path: Path, where: str) -> list[Path]:
    """Return OBJ files with convex parts that together approximate a mesh."""
    file = mujoco_mesh(path, where)
    try:
        digest = hashlib.sha256(read_file(file, MOST_ASSET)).hexdigest()[:32]
    except OSError as error:
        raise SceneError(f"{where}: {file}: cannot be read: {error.strerror or error}") from None
    name = f"{digest}-{THRESHOLD:g}-parts"
    archive = cached(f"{name}.npz", lambda: _divide(file, where))
    with np.load(archive) as saved:
        count = len(saved.files) // 2
        return [
            cached(f"{name}-{k}.obj", partial(_obj, saved[f"vertices{k}"], saved[f"faces{k}"]))
            for k in range(count)
        ]


def _divide(file: Path, where: str) -> bytes:
    """Divide a mesh into convex parts; return the bytes of an NPZ file with their vertices and faces."""
    try:
        import coacd
    except ImportError:
        raise SceneError(
            f"{where}: needs the package coacd; install it: pip install coacd, or set decompose: false"
        ) from None
    mesh = read_mesh(file, where)
    coacd.set_log_level("error")
    try:
        parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), threshold=THRESHOLD, seed=1)
    except RuntimeError as error:
        raise SceneError(f"{where}: {file}: cannot be divided: {error}") from None
    arrays: dict[str, Any] = {}
    for k, (vertices, faces) in enumerate(parts):
        arrays |= {f"vertices{k}": vertices, f"faces{k}": faces}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _obj(vertices: np.ndarray, faces: np.ndarray) -> bytes:
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in vertices]
    lines += [f"f {a} {b} {c}" for a, b, c in faces + 1]
    return "\n".join(lines).encode() + b"\n"
