"""Goals, costs, files and commands of tasks, compared with their definitions."""

import importlib
import io
import json
import math
import runpy
import subprocess
import sys

import numpy as np
import pytest
from support.errors import raises

from tactile_sim import TactileSimError
from tactile_sim.trifinger import tasks
from tactile_sim.trifinger.camera import CameraParameters
from tactile_sim.trifinger.tasks import Pose, move_cube, move_cube_on_trajectory, move_cuboid, rearrange_dice
from tactile_sim.trifinger.trifinger_platform import ReplayError, TriFingerPlatform, replay

HALF_DIAGONALS = {move_cube: 0.065 * math.sqrt(3) / 2, move_cuboid: math.hypot(0.01, 0.04, 0.01)}
LOWEST = {move_cube: 0.0325, move_cuboid: 0.01}
BOXES = pytest.mark.parametrize("task", [move_cube, move_cuboid])


def about_z(angle):
    return (0, 0, math.sin(angle / 2), math.cos(angle / 2))


@BOXES
@pytest.mark.parametrize("difficulty", [-1, 1, 2, 3, 4])
def test_drawn_goals_follow_difficulty(task, difficulty):
    task.seed(1)
    goals = [task.sample_goal(difficulty) for _ in range(200)]
    places = np.array([goal.position for goal in goals])
    for goal in goals:
        task.validate_goal(goal)
    assert np.hypot(*places.T[:2]).max() <= 0.195 - HALF_DIAGONALS[task]
    if difficulty == 1:
        assert (places[:, 2] == LOWEST[task]).all()
    if difficulty == 2:
        np.testing.assert_array_equal(places, [(0, 0, LOWEST[task] + 0.05)] * 200)
    if difficulty == 3:
        assert np.ptp(places[:, 2]) > 0.9 * (0.1 - LOWEST[task])
    if difficulty == 4:
        assert places[:, 2].min() >= HALF_DIAGONALS[task]  # above the table in any orientation
        assert np.ptp([goal.orientation for goal in goals], axis=0).min() > 1.5
    if difficulty in (1, 2, 3):
        assert all((goal.orientation == (0, 0, 0, 1)).all() for goal in goals)


@BOXES
def test_initial_poses_have_each_side_up(task):
    task.seed(2)
    ups = set()
    for _ in range(100):
        pose = task.sample_goal(-1)
        assert task.get_cube_corner_positions(pose)[:, 2].min() == pytest.approx(0, abs=1e-9)
        x, y, z, w = pose.orientation
        ups.add(
            tuple(np.round((2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))).astype(int))
        )
    assert len(ups) == 6


@pytest.mark.parametrize("task", [move_cube, move_cuboid, move_cube_on_trajectory])
def test_equal_seeds_draw_equal_goals(task):
    arguments = () if task is move_cube_on_trajectory else (4,)

    def draw(seed):
        task.seed(seed)
        goals = [task.sample_goal(*arguments) for _ in range(3)]
        if task is move_cube_on_trajectory:
            return np.array([position for goal in goals for _, position in goal])
        return np.array([[*goal.position, *goal.orientation] for goal in goals])

    np.testing.assert_array_equal(draw(3), draw(3))
    assert (draw(3) != draw(4)).any()


@BOXES
@pytest.mark.parametrize("difficulty", [1, 2, 3])
def test_position_cost_is_relative_to_ranges(task, difficulty):
    goal, actual = Pose((0.03, 0.0, 0.1), about_z(1)), Pose((0.0, 0.04, 0.06))
    # Errors of 5 cm of 39 cm and 4 cm of 10 cm; the orientation does not count.
    assert task.evaluate_state(goal, actual, difficulty) == pytest.approx((0.05 / 0.39 + 0.04 / 0.1) / 2)
    assert task.evaluate_state(goal, goal, difficulty) == 0


@BOXES
@pytest.mark.parametrize("angle", [0.0, 1e-3, math.pi / 3, math.pi])
def test_pose_cost_is_mean_of_position_and_angle(task, angle):
    goal, actual = Pose((0.0, 0.0, 0.05), about_z(0.4)), Pose((0.0, 0.0, 0.06), about_z(0.4 + angle))
    assert task.evaluate_state(goal, actual, 4) == pytest.approx((0.05 + angle / math.pi) / 2)


