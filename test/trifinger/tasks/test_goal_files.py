"""Goals in JSON files: read, drawn, or refused by an error that names the file."""

import json

import pytest

from tactile_sim import TactileSimError
from tactile_sim.trifinger.tasks import move_cube, move_cube_on_trajectory, rearrange_dice


def written(tmp_path, content):
    file = tmp_path / "goal.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_a_goal_file_gives_its_goal_or_draws_one(tmp_path):
    goal = {"position": [0, 0, 0.05], "orientation": [0, 0, 0, 1]}
    file = written(tmp_path, {"difficulty": 3, "goal": goal})
    assert json.loads(move_cube.json_goal_from_config(file)) == {"difficulty": 3, "goal": goal}
    file = written(tmp_path, {"difficulty": 2})
    assert json.loads(move_cube.json_goal_from_config(file))["goal"]["position"] == [0, 0, 0.0825]
    move_cube.validate_goal_file(file)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("{", "Expecting"),
        ({}, "there is no 'difficulty'"),
        ({"difficulty": 9}, "no difficulty 9"),
        ({"difficulty": 1, "goal": {"position": [0, 0, 1], "orientation": [0, 0, 0, 1]}}, "1.0000 m high"),
    ],
)
def test_a_bad_goal_file_is_a_runtime_error_that_names_it(tmp_path, content, what):
    with pytest.raises(
        RuntimeError, match=f"goal.json: no goal can be read from this file: .*{what}"
    ) as caught:
        move_cube.json_goal_from_config(written(tmp_path, content))
    assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({}, "no 'difficulty'"),
        ({"difficulty": 0}, "difficulty is 0"),
        (
            {"difficulty": 1, "goal": {"position": [0, 0, 0.05]}},
            "a pose has a position .* and an orientation",
        ),
    ],
)
def test_a_goal_file_that_lacks_something_is_not_valid(tmp_path, content, what):
    with pytest.raises(ValueError, match=what):
        move_cube.validate_goal_file(written(tmp_path, content))


TASKS = pytest.mark.parametrize("task", [move_cube, move_cube_on_trajectory, rearrange_dice])
NO_GOALS = (5, None, [[]], ["abc"] * 25, [[0, 0, None]] * 25, {"position": 1})


@TASKS
@pytest.mark.parametrize("content", [5, [], *({"difficulty": 1, "goal": goal} for goal in NO_GOALS)])
def test_the_error_names_the_file_whatever_stands_in_it(tmp_path, task, content):
    with pytest.raises(RuntimeError, match="goal.json: no goal can be read") as caught:
        task.json_goal_from_config(written(tmp_path, content))
    assert isinstance(caught.value, TactileSimError)
