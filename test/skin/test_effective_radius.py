"""Test the effective radius of two curved surfaces in contact against closed forms."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tactile_sim._core import effective_radius
from tactile_sim.geometry.curvature import geom_table

BALL_OF_BOX = np.sqrt(0.01**2 + 0.02**2 + 0.03**2)


@pytest.mark.parametrize(
    ("first", "second", "normal", "expected"),
    [
        ('size=".02"', 'type="plane" size="1 1 1"', [0, 0, 1], 0.02),
        ('size=".02"', 'size=".03"', [0.6, 0, 0.8], 0.02 * 0.03 / 0.05),
        ('type="capsule" size=".02 .1"', 'type="plane" size="1 1 1"', [0, 0, 1], 0.02),
        # For a ball on the side of a pipe, the relative curvatures are 1/r and 1/r + 1/R.
        ('size=".02"', 'type="cylinder" size=".03 .1"', [1, 0, 0], (50 * (50 + 100 / 3)) ** -0.5),
        ('size=".02"', 'type="cylinder" size=".03 .1"', [0, 0, 1], 0.02),
        # Crossed cylinders with the same radius press like a ball of this radius on a plane.
        ('type="capsule" size=".02 .1"', 'type="capsule" size=".02 .1" euler="90 0 0"', [1, 0, 0], 0.02),
        # The radii of curvature at the end of the semi-axis c are a²/c and b²/c.
        ('type="ellipsoid" size=".03 .04 .05"', 'type="plane" size="1 1 1"', [0, 0, 1], 0.03 * 0.04 / 0.05),
        ('type="ellipsoid" size=".03 .04 .05"', 'type="plane" size="1 1 1"', [1, 0, 0], 0.04 * 0.05 / 0.03),
        ('type="ellipsoid" size=".03 .03 .03"', 'size=".02"', [0.6, 0, 0.8], 0.02 * 0.03 / 0.05),
        # If a surface is straight in one or both directions, the ball around the smaller geom is used.
        ('type="box" size=".01 .02 .03"', 'type="plane" size="1 1 1"', [0, 0, 1], BALL_OF_BOX),
        ('type="box" size=".01 .02 .03"', 'type="box" size="1 1 1"', [0, 0, 1], BALL_OF_BOX),
        ('type="capsule" size=".02 .1"', 'type="plane" size="1 1 1"', [1, 0, 0], np.sqrt(0.02 * 0.12)),
    ],
)
def test_the_effective_radius_of_two_surfaces(first, second, normal, expected):
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><geom {first}/><geom {second}/></worldbody></mujoco>"
    )
    geoms = geom_table(model)
    tangent = np.cross(normal, [0.3, 0.5, -0.7])
    tangent /= np.linalg.norm(tangent)
    frame = np.stack([normal, tangent, np.cross(normal, tangent)])
    for turn in (np.eye(3), Rotation.random(random_state=1).as_matrix()):
        turned = frame @ turn.T
        found = effective_radius(geoms, 0, 1, turned, turn[None])
        assert found == pytest.approx(expected, rel=1e-9)
        assert effective_radius(geoms, 1, 0, turned, turn[None]) == pytest.approx(found, rel=1e-12)


def test_against_a_flex_the_own_curvature_counts():
    model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size=".02"/></worldbody></mujoco>')
    radius = effective_radius(geom_table(model), 0, -1, np.eye(3), np.eye(3)[None])
    assert radius == pytest.approx(0.02)