def test_rotation_about_long_axis_is_free_for_cuboid():
    goal, spun = Pose((0, 0, 0.05)), Pose((0, 0, 0.05), (0, math.sin(0.5), 0, math.cos(0.5)))
    assert move_cuboid.evaluate_state(goal, spun, 4) == pytest.approx(0, abs=1e-12)
    assert move_cube.evaluate_state(goal, spun, 4) == pytest.approx(1 / math.pi / 2)


def test_poses_can_be_mappings():
    poses = [Pose((0, 0, 0.05)), Pose((0.01, 0, 0.05), about_z(1))]
    as_mappings = [pose.to_dict() for pose in poses]
    assert move_cube.evaluate_state(*as_mappings, 4) == move_cube.evaluate_state(*poses, 4)
    move_cube.validate_goal(as_mappings[0])


@BOXES
def test_unknown_difficulty_is_rejected(task):
    for call in (task.sample_goal, lambda level: task.evaluate_state(Pose(), Pose(), level)):
        with raises(ValueError, "difficulty", "5") as caught:
            call(5)
        assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize(
    ("pose", "facts"),
    [
        (Pose((0.14, 0, 0.0325)), ("distance", "0.1400")),
        (Pose((0, 0, 0.0324)), ("height", "0.0324")),
        (Pose((0, 0, 0.1001)), ("height", "0.1001")),
        (
            Pose((0, 0, 0.04), (math.sin(math.pi / 8), 0, 0, math.cos(math.pi / 8))),
            ("corner", "-0.0060"),
        ),
    ],
)
def test_goal_outside_space_is_rejected(pose, facts):
    with raises(move_cube.InvalidGoalError, *facts) as caught:
        move_cube.validate_goal(pose)
    assert caught.value.position is pose.position
    assert caught.value.orientation is pose.orientation


@pytest.mark.parametrize(
    ("pose", "facts"),
    [
        (Pose((0, 0)), ("position", "3")),
        (Pose((0, 0, math.nan)), ("position", "3")),
        (Pose((0, 0, 0.05), (0, 0, 1)), ("orientation", "4")),
        (Pose((0, 0, 0.05), (0, 0, 0, 0)), ("orientation", "quaternion")),
        ({"position": (0, 0, 0.05)}, ("pose", "orientation")),
        ({"position": "high", "orientation": (0, 0, 0, 1)}, ("pose",)),
        ((0, 0, 0.05), ("pose",)),
        (None, ("pose", "None")),
    ],
)
@BOXES
def test_invalid_pose_is_rejected(task, pose, facts):
    for call in (task.validate_goal, lambda goal: task.evaluate_state(goal, Pose(), 4)):
        with raises(ValueError, *facts) as caught:
            call(pose)
        assert isinstance(caught.value, TactileSimError)


def test_missing_key_of_pose_is_key_error():
    with pytest.raises(KeyError) as caught:
        move_cube.validate_goal({"place": (0, 0, 0.05), "orientation": (0, 0, 0, 1)})
    assert "place" in str(caught.value)


@BOXES
def test_unused_orientation_is_not_checked(task):
    assert task.evaluate_state(Pose((0, 0, 0.05)), Pose((0, 0, 0.05), (0, 0, 0, 0)), 3) == 0.0


def test_pose_json_round_trip():
    pose = Pose((0.1, 0.2, 0.3), about_z(0.5))
    for again in (Pose.from_json(pose.to_json()), move_cube.goal_from_json(move_cube.goal_to_json(pose))):
        np.testing.assert_array_equal(again.position, pose.position)
        np.testing.assert_array_equal(again.orientation, pose.orientation)


TRAJECTORY = [(0, (0, 0, 0.0325)), (5000, (0.04, 0, 0.0325)), (20000, (0.04, -0.1, 0.0325))]


