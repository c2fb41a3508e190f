"""Goals of ``rearrange_dice`` as text: ``#`` outside of the arena, ``.`` a free cell, ``X`` a die."""

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
    """A pattern without dice: a line for each row of cells."""
    rows = (
        [
            CHAR_EMPTY if _is_cell_inside_arena((row, column)) else CHAR_OUTSIDE
            for column in range(N_CELLS_PER_ROW)
        ]
        for row in range(N_CELLS_PER_ROW)
    )
    return "\n".join("".join(row) for row in rows)


def create_pattern_template_file(filename: str | PathLike[str]) -> None:
    """Writes a pattern without dice, to be filled in; what stands below an empty line is not read."""
    with open(filename, "w") as file:
        file.write(f"{create_empty_pattern()}\n\nFrom the empty line on, nothing is read.\n")


def parse_pattern(goal_pattern: Iterable[str]) -> list[tuple[float, float, float]]:
    """The goal [m] of a pattern's lines; an empty line ends it.

    Raises:
        GoalFileError: a ``RuntimeError``; a row is too long or short, a die is outside, or there are not 25.
    """
    goal = []
    for row, text in enumerate(goal_pattern):
        line = text.strip()
        if not line:
            break
        if row >= N_CELLS_PER_ROW:
            raise GoalFileError(f"the pattern has more than {N_CELLS_PER_ROW} rows")
        if len(line) != N_CELLS_PER_ROW:
            raise GoalFileError(f"row {row} of the pattern has {len(line)} characters, not {N_CELLS_PER_ROW}")
        for column in (index for index, character in enumerate(line) if character == CHAR_FILLED):
            if not _is_cell_inside_arena((row, column)):
                raise GoalFileError(
                    f"a die in row {row}, column {column} of the pattern is outside of the arena"
                )
            goal.append(_cell_center_position((row, column)))
    if len(goal) != NUM_DICE:
        raise GoalFileError(f"the pattern has {len(goal)} dice, not {NUM_DICE}")
    return goal


def parse_pattern_file(f: TextIO) -> list[tuple[float, float, float]]:
    """The goal [m] of an open file with a pattern; errors as in :func:`parse_pattern`."""
    return parse_pattern(f)
