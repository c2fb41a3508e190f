"""Formatting of counts and lists of names for messages, and progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager


def counted(number: int, one: str, many: str = "") -> str:
    """Format a number with a noun, such as ``1 body`` or ``2 bodies``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """Join names with commas, and shorten more than ``limit`` names to ``a, b, ... (9 in total)``."""
    return ", ".join(names[:limit]) + (f", ... ({len(names)} in total)" if len(names) > limit else "")


_lines = False


def use_lines() -> None:
    """Let `progress` print a line such as ``40 % rendering`` for each percent if there is no terminal."""
    global _lines
    _lines = True


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error during the block."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    if _lines and not sys.stderr.isatty():
        yield _line_printer(what)
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _line_printer(what: str) -> Callable[[int, int], None]:
    last = -1

    def show(done: int, total: int) -> None:
        nonlocal last
        percent = 100 * done // max(total, 1)
        if percent != last:
            last = percent
            print(f"{percent} % {what}", file=sys.stderr, flush=True)

    return show
