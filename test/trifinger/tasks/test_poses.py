"""Goals and costs, against their definitions."""

import json
import math

import numpy as np
import pytest

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
def test_drawn_goals_are_valid_and_stay_where_their_difficulty_says(task, difficulty):
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
        assert places[:, 2].min() >= HALF_DIAGONALS[task]  # clear of the table in any orientation
        assert np.ptp([goal.orientation for goal in goals], axis=0).min() > 1.5
    if difficulty in (1, 2, 3):
        assert all((goal.orientation == (0, 0, 0, 1)).all() for goal in goals)


@BOXES
def test_a_first_pose_lies_on_the_table_with_each_of_six_sides_up(task):
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
def test_the_cost_of_a_position_weighs_both_distances_by_their_ranges(task, difficulty):
    goal, actual = Pose((0.03, 0.0, 0.1), about_z(1)), Pose((0.0, 0.04, 0.06))
    # 5 cm of 39 cm and 4 cm of 10 cm; the turn does not count.
    assert task.evaluate_state(goal, actual, difficulty) == pytest.approx((0.05 / 0.39 + 0.04 / 0.1) / 2)
    assert task.evaluate_state(goal, goal, difficulty) == 0


@BOXES
@pytest.mark.parametrize("angle", [0.0, 1e-3, math.pi / 3, math.pi])
def test_the_cost_of_a_pose_is_the_mean_of_position_and_turn(task, angle):
    goal, actual = Pose((0.0, 0.0, 0.05), about_z(0.4)), Pose((0.0, 0.0, 0.06), about_z(0.4 + angle))
    assert task.evaluate_state(goal, actual, 4) == pytest.approx((0.05 + angle / math.pi) / 2)


def test_a_spin_about_the_long_axis_costs_nothing_with_the_cuboid_alone():
    goal, spun = Pose((0, 0, 0.05)), Pose((0, 0, 0.05), (0, math.sin(0.5), 0, math.cos(0.5)))
    assert move_cuboid.evaluate_state(goal, spun, 4) == pytest.approx(0, abs=1e-12)
    assert move_cube.evaluate_state(goal, spun, 4) == pytest.approx(1 / math.pi / 2)


def test_poses_may_be_mappings():
    poses = [Pose((0, 0, 0.05)), Pose((0.01, 0, 0.05), about_z(1))]
    as_mappings = [pose.to_dict() for pose in poses]
    assert move_cube.evaluate_state(*as_mappings, 4) == move_cube.evaluate_state(*poses, 4)
    move_cube.validate_goal(as_mappings[0])


@BOXES
def test_a_difficulty_that_is_none_is_a_value_error(task):
    for call in (task.sample_goal, lambda level: task.evaluate_state(Pose(), Pose(), level)):
        with pytest.raises(ValueError, match="no difficulty 5; there are: 1, 2, 3, 4") as caught:
            call(5)
        assert isinstance(caught.value, TactileSimError)


@pytest.mark.parametrize(
    ("pose", "what"),
    [
        (Pose((0.14, 0, 0.0325)), "0.1400 m from the arena's centre"),
        (Pose((0, 0, 0.0324)), "0.0324 m high, at least"),
        (Pose((0, 0, 0.1001)), "0.1001 m high, at most"),
        (
            Pose((0, 0, 0.04), (math.sin(math.pi / 8), 0, 0, math.cos(math.pi / 8))),
            "a corner is 0.0060 m below",
        ),
    ],
)
def test_a_goal_outside_of_the_space_is_refused_and_says_why(pose, what):
    with pytest.raises(move_cube.InvalidGoalError, match=what) as caught:
        move_cube.validate_goal(pose)
    assert caught.value.position is pose.position
    assert caught.value.orientation is pose.orientation


