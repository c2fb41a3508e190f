"""Find the package's own files: shipped scenes, configurations, the RViz display.

The source tree has priority if the running code is in it, so that edited scenes take effect immediately. It
is followed by the installation of the code (``colcon``, ``pip``, a system package) and by the prefixes of
``AMENT_PREFIX_PATH``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tactile_sim.errors import ConfigError, SceneError, TactileSimError, suggest

PACKAGE = "tactile_sim"
_EXTENSIONS = {"config": (".yaml", ".yml"), "scenes": (".xml", ".urdf")}
_ERRORS = {"config": ConfigError, "scenes": SceneError}


def folders() -> list[Path]:
    """Return the folders with ``scenes/``, ``config/``, ..., by priority."""
    here = Path(__file__).resolve().parent
    found = [here.parent] if (here.parent / "package.xml").is_file() else []
    found += [parent / "share" / PACKAGE for parent in here.parents]
    found += [prefix / "share" / PACKAGE for prefix in _paths("AMENT_PREFIX_PATH")]
    return [folder for folder in dict.fromkeys(found) if folder.is_dir()]


def find(kind: str, name: str) -> Path:
    """Return a shipped file: ``find("scenes", "touch_cube")``.

    Args:
        kind: Folder in the share, such as ``scenes``, ``config``, ``rviz``.
        name: File name; the extension of scenes and configurations is optional.

    Raises:
        ConfigError, SceneError, TactileSimError: No such file is shipped; the error has the nearest name.
    """
    path = lookup(kind, name)
    if path is None:
        what = kind.removesuffix("s")
        raise _ERRORS.get(kind, TactileSimError)(
            f"no {what} named {name!r} is shipped{suggest(name, names(kind))}"
        )
    return path


def lookup(kind: str, name: str) -> Path | None:
    """Return a shipped file as :func:`find` does, or None if there is none.

    Args:
        kind: Folder in the share.
        name: File name.
    """
    parts = Path(name).parts
    if not parts or Path(name).is_absolute() or ".." in parts:
        return None
    for folder in folders():
        for extension in ("", *_EXTENSIONS.get(kind, ())):
            path = folder / kind / (name + extension)
            if os.path.isfile(path):
                return path
    return None


def names(kind: str) -> list[str]:
    """Return the names of the shipped files of a kind, without optional extensions."""
    extensions = _EXTENSIONS.get(kind, ())
    files = (path for folder in folders() for path in (folder / kind).glob("*") if path.is_file())
    if extensions:
        return sorted({path.stem for path in files if path.suffix in extensions})
    return sorted({path.name for path in files})


def package_folder(package: str) -> Path | None:
    """Return the share folder of a ROS package, for ``package://`` addresses, or None."""
    return next((folder for folder in _package_candidates(package) if package and folder.is_dir()), None)


def similar_file(path: Path) -> str:
    """Return the end of an error about a missing file: a similar name, or that its folder is missing."""
    if not os.path.isdir(path.parent):
        return f": there is no folder {path.parent}"
    try:
        near = suggest(path.name, os.listdir(path.parent))
    except OSError:
        return ""
    return near if "did you mean" in near else ""


def expand_home(path: str | Path) -> Path:
    """Return the path with a leading ``~`` expanded, or unchanged if there is no such home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _package_candidates(package: str) -> Iterator[Path]:
    if package == PACKAGE:
        yield from folders()
    for prefix in _paths("AMENT_PREFIX_PATH"):
        yield prefix / "share" / package
    for folder in _paths("ROS_PACKAGE_PATH"):
        yield folder / package
        if folder.name == package:
            yield folder


def _paths(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]