@pytest.mark.parametrize(("step", "goal"), [(0, 0), (4999, 0), (5000, 1), (20000, 2), (119999, 2)])
def test_goal_is_active_until_next_goal(step, goal):
    assert move_cube_on_trajectory.get_active_goal(TRAJECTORY, step) == TRAJECTORY[goal][1]
    position = (0.0, 0.0, 0.0325)
    cost = np.hypot(*TRAJECTORY[goal][1][:2]) / 0.39 / 2
    assert move_cube_on_trajectory.evaluate_state(TRAJECTORY, step, position) == pytest.approx(cost)


def test_drawn_trajectory_covers_episode():
    trajectory = move_cube_on_trajectory.sample_goal()
    assert [step for step, _ in trajectory] == [0, *range(30_000, 120_000, 10_000)]
    move_cube_on_trajectory.validate_goal(trajectory)
    read = json.loads(move_cube_on_trajectory.trajectory_to_json(trajectory))
    assert [step for step, _ in read] == [step for step, _ in trajectory]
    np.testing.assert_array_equal([goal for _, goal in read], [goal for _, goal in trajectory])


@pytest.mark.parametrize(
    ("trajectory", "facts"),
    [
        ([], ("trajectory",)),
        ([(5, (0, 0, 0.05))], ("goal 0", "5")),
        ([(0, (0, 0, 0.05)), (0, (0, 0, 0.05))], ("goal 1", "0")),
        (None, ("trajectory", "None")),
        ([(0,)], ("trajectory",)),
        ([("0", (0, 0, 0.05))], ("step of goal 0", "'0'")),
        ([(0, (0, 0, 0.05)), (5, (0, 0))], ("position of goal 1", "3")),
    ],
)
def test_invalid_trajectory_is_rejected(trajectory, facts):
    with raises(ValueError, *facts):
        move_cube_on_trajectory.validate_goal(trajectory)


def test_trajectory_outside_space_is_rejected():
    with raises(move_cube.InvalidGoalError, "height", "0.2"):
        move_cube_on_trajectory.validate_goal([(0, (0, 0, 0.2))])


def test_tasks_can_be_imported_as_modules():
    for name in ("move_cube", "move_cube_on_trajectory", "move_cuboid", "rearrange_dice"):
        assert importlib.import_module(f"tactile_sim.trifinger.tasks.{name}") is getattr(tasks, name)
    from tactile_sim.trifinger.tasks.move_cube import _CUBE_WIDTH, _min_height

    assert (_CUBE_WIDTH, _min_height) == (0.065, 0.0325)


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


DOWN = np.array([[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 1.0], [0, 0, 0, 1]])
"""Transform from the world to a camera that looks down from 1 m above the center of the arena."""
MATRIX = np.array([[1000.0, 0, 200], [0, 1000.0, 150], [0, 0, 1]])
ABOVE = CameraParameters("above", 400, 300, MATRIX, np.zeros(5), DOWN)
DICE = [(x, y, 0.011) for x in np.linspace(-0.1, 0.1, 5) for y in np.linspace(-0.1, 0.1, 5)]


def test_drawn_dice_are_on_different_cells():
    rearrange_dice.seed(1)
    goal = rearrange_dice.sample_goal()
    rearrange_dice.validate_goal(goal)
    assert len(set(goal)) == 25
    corners = np.abs(np.array(goal)[:, :2]) + 0.011
    assert np.hypot(*corners.T).max() <= 0.19
    cells = np.array(goal)[:, :2] / 0.022
    np.testing.assert_allclose(cells, np.round(cells), atol=1e-9)  # 17 cells in a row, the central one at 0


