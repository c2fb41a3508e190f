"""Goals for dice, their masks in images, and costs, compared with their definitions."""

import io
import json
import math

import numpy as np
import pytest
from support.errors import raises

from tactile_sim.trifinger.camera import CameraParameters
from tactile_sim.trifinger.tasks import rearrange_dice
from tactile_sim.trifinger.tasks.rearrange_dice import utils

DOWN = np.array([[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 1.0], [0, 0, 0, 1]])
"""Transform from the world to a camera that looks down from 1 m above the centre of the arena."""
MATRIX = np.array([[1000.0, 0, 200], [0, 1000.0, 150], [0, 0, 1]])
ABOVE = CameraParameters("above", 400, 300, MATRIX, np.zeros(5), DOWN)
GOAL = [(x, y, 0.011) for x in np.linspace(-0.1, 0.1, 5) for y in np.linspace(-0.1, 0.1, 5)]


def test_drawn_dice_are_on_different_cells():
    rearrange_dice.seed(1)
    goal = rearrange_dice.sample_goal()
    rearrange_dice.validate_goal(goal)
    assert len(set(goal)) == 25
    corners = np.abs(np.array(goal)[:, :2]) + 0.011
    assert np.hypot(*corners.T).max() <= 0.19
    cells = np.array(goal)[:, :2] / 0.022
    np.testing.assert_allclose(cells, np.round(cells), atol=1e-9)  # 17 cells in a row, the central one at 0


def test_equal_seeds_draw_equal_goals():
    drawn = []
    for seed in (3, 3, 4):
        rearrange_dice.seed(seed)
        drawn.append(rearrange_dice.sample_goal())
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("change", "error", "facts"),
    [
        (lambda goal: goal[:24], rearrange_dice.InvalidGoalError, ("goal", "25", "24")),
        (
            lambda goal: [(0, 0), *goal[1:]],
            rearrange_dice.InvalidGoalError,
            ("position 0 of the goal", "3", "2"),
        ),
        (lambda goal: None, rearrange_dice.InvalidGoalError, ("goal", "None")),
        (lambda goal: [(0, "0", 0), *goal[1:]], ValueError, ("position 0 of the goal", "3")),
        (lambda goal: [(0.18, 0, 0.011), *goal[1:]], rearrange_dice.OutOfArenaError, ("arena",)),
        (lambda goal: [(0, 0, 0.0109), *goal[1:]], rearrange_dice.OutOfArenaError, ("arena",)),
    ],
)
def test_invalid_goal_is_rejected(change, error, facts):
    rearrange_dice.validate_goal(GOAL)
    with raises(error, *facts):
        rearrange_dice.validate_goal(change(GOAL))


def test_cost_counts_pixels_outside_goal():
    goal, actual = np.zeros((2, 3, 4, 5), np.uint8)[0], np.zeros((3, 4, 5), np.uint8)
    goal[:, :2] = 255
    actual[:, 1:3] = 255
    actual[2] = 0
    assert rearrange_dice.evaluate_state(goal, actual) == 10.0  # one row of five in each of two images
    assert rearrange_dice.evaluate_state(goal, goal) == 0.0


def test_masks_of_other_shapes_are_rejected():
    with raises(ValueError, "shapes"):
        rearrange_dice.evaluate_state([np.zeros((4, 5))], [np.zeros((4, 5)), np.zeros((4, 5))])


def test_mask_shows_targets():
    [mask] = rearrange_dice.generate_goal_mask([ABOVE], [(0.1, 0.05, 0.011)])
    rows, columns = np.nonzero(mask)
    # The upper face (z 0.024 with the tolerance) appears larger: 26 mm at 0.976 m.
    right, left = 200 + 1000 * 0.113 / 0.976, 200 + 1000 * 0.087 / 1.002
    upper, lower = 150 - 1000 * 0.063 / 0.976, 150 - 1000 * 0.037 / 1.002
    assert (columns.min(), columns.max()) == (math.floor(left), math.floor(right))
    assert (rows.min(), rows.max()) == (math.floor(upper), math.floor(lower))
    assert mask.shape == (300, 400)
    assert set(np.unique(mask)) == {0, 255}


def test_written_pattern_can_be_parsed(tmp_path):
    lines = [list(line) for line in utils.create_empty_pattern().splitlines()]
    assert len(lines) == rearrange_dice.N_CELLS_PER_ROW == 17
    free = [(row, column) for row in range(17) for column in range(17) if lines[row][column] == "."]
    for row, column in free[:25]:
        lines[row][column] = "X"
    goal = utils.parse_pattern_file(io.StringIO("\n".join(map("".join, lines)) + "\n\nmore text\n"))
    np.testing.assert_allclose(
        goal, [((row - 8) * 0.022, (column - 8) * 0.022, 0.011) for row, column in free[:25]]
    )
    template = tmp_path / "pattern.txt"
    utils.create_pattern_template_file(template)
    with open(template) as file, raises(RuntimeError, "25", "0"):
        utils.parse_pattern_file(file)


@pytest.mark.parametrize(
    ("lines", "facts"),
    [
        (["X" * 17], ("row 0, column 0",)),
        (["."], ("row 0", "17", "1")),
        (["." * 17] * 18, ("17 rows",)),
    ],
)
def test_invalid_pattern_is_rejected(lines, facts):
    with raises(RuntimeError, *facts):
        utils.parse_pattern(lines)


def test_goal_is_read_or_drawn(tmp_path):
    file = tmp_path / "goal.json"
    file.write_text(json.dumps({"goal": GOAL}))
    assert json.loads(rearrange_dice.json_goal_from_config(file)) == [list(position) for position in GOAL]
    file.write_text("{}")
    assert len(json.loads(rearrange_dice.json_goal_from_config(file))) == 25
    file.write_text(json.dumps({"goal": GOAL[:3]}))
    with raises(RuntimeError, "goal.json", "25", "3"):
        rearrange_dice.json_goal_from_config(file)
