"""Random positions: bounds, distributions and seeds."""

import math
import random

import numpy as np
import pytest
from support.errors import raises

from tactile_sim.trifinger import SimFinger, sample


@pytest.fixture(autouse=True)
def seeded():
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002


def test_positions_are_uniform_over_ring():
    drawn = np.array(
        [sample.random_position_in_arena((0.02, 0.04), radius_limits=(0.1, 0.2)) for _ in range(4000)]
    )
    radii = np.hypot(drawn[:, 0], drawn[:, 1])
    assert 0.1 <= radii.min() and radii.max() <= 0.2
    assert 0.02 <= drawn[:, 2].min() and drawn[:, 2].max() <= 0.04
    # Half of the area is within the root mean square radius; tolerance of 5 standard deviations.
    assert np.mean(radii < math.sqrt((0.1**2 + 0.2**2) / 2)) == pytest.approx(
        0.5, abs=5 * 0.5 / math.sqrt(4000)
    )


def test_height_can_be_fixed():
    assert sample.random_position_in_arena(0.07)[2] == 0.07


def test_joint_positions_are_within_bounds():
    lower, upper = [-1.0, 0.0, -2.0], [-0.5, 1.0, -1.5]
    drawn = np.array([sample.random_joint_positions(3, lower, upper) for _ in range(100)])
    assert drawn.shape == (100, 9)
    assert (drawn >= lower * 3).all() and (drawn <= upper * 3).all()


def test_equal_seeds_draw_equal_numbers():
    drawn = sample.random_joint_positions(3), sample.random_position_in_arena()
    random.seed(1)
    assert (sample.random_joint_positions(3), sample.random_position_in_arena()) == drawn


def test_three_tips_surround_position():
    tips = np.array(sample.get_tip_positions_around_position(3, (0.1, 0.2, 0.3)))
    np.testing.assert_allclose(np.linalg.norm(tips - (0.1, 0.2, 0.3), axis=1), 0.05)
    np.testing.assert_allclose(tips.mean(axis=0), (0.1, 0.2, 0.3))
    np.testing.assert_allclose(tips[0], (0.15, 0.2, 0.3))
    np.testing.assert_array_equal(sample.get_tip_positions_around_position(1, (1, 2, 3)), [(1, 2, 3)])
    with raises(ValueError, "number_of_fingers", "2"):
        sample.get_tip_positions_around_position(2, (0, 0, 0))


@pytest.fixture(scope="module")
def pro():
    return SimFinger("trifingerpro")


BOUNDS = {"low": np.tile([-0.33, 0.0, -2.7], 3), "high": np.tile([1.0, 1.57, 0.0], 3)}


def test_separated_tips_are_in_own_third(pro):
    for _ in range(3):
        joints = np.array(sample.feasible_random_joint_positions_for_reaching(pro, BOUNDS))
        assert (joints > BOUNDS["low"]).all() and (joints < BOUNDS["high"]).all()
        x, y, _ = np.transpose(pro.kinematics.forward_kinematics(joints))
        assert ((np.hypot(x, y) > 0.02) & (np.hypot(x, y) < 0.2)).all()
        # The first finger's third of the arena extends from 30 to 150 degrees.
        thirds = (np.degrees(np.arctan2(y, x)) - 30) % 360 // 120
        assert thirds[0] == 0 and sorted(thirds) == [0, 1, 2]


def test_triangle_surrounds_position(pro):
    joints = sample.feasible_random_joint_positions_for_reaching(pro, BOUNDS, "triangle")
    random.seed(1)
    wanted = sample.get_tip_positions_around_position(3, sample.random_position_in_arena())
    tips = pro.kinematics.forward_kinematics(joints)
    assert np.linalg.norm(np.subtract(tips, wanted), axis=1).max() < 0.005  # the tolerance
    with raises(RuntimeError, "'triangle'"):
        sample.feasible_random_joint_positions_for_reaching(SimFinger("fingerpro"), BOUNDS, "triangle")


def test_uniform_strategy_and_unknown_strategy(pro):
    joints = sample.feasible_random_joint_positions_for_reaching(pro, BOUNDS, "uniform")
    random.seed(1)
    assert joints == sample.random_joint_positions(3)
    with raises(ValueError, "sampling_strategy", "'evenly'"):
        sample.feasible_random_joint_positions_for_reaching(pro, BOUNDS, "evenly")


def test_unreachable_bounds_are_rejected(pro, monkeypatch):
    monkeypatch.setattr(sample, "_TRIES", 10)
    nowhere = {"low": np.full(9, 5.0), "high": np.full(9, 6.0)}
    with raises(ValueError, "action_bounds"):
        sample.feasible_random_joint_positions_for_reaching(pro, nowhere)