def test_equal_seeds_draw_equal_dice():
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
def test_invalid_goal_of_dice_is_rejected(change, error, facts):
    rearrange_dice.validate_goal(DICE)
    with raises(error, *facts):
        rearrange_dice.validate_goal(change(DICE))


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
    lines = [list(line) for line in rearrange_dice.utils.create_empty_pattern().splitlines()]
    assert len(lines) == rearrange_dice.N_CELLS_PER_ROW == 17
    free = [(row, column) for row in range(17) for column in range(17) if lines[row][column] == "."]
    for row, column in free[:25]:
        lines[row][column] = "X"
    goal = rearrange_dice.utils.parse_pattern_file(
        io.StringIO("\n".join(map("".join, lines)) + "\n\nmore text\n")
    )
    np.testing.assert_allclose(
        goal, [((row - 8) * 0.022, (column - 8) * 0.022, 0.011) for row, column in free[:25]]
    )
    template = tmp_path / "pattern.txt"
    rearrange_dice.utils.create_pattern_template_file(template)
    with open(template) as file, raises(RuntimeError, "25", "0"):
        rearrange_dice.utils.parse_pattern_file(file)


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
        rearrange_dice.utils.parse_pattern(lines)


def test_goal_of_dice_is_read_or_drawn(tmp_path):
    file = tmp_path / "goal.json"
    file.write_text(json.dumps({"goal": DICE}))
    assert json.loads(rearrange_dice.json_goal_from_config(file)) == [list(position) for position in DICE]
    file.write_text("{}")
    assert len(json.loads(rearrange_dice.json_goal_from_config(file))) == 25
    file.write_text(json.dumps({"goal": DICE[:3]}))
    with raises(RuntimeError, "goal.json", "25", "3"):
        rearrange_dice.json_goal_from_config(file)


START = move_cube.Pose((0, 0, 0.0325))


def run(task, *arguments):
    command = [sys.executable, "-m", "tactile_sim.trifinger", task, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_sample_goal_prints_json():
    goal = move_cube.goal_from_json(run("move_cube", "sample_goal", "--difficulty", 2).stdout)
    np.testing.assert_array_equal(goal.position, (0, 0, 0.0825))


def test_missing_file_exits_with_2(tmp_path):
    done = run("rearrange_dice", "goal_from_config", tmp_path / "goal.json")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "goal.json" in done.stderr


@pytest.fixture
def logfile(tmp_path):
    """Return the log of an episode of 20 steps with the cube at rest."""
    platform = TriFingerPlatform()
    for step in range(20):
        platform.append_desired_action(platform.Action(torque=[0.01 * step] * 9))
    platform.store_action_log(tmp_path / "log.p")
    return tmp_path / "log.p"


def test_replay_returns_reward(logfile):
    assert replay(logfile, START, 20, lambda t, pose: t + pose.position[2]) == pytest.approx(
        -190 - 20 * 0.0325
    )


def test_replay_rejects_other_start_or_length(logfile):
    with raises(ReplayError, "initial pose", "position", "0.01"):
        replay(logfile, move_cube.Pose((0.01, 0, 0.0325)), 20, lambda t, pose: 0.0)
    with raises(ReplayError, "21", "20"):
        replay(logfile, START, 21, lambda t, pose: 0.0)


def test_replay_rejects_other_files(tmp_path):
    (tmp_path / "log.p").write_bytes(b"not a pickle")
    with raises(ReplayError, "log.p"):
        replay(tmp_path / "log.p", START, 20, lambda t, pose: 0.0)


@pytest.mark.parametrize("task", ["move_cube", "move_cube_on_trajectory"])
def test_command_replays_whole_episodes(logfile, task):
    goal = {"move_cube": ["-d", "1", "-i", START.to_json(), "-g", START.to_json()]}
    done = run(task, "replay_one", "-l", logfile, *goal.get(task, ["-t", "[[0, [0, 0, 0.0325]]]"]))
    assert done.returncode == 2
    assert "120000" in done.stderr and "20" in done.stderr


@pytest.mark.parametrize("text", ["5", "{", '{"position": [0, 0, 0]}'])
def test_invalid_pose_exits_with_2(tmp_path, monkeypatch, capsys, text):
    poses = ["-i", text, "-g", text]
    monkeypatch.setattr(
        sys, "argv", ["", "move_cube", "replay_one", "-l", str(tmp_path / "log"), "-d", "1", *poses]
    )
    with pytest.raises(SystemExit) as end:
        runpy.run_module("tactile_sim.trifinger", run_name="__main__")
    assert (end.value.code, len(capsys.readouterr().err.splitlines())) == (2, 1)
