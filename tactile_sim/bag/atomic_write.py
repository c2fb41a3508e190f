"""Write output files atomically, so that a file appears complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tactile_sim.common.errors import BagError


def refuse_existing(out: Path, force: bool) -> None:
    """Check that an output does not exist yet or may be replaced."""
    if out.exists() and not force:
        raise BagError(f"{out} already exists; choose another path, or replace it with --force")


def refuse_bag(out: Path, bag: Path) -> None:
    """Check that an output does not replace the bag from which it is made."""
    files = [bag, *bag.glob("*.mcap"), bag / "metadata.yaml"]
    if out.exists() and any(file.exists() and out.samefile(file) for file in files):
        raise BagError(f"{out} belongs to the bag {bag}; choose another path")


def beside(bag: Path, ending: str) -> Path:
    """Return the default output path, which is next to the bag and has the bag's name."""
    file = Path(os.path.realpath(bag))  # `Path.resolve` raises RuntimeError for a link to itself
    named = file if bag.name in ("", "..") else bag
    return named.with_name(file.name.removesuffix(".mcap") + ending)


def unused(path: Path) -> Path:
    """Return an unused path: ``path``, or ``path`` with ``_2``, ``_3``, ... before the extension."""
    free, number = path, 1
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.stem}_{number}{path.suffix}")
    return free


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise BagError(f"{folder} is a file; choose the path of a folder") from None
    except OSError as error:
        raise BagError(f"cannot create the folder {folder}: {error.strerror}") from None


@contextmanager
def fresh_folder(out: Path) -> Iterator[None]:
    """Create a folder and its missing parents. After the block, remove the created folders if still empty."""
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        _make(out)
        yield
    finally:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def fresh(out: Path, ending: str = ".new") -> Iterator[Path]:
    """Yield a temporary path; rename it to ``out`` after the block, or remove it after an error."""
    made = out.with_name(out.name + ending)
    try:
        yield made
        os.replace(made, out)
    except OSError as error:
        reason = error.strerror or (os.strerror(error.errno) if error.errno else str(error))
        raise BagError(f"cannot write {out}: {reason}") from None
    finally:
        with suppress(OSError):  # on a read-only file system this fails although there is no such file
            made.unlink()
