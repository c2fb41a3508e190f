"""Reading of files that users specify: only regular files of limited size, since devices may never end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

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
