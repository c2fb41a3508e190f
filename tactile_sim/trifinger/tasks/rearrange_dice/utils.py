"""Write and parse goals as text: ``#`` marks a cell outside the arena, ``.`` a free cell and ``X`` a die."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TextIO

from tactile_sim.trifinger.errors import GoalFileError
from tactile_sim.trifinger.tasks.rearrange_dice import (
    N_CELLS_PER_ROW,
    NUM_DICE,
    _cell_center_position,
    _is_cell_inside_arena,
)

CHAR_OUTSIDE = "#"
CHAR_EMPTY = "."
CHAR_FILLED = "X"


def create_empty_pattern() -> str:
    """Return a pattern without dice, with one line for each row of cells."""
    rows = (
        [
            CHAR_EMPTY if _is_cell_inside_arena((row, column)) else CHAR_OUTSIDE
            for column in range(N_CELLS_PER_ROW)
        ]
        for row in range(N_CELLS_PER_ROW)
    )
    return "\n".join("".join(row) for row in rows)


def create_pattern_template_file(filename: str | PathLike[str]) -> None:
    """Write a file that contains a pattern without dice, which the user can fill in.

    `parse_pattern` ignores all text below an empty line.
    """
    with open(filename, "w") as file:
        file.write(f"{create_empty_pattern()}\n\nText from the empty line on is ignored.\n")


def parse_pattern(goal_pattern: Iterable[str]) -> list[tuple[float, float, float]]:
    """Convert a pattern to a goal.

    Args:
        goal_pattern: Lines of the pattern; an empty line ends it.

    Returns:
        Positions of the dice in the world [m].

    Raises:
        GoalFileError: There are too many rows, the number of columns or dice is wrong, or a die is outside
            the arena.
    """
    goal = []
    for row, text in enumerate(goal_pattern):
        line = text.strip()
        if not line:
            break
        if row >= N_CELLS_PER_ROW:
            raise GoalFileError(f"pattern: must have at most {N_CELLS_PER_ROW} rows")
        if len(line) != N_CELLS_PER_ROW:
            raise GoalFileError(
                f"row {row} of the pattern: must have {N_CELLS_PER_ROW} characters, got {len(line)}"
            )
        for column in (index for index, character in enumerate(line) if character == CHAR_FILLED):
            if not _is_cell_inside_arena((row, column)):
                raise GoalFileError(f"pattern: die in row {row}, column {column} is outside the arena")
            goal.append(_cell_center_position((row, column)))
    if len(goal) != NUM_DICE:
        raise GoalFileError(f"pattern: must have {NUM_DICE} dice, got {len(goal)}")
    return goal


def parse_pattern_file(f: TextIO) -> list[tuple[float, float, float]]:
    """Read a pattern from an open file and convert it to a goal; see `parse_pattern`."""
    return parse_pattern(f)
