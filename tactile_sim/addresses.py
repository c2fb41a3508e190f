"""Resolution of file paths and of ``package://`` and ``file://`` addresses."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlparse

from tactile_sim import share
from tactile_sim.errors import SceneError


def of_address(name: str, where: str, package_paths: Iterable[str | Path] = ()) -> Path:
    """Return the path to which an address refers. ``~`` in a plain path is expanded."""
    if name.startswith("package://"):
        return _in_package(name, where, package_paths)
    if name.startswith("file://"):
        return _of_file_address(name, where)
    if "://" in name:
        raise SceneError(f"{where}{name!r} cannot be fetched; give a path, a package:// or a file:// address")
    return share.expand_home(name)


def _in_package(address: str, where: str, package_paths: Iterable[str | Path]) -> Path:
    package, _, inside = address.removeprefix("package://").partition("/")
    folder = share.package_folder(package, package_paths)
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
