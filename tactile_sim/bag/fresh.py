"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tactile_sim.errors import BagError


def refuse_existing(out: Path, force: bool) -> None:
    """Raise a BagError where there is something already that may not be replaced."""
    if out.exists() and not force:
        raise BagError(f"{out} is already there: name another with --out, or replace it with --force")


@contextmanager
def fresh(out: Path) -> Iterator[Path]:
    """A path to write to; at the end of the block its file takes the place of ``out``, and on errors it goes.

    Raises:
        BagError: it cannot be written.
    """
    made = out.with_name(out.name + ".new")
    try:
        yield made
        os.replace(made, out)
    except OSError as error:
        reason = error.strerror or (os.strerror(error.errno) if error.errno else str(error))
        raise BagError(f"cannot write {out}: {reason}") from None
    finally:
        made.unlink(missing_ok=True)
