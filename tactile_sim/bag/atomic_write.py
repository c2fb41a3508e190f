"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tactile_sim.errors import BagError


def refuse_existing(out: Path, force: bool) -> None:
    """Raise a BagError where there is something already that may not be replaced."""
    if out.exists() and not force:
        raise BagError(f"{out} is already there: name another with --out, or replace it with --force")


def beside(bag: Path, ending: str) -> Path:
    """What is made of a bag stands beside it: its name with another ending."""
    named = bag.resolve() if bag.name in ("", "..") else bag
    return named.with_name(bag.resolve().name.removesuffix(".mcap") + ending)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BagError(f"cannot make the folder {folder}: {error.strerror}") from None


@contextmanager
def fresh_folder(out: Path) -> Iterator[None]:
    """Makes a folder for the block to write into; what it made and nothing came into goes again.

    Raises:
        BagError: it cannot be made.
    """
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        _make(out)
        yield
    finally:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


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
