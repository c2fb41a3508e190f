"""Test goals in JSON files: reading, random sampling, and rejection of invalid files."""

import json

import pytest
from support.errors import raises

from tactile_sim import TactileSimError
from tactile_sim.trifinger.tasks import move_cube, move_cube_on_trajectory, rearrange_dice


def written(tmp_path, content):
    file = tmp_path / "goal.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_goal_is_read_or_drawn(tmp_path):
    goal = {"position": [0, 0, 0.05], "orientation": [0, 0, 0, 1]}
    file = written(tmp_path, {"difficulty": 3, "goal": goal})
    assert json.loads(move_cube.json_goal_from_config(file)) == {"difficulty": 3, "goal": goal}
    file = written(tmp_path, {"difficulty": 2})
    assert json.loads(move_cube.json_goal_from_config(file))["goal"]["position"] == [0, 0, 0.0825]
    move_cube.validate_goal_file(file)


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        ("{", ("Expecting",)),
        ({}, ("'difficulty'",)),
        ({"difficulty": 9}, ("difficulty", "9")),
        (
            {"difficulty": 1, "goal": {"position": [0, 0, 1], "orientation": [0, 0, 0, 1]}},
            ("height", "1.0000"),
        ),
    ],
)
def test_invalid_goal_file_is_named(tmp_path, content, facts):
    with raises(RuntimeError, "goal.json", *facts) as caught:
        move_cube.json_goal_from_config(written(tmp_path, content))
    assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        ({}, ("'difficulty'",)),
        ({"difficulty": 0}, ("difficulty", "0")),
        (
            {"difficulty": 1, "goal": {"position": [0, 0, 0.05]}},
            ("pose", "orientation"),
        ),
    ],
)
def test_incomplete_goal_file_is_rejected(tmp_path, content, facts):
    with raises(ValueError, *facts):
        move_cube.validate_goal_file(written(tmp_path, content))


TASKS = pytest.mark.parametrize("task", [move_cube, move_cube_on_trajectory, rearrange_dice])
INVALID_GOALS = (5, None, [[]], ["abc"] * 25, [[0, 0, None]] * 25, {"position": 1})


@TASKS
@pytest.mark.parametrize("content", [5, [], *({"difficulty": 1, "goal": goal} for goal in INVALID_GOALS)])
def test_error_names_file_for_any_content(tmp_path, task, content):
    with raises(RuntimeError, "goal.json") as caught:
        task.json_goal_from_config(written(tmp_path, content))
    assert isinstance(caught.value, TactileSimError)
