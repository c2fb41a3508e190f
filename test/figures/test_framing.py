"""The camera of a video shows the skin and moving objects nearby, but no distant or large objects."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tactile_sim.figures.messages import Poses
from tactile_sim.figures.renderer import Spheres, around
from tactile_sim.view.bag_scene import CUBE, SPHERE, TRIANGLES

LOW, HIGH = np.full(3, -1.0), np.full(3, 1.0)


def box_with(*way: tuple[float, float, float], radius: float) -> tuple[list[float], list[float]]:
    """Call `around` for a box with 2 m edges and a moving sphere; return the lowest and highest corner [m].

    Args:
        way: Positions of the sphere's center over time [m].
        radius: Radius of the sphere [m].
    """
    low, high = around(LOW, HIGH, np.array(way)[:, None], np.array([radius]))
    return low.tolist(), high.tolist()


def test_ball_near_the_skin_is_shown_over_its_whole_path():
    low, high = box_with((0, 0, 0), (1.5, 0, 0), (0, -2, 0), radius=0.2)
    assert (low, high) == ([-1, -2.2, -1], [1.7, 1, 1])


def test_ball_that_rolls_away_is_shown_while_near():
    low, high = box_with((1.5, 0, 0), (50, 0, 0), radius=0.2)
    assert (low, high) == ([-1, -1, -1], [1.7, 1, 1])


def test_shapes_larger_than_the_skin_are_ignored():
    assert box_with((0, 0, -2), radius=1.8) == (LOW.tolist(), HIGH.tolist())


def test_region_without_shapes_is_that_of_the_skin():
    low, high = around(LOW, HIGH, np.zeros((4, 0, 3)), np.zeros(0))
    assert (low.tolist(), high.tolist()) == (LOW.tolist(), HIGH.tolist())


def test_spheres_enclose_shapes_in_their_frames():
    corners = np.array([[0, 0, 0], [3.0, 4.0, 0], [0, 1.0, 0]])
    markers = SimpleNamespace(
        header=SimpleNamespace(frame_id=["hand", "ball", "world"]),
        type=np.array([CUBE, SPHERE, TRIANGLES]),
        scale=np.array([[2.0, 3.0, 6.0], [0.2, 0.2, 0.2], [2.0, 2.0, 2.0]]),
        pose=SimpleNamespace(position=np.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 1.0]])),
        points=[np.zeros((0, 3)), np.zeros((0, 3)), corners],
    )
    poses = Poses()
    quarter = [0, 0, np.sqrt(0.5), np.sqrt(0.5)]  # rotation about z from x to y
    moved = SimpleNamespace(
        header=SimpleNamespace(frame_id=["world", "world"]),
        child_frame_id=["hand", "ball"],
        transform=SimpleNamespace(
            translation=np.array([[5.0, 0, 0], [0, 0, 7.0]]), rotation=np.array([quarter, [0, 0, 0, 1.0]])
        ),
    )
    poses.add(SimpleNamespace(value=SimpleNamespace(transforms=moved)))
    spheres = Spheres(markers)
    np.testing.assert_allclose(spheres.centers(poses), [[5, 1, 0], [0, 0, 7], [0, 0, 1]], atol=1e-12)
    assert spheres.radii[0] == 3.5, "half the diagonal of a box of 2, 3 and 6 m"
    assert spheres.radii[1] >= 0.1 and spheres.radii[2] == 10.0
