"""Find files that are named in a configuration."""

from __future__ import annotations

from pathlib import Path

from tactile_sim import share
from tactile_sim.addresses import of_address
from tactile_sim.errors import ConfigError


def find_file(name: str, base: Path | None, where: str) -> Path:
    """Return the path of a file named in a configuration, without checking that the file exists.

    Args:
        name: Absolute path, path relative to ``base`` or to the shipped folder ``scenes``, or an address that
            starts with ``package://`` or ``file://``.
        base: Folder to which relative paths refer, or None.
        where: Prefix for error messages (file and key).

    Raises:
        ConfigError: The name is invalid, or is a relative path although ``base`` is None.
        SceneError: The address cannot be resolved.
    """
    shown = repr(name if len(name) <= 60 else f"{name[:60]}...")
    if not name.isprintable():
        raise ConfigError(f"{where}: {shown} has characters that are not printable; give the name of a file")
    try:
        path = of_address(name, f"{where}: ")
        if path.is_absolute():
            return path
        if base is not None and (base / path).is_file():
            return base / path
        shipped = share.lookup("scenes", name)
    except OSError as error:
        raise ConfigError(f"{where}: {shown}: {error.strerror}; give the name of a file") from None
    if shipped is not None:
        return shipped
    if base is None:
        raise ConfigError(
            f"{where}: {shown} is not shipped, and there is no base folder for a relative path;"
            " write an absolute path or package://PACKAGE/FILE"
        )
    return base / path
