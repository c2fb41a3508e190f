"""Goals and costs, compared with their definitions."""

import json
import math

import numpy as np
import pytest
from support.errors import raises

from tactile_sim import TactileSimError
from tactile_sim.trifinger.tasks import move_cube, move_cube_on_trajectory, move_cuboid
from tactile_sim.trifinger.tasks.move_cube import Pose

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
