"""Files by path, ``package://`` or ``file://`` address."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlparse

from tactile_sim import share
from tactile_sim.errors import SceneError


def of_address(name: str, where: str) -> Path:
    """The path that an address stands for; a plain path as it is, with its ``~`` replaced.

    Raises SceneError, whose text begins with ``where``, for an address that leads to no file of this machine.
    """
    if name.startswith("package://"):
        return _in_package(name, where)
    if name.startswith("file://"):
        return _of_file_address(name, where)
    if "://" in name:
        raise SceneError(f"{where}{name!r} cannot be fetched; give a path, a package:// or a file:// address")
    return share.expand_home(name)


def _in_package(address: str, where: str) -> Path:
    package, _, inside = address.removeprefix("package://").partition("/")
    folder = share.package_folder(package)
    if folder is None:
        raise SceneError(
            f"{where}{address}: no package {package!r} in AMENT_PREFIX_PATH or ROS_PACKAGE_PATH;"
            " source its workspace, or write an absolute path"
        )
    return folder / unquote(inside)


def _of_file_address(address: str, where: str) -> Path:
    try:
        parts = urlparse(address)
    except ValueError as error:
        raise SceneError(f"{where}{address}: not a file:// address: {error}") from None
    if parts.netloc not in ("", "localhost"):
        raise SceneError(f"{where}{address}: names another machine; a file here has three slashes: file:///")
    return Path(unquote(parts.path))
