"""Tests of which geoms cover feelers."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.feelers import LENGTH, feelers_at, load

from tactile_sim.feelers import Feelers

ARM = """
<geom name="floor" type="plane" size="1 1 1" pos="0 0 -10"/>
<body name="upper"><geom type="box" size=".1 .1 .1"/>
  <body name="lower" pos=".25 0 0"><joint axis="0 1 0"/><geom type="box" size=".1 .1 .1"/>
    <body name="hand" pos="-.5 0 0"><geom type="box" size=".1 .1 .1"/></body>
  </body>
</body>
"""


def between(model, data, body: str, other: str, **options) -> float:
    """Return the free length [m] of a feeler that points along x from ``body`` to ``other``, 50 mm away."""
    there = data.xpos[model.body(other).id] - data.xpos[model.body(body).id]
    side = [np.sign(there[0]), 0, 0]
    placed = feelers_at(model.body(body).id, 0.1 * np.array([side]), side)
    return Feelers(model, [placed], **options).read(data)[0]


def test_parents_and_children_cover_but_not_the_own_body():
    model, data = load(ARM)
    for body, other in (("lower", "upper"), ("hand", "upper"), ("upper", "lower"), ("upper", "hand")):
        assert between(model, data, body, other) == pytest.approx(0.05, abs=1e-12)
    assert between(model, data, "lower", "upper", children=False) == pytest.approx(0.05, abs=1e-12)
    assert between(model, data, "upper", "lower", children=False) == LENGTH
    assert between(model, data, "upper", "hand", children=False) == LENGTH
    # Two geoms of one body, 50 mm apart.
    model, data = load('<body><geom type="box" size=".1 .1 .1"/><geom size=".1" pos=".25 0 0"/></body>')
    assert Feelers(model, [feelers_at(1, [[0.1, 0, 0]], [1, 0, 0])]).read(data)[0] == LENGTH


def test_tolerance_and_children_accept_one_value_per_body():
    model, data = load(ARM)
    upper = feelers_at(1, [[0.1, 0, 0]], [1, 0, 0])
    feelers = Feelers(model, [upper, upper], children=[True, False], tolerance=[0.1, 0.3])
    np.testing.assert_allclose(feelers.read(data), [0.05, LENGTH], rtol=0, atol=1e-12)
    assert [body.name for body in feelers.bodies] == ["upper", "upper"]
    assert [(body.start, body.stop) for body in feelers.bodies] == [(0, 1), (1, 2)]


@pytest.mark.parametrize("kind", ["", "<freejoint/>", '<joint type="slide" axis="1 0 0"/>', "mocap"])
def test_static_moving_and_mocap_bodies_cover_each_other(kind):
    joint, mocap = (kind, "") if kind != "mocap" else ("", 'mocap="true"')
    model, data = load(
        f'<geom type="box" size=".1 .1 .1" pos="-.25 0 0"/><body name="a">{joint and "<freejoint/>"}'
        '<geom type="box" size=".1 .1 .1"/></body>'
        f'<body name="b" pos=".25 0 0" {mocap}>{joint}<geom type="box" size=".1 .1 .1"/></body>'
    )
    places, normals = [[0.1, 0, 0], [-0.1, 0, 0]], [[1, 0, 0], [-1, 0, 0]]
    np.testing.assert_allclose(
        Feelers(model, [feelers_at(1, places, normals)]).read(data), 0.05, rtol=0, atol=1e-12
    )
    world = Feelers(model, [feelers_at(0, [[-0.15, 0, 0]], [1, 0, 0])])
    np.testing.assert_allclose(world.read(data), 0.05, rtol=0, atol=1e-12)
    if mocap:
        data.mocap_pos[0, 0] += 0.02
        mujoco.mj_kinematics(model, data)
        free = Feelers(model, [feelers_at(1, places, normals)]).read(data)
        np.testing.assert_allclose(free, [0.07, 0.05], rtol=0, atol=1e-12)


def test_only_geoms_that_can_touch_cover():
    scene = (
        '<body><freejoint/><geom name="own" type="box" size=".1 .1 .1"/></body>'
        '<body pos=".25 0 0"><geom name="other" type="box" size=".1 .1 .1" {}/></body>'
    )
    feeler = feelers_at(1, [[0.1, 0, 0]], [1, 0, 0])

    def free(other: str, rest: str = "") -> float:
        model, data = load(scene.format(other), rest=rest)
        return Feelers(model, [feeler]).read(data)[0]

    assert free('contype="0" conaffinity="0"') == LENGTH
    pair = '<contact><pair geom1="own" geom2="other"/></contact>'
    for other, rest in (
        ("", ""), ('contype="0"', ""), ('conaffinity="0"', ""), ('rgba="1 1 1 0" group="4"', ""),
        ('contype="0" conaffinity="0"', pair),
    ):  # fmt: skip
        assert free(other, rest) == pytest.approx(0.05, abs=1e-12)


def test_roots_and_directions_follow_the_body():
    model, data = load('<body pos="1 2 3" euler="0 0 90"><freejoint/><geom size=".1"/></body>')
    feelers = Feelers(model, [feelers_at(1, [[0.1, 0, 0]], [1, 0, 0])])
    starts, directions = feelers.world(data.xpos, data.xmat.reshape(-1, 3, 3))
    np.testing.assert_allclose(starts, [[1, 2.1, 3]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(directions, [[0, 1, 0]], rtol=0, atol=1e-12)
