"""Files: those shipped with this package, addresses, and files that users specify.

If the running code is in the source tree, the source tree is searched first, so that edited scenes take
effect immediately. Then the folders of the installation (by ``colcon``, ``pip`` or a system package) and the
prefixes in ``AMENT_PREFIX_PATH`` are searched.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import yaml

from tactile_sim.common.errors import ConfigError, SceneError, TactileSimError, suggest

PACKAGE = "tactile_sim"
PACKAGE_LEVELS = 4
"""Maximum depth of the search for packages below a folder [levels]."""
YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Loader of PyYAML; libyaml, where present, is ten times as fast."""
_EXTENSIONS = {"config": (".yaml", ".yml"), "scenes": (".xml", ".urdf")}
_ERRORS = {"config": ConfigError, "scenes": SceneError}


def share_folders() -> list[Path]:
    """Return the folders that contain ``scenes/``, ``config/``, ..., in search order."""
    here = Path(__file__).resolve().parent.parent
    found = [here.parent] if (here.parent / "package.xml").is_file() else []
    found += [parent / "share" / PACKAGE for parent in here.parents]
    found += [prefix / "share" / PACKAGE for prefix in _paths("AMENT_PREFIX_PATH")]
    return [folder for folder in dict.fromkeys(found) if folder.is_dir()]


def find_shipped(kind: str, name: str) -> Path:
    """Return the path of a shipped file, such as ``find("scenes", "touch_cube")``."""
    path = shipped_file(kind, name)
    if path is None:
        what = kind.removesuffix("s")
        raise _ERRORS.get(kind, TactileSimError)(
            f"no {what} named {name!r} is shipped{suggest(name, shipped_names(kind))}"
        )
    return path


def shipped_file(kind: str, name: str) -> Path | None:
    """Return the path of a shipped file as :func:`find` does, or None if it does not exist."""
    parts = Path(name).parts
    if not parts or Path(name).is_absolute() or ".." in parts:
        return None
    for folder in share_folders():
        for extension in ("", *_EXTENSIONS.get(kind, ())):
            path = folder / kind / (name + extension)
            if os.path.isfile(path):
                return path
    return None


def shipped_names(kind: str) -> list[str]:
    """Return the names of all shipped files of a kind, without the extensions that `find` adds."""
    extensions = _EXTENSIONS.get(kind, ())
    files = (path for folder in share_folders() for path in (folder / kind).glob("*") if path.is_file())
    if extensions:
        return sorted({path.stem for path in files if path.suffix in extensions})
    return sorted({path.name for path in files})


def package_folder(package: str, search: Iterable[str | Path] = ()) -> Path | None:
    """Find the share folder of a ROS package, to resolve a ``package://`` address."""
    if not package:
        return None
    return next((folder for folder in _package_candidates(package, search) if folder.is_dir()), None)


def similar_file(path: Path) -> str:
    """Return a suffix for the error message about a missing file.

    The suffix names the folder if it does not exist, or else the file with the most similar name. It is empty
    if no name is similar.
    """
    if not os.path.isdir(path.parent):
        return f": there is no folder {path.parent}"
    try:
        near = suggest(path.name, os.listdir(path.parent))
    except OSError:
        return ""
    return near if "did you mean" in near else ""


def expand_home(path: str | Path) -> Path:
    """Expand a leading ``~`` in a path. The path is unchanged if the home folder is unknown."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _package_candidates(package: str, search: Iterable[str | Path]) -> Iterator[Path]:
    folders_to_search = [Path(folder) for folder in search]
    yield from _direct(package, folders_to_search)
    if package == PACKAGE:
        yield from share_folders()
    for prefix in _paths("AMENT_PREFIX_PATH"):
        yield prefix / "share" / package
    workspaces = _paths("ROS_PACKAGE_PATH")
    yield from _direct(package, workspaces)
    for folder in [*folders_to_search, *workspaces]:
        yield from _nested(package, folder)


def _direct(package: str, search: Iterable[Path]) -> Iterator[Path]:
    for folder in search:
        yield folder / package
        if folder.name == package:
            yield folder


def _nested(package: str, folder: Path) -> Iterator[Path]:
    """Yield all folders inside ``folder`` that are named ``package`` and contain a ``package.xml``."""
    for path, inner, files in os.walk(folder):
        if "package.xml" in files:
            if os.path.basename(path) == package:
                yield Path(path)
            inner.clear()  # packages do not contain packages
        elif len(Path(path).relative_to(folder).parts) >= PACKAGE_LEVELS:
            inner.clear()
        else:
            inner[:] = sorted(name for name in inner if not name.startswith("."))


def _paths(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def of_address(name: str, where: str, package_paths: Iterable[str | Path] = ()) -> Path:
    """Return the path to which an address refers. ``~`` in a plain path is expanded."""
    if name.startswith("package://"):
        return _in_package(name, where, package_paths)
    if name.startswith("file://"):
        return _of_file_address(name, where)
    if "://" in name:
        raise SceneError(f"{where}{name!r} cannot be fetched; give a path, a package:// or a file:// address")
    return expand_home(name)


def _in_package(address: str, where: str, package_paths: Iterable[str | Path]) -> Path:
    package, _, inside = address.removeprefix("package://").partition("/")
    folder = package_folder(package, package_paths)
    if folder is None:
        raise SceneError(
            f"{where}{address}: no package {package!r} in package_paths, AMENT_PREFIX_PATH or"
            " ROS_PACKAGE_PATH; source its workspace, or write an absolute path"
        )
    return folder / unquote(inside)


def _of_file_address(address: str, where: str) -> Path:
    try:
        parts = urlparse(address)
    except ValueError as error:
        raise SceneError(f"{where}{address}: not a file:// address: {error}") from None
    if parts.netloc not in ("", "localhost"):
        raise SceneError(f"{where}{address}: names another machine; local files are file:///PATH")
    return Path(unquote(parts.path))


MB = 1 << 20
MOST_TEXT = 64 * MB
"""Maximum size of a scene (MJCF, URDF) [bytes]."""
MOST_ASSET = 512 * MB
"""Maximum size of a mesh or image [bytes]."""


def check_file(path: Path, most: int) -> None:
    """Check that a file exists and is safe to open with a library.

    Args:
        path: Path of the file.
        most: Maximum size [bytes].
    """
    try:
        status = os.stat(path)
    except ValueError as error:  # a null character or a lone surrogate
        raise OSError(errno.EINVAL, str(error)) from None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file")
    if status.st_size > most:
        raise OSError(errno.EFBIG, f"must have at most {most / MB:g} MB, got {status.st_size / MB:.0f} MB")


def read_file(path: Path, most: int) -> bytes:
    """Return the contents of a file. Arguments and exceptions are those of `check_file`."""
    check_file(path, most)
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:  # files in /proc have no size
        raise OSError(errno.EFBIG, f"must have at most {most / MB:g} MB")
    return content
