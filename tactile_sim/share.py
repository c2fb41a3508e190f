"""Where the package's own files lie: shipped scenes, configs, the RViz display.

One finder for all ways to be installed. The source tree comes first where the running code is in it, so that
an edited scene acts at once; then the installation that the code belongs to (``colcon``, ``pip``, a system
package); then every prefix of ``AMENT_PREFIX_PATH``.
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
    """Folders that hold ``scenes/``, ``config/``, ..., the preferred one first."""
    here = Path(__file__).resolve().parent
    found = [here.parent] if (here.parent / "package.xml").is_file() else []
    found += [parent / "share" / PACKAGE for parent in here.parents]
    found += [prefix / "share" / PACKAGE for prefix in _paths("AMENT_PREFIX_PATH")]
    return [folder for folder in dict.fromkeys(found) if folder.is_dir()]


def find(kind: str, name: str) -> Path:
    """The shipped file ``name`` of a kind: ``find("scenes", "touch_cube")``.

    Args:
        kind: folder in the share, such as ``scenes``, ``config``, ``rviz``.
        name: file name; for scenes and configs the extension may be left out.

    Raises:
        ConfigError, SceneError, TactileSimError: nothing of that name is shipped; names the nearest.
    """
    path = lookup(kind, name)
    if path is None:
        what = kind.removesuffix("s")
        raise _ERRORS.get(kind, TactileSimError)(
            f"no {what} named {name!r} is shipped{suggest(name, names(kind))}"
        )
    return path


def lookup(kind: str, name: str) -> Path | None:
    """Like :func:`find`, but ``None`` where nothing of that name is shipped."""
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
    """Names of the shipped files of a kind, without the extension where it may be left out."""
    extensions = _EXTENSIONS.get(kind, ())
    files = (path for folder in folders() for path in (folder / kind).glob("*") if path.is_file())
    if extensions:
        return sorted({path.stem for path in files if path.suffix in extensions})
    return sorted({path.name for path in files})


def package_folder(package: str) -> Path | None:
    """The share folder of any ROS package, for ``package://`` addresses; ``None`` where it is not found."""
    return next((folder for folder in _package_candidates(package) if package and folder.is_dir()), None)


def similar_file(path: Path) -> str:
    """The end of an error about a missing file: one of nearly that name, or that its folder is missing."""
    if not os.path.isdir(path.parent):
        return f": there is no folder {path.parent}"
    try:
        near = suggest(path.name, os.listdir(path.parent))
    except OSError:
        return ""
    return near if "did you mean" in near else ""


def expand_home(path: str | Path) -> Path:
    """The path with a leading ``~`` replaced; as it is where that stands for no home."""
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