@pytest.mark.parametrize(
    ("pose", "what"),
    [
        (Pose((0, 0)), "position: 3 finite numbers"),
        (Pose((0, 0, math.nan)), "position: 3 finite numbers"),
        (Pose((0, 0, 0.05), (0, 0, 1)), "orientation: 4 finite numbers"),
        (Pose((0, 0, 0.05), (0, 0, 0, 0)), "orientation: a quaternion of zeros"),
        ({"position": (0, 0, 0.05)}, "a pose has a position .* and an orientation"),
        ({"position": "high", "orientation": (0, 0, 0, 1)}, "a pose has"),
        ((0, 0, 0.05), "a pose has"),
        (None, "a pose has .* this one is None"),
    ],
)
@BOXES
def test_what_is_no_pose_is_a_value_error(task, pose, what):
    for call in (task.validate_goal, lambda goal: task.evaluate_state(goal, Pose(), 4)):
        with pytest.raises(ValueError, match=what) as caught:
            call(pose)
        assert isinstance(caught.value, TactileSimError)


def test_a_pose_without_its_keys_is_a_key_error_as_in_the_peer():
    with pytest.raises(KeyError) as caught:
        move_cube.validate_goal({"place": (0, 0, 0.05), "orientation": (0, 0, 0, 1)})
    assert str(caught.value).startswith("a pose has a position")


@BOXES
def test_an_orientation_that_does_not_count_may_be_any(task):
    assert task.evaluate_state(Pose((0, 0, 0.05)), Pose((0, 0, 0.05), (0, 0, 0, 0)), 3) == 0.0


def test_poses_go_through_json():
    pose = Pose((0.1, 0.2, 0.3), about_z(0.5))
    for again in (Pose.from_json(pose.to_json()), move_cube.goal_from_json(move_cube.goal_to_json(pose))):
        np.testing.assert_array_equal(again.position, pose.position)
        np.testing.assert_array_equal(again.orientation, pose.orientation)


TRAJECTORY = [(0, (0, 0, 0.0325)), (5000, (0.04, 0, 0.0325)), (20000, (0.04, -0.1, 0.0325))]


@pytest.mark.parametrize(("step", "goal"), [(0, 0), (4999, 0), (5000, 1), (20000, 2), (119999, 2)])
def test_a_goal_holds_from_its_step_to_the_next_ones(step, goal):
    assert move_cube_on_trajectory.get_active_goal(TRAJECTORY, step) == TRAJECTORY[goal][1]
    position = (0.0, 0.0, 0.0325)
    cost = np.hypot(*TRAJECTORY[goal][1][:2]) / 0.39 / 2
    assert move_cube_on_trajectory.evaluate_state(TRAJECTORY, step, position) == pytest.approx(cost)


def test_a_drawn_trajectory_is_as_long_as_an_episode():
    trajectory = move_cube_on_trajectory.sample_goal()
    assert [step for step, _ in trajectory] == [0, *range(30_000, 120_000, 10_000)]
    move_cube_on_trajectory.validate_goal(trajectory)
    read = json.loads(move_cube_on_trajectory.trajectory_to_json(trajectory))
    assert [step for step, _ in read] == [step for step, _ in trajectory]
    np.testing.assert_array_equal([goal for _, goal in read], [goal for _, goal in trajectory])


@pytest.mark.parametrize(
    ("trajectory", "what"),
    [
        ([], "empty"),
        ([(5, (0, 0, 0.05))], "starts at step 5, not at 0"),
        ([(0, (0, 0, 0.05)), (0, (0, 0, 0.05))], "goal 1 starts at step 0"),
        (None, "a list of .step, position., not None"),
        ([(0,)], "a list of .step, position."),
        ([("0", (0, 0, 0.05))], "step of goal 0: a finite number"),
        ([(0, (0, 0, 0.05)), (5, (0, 0))], "position of goal 1: 3 finite numbers"),
    ],
)
def test_a_trajectory_that_cannot_be_is_a_value_error(trajectory, what):
    with pytest.raises(ValueError, match=what):
        move_cube_on_trajectory.validate_goal(trajectory)


def test_a_position_of_a_trajectory_must_be_in_the_goal_space():
    with pytest.raises(move_cube.InvalidGoalError, match="high, at most"):
        move_cube_on_trajectory.validate_goal([(0, (0, 0, 0.2))])
