"""Report exceptions of the user's functions in one line."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tactile_sim.errors import CommandError, TactileSimError


def call(option: str, path: Path, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that is, or calls, the user's.

    Args:
        option: Option that names the function, for error messages.
        path: File of the user's function.
        function: Function to call.
        arguments: Its arguments.

    Raises:
        CommandError: The function raised an exception. The message names the line in the user's file.
        TactileSimError: Another function raised this error.
    """
    try:
        return function(*arguments)
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f":{frame.lineno}" for frame in frames if frame.filename == str(path)]
        if isinstance(error, TactileSimError) and not lines:
            raise
        reason = " ".join(str(error).split())
        raise CommandError(
            f"{option}: {path}{''.join(lines[-1:])}: {type(error).__name__}: {reason}"
        ) from None
