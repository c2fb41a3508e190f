"""Test response functions: `hertz` against closed forms, `slip` as a mean, and user functions."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tactile_sim import ConfigError
from tactile_sim.config import KEYS
from tactile_sim.engines import MujocoEngine
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Loads, Shares, Skin, TouchFunction
from tactile_sim.skin.materials import STIFFNESS, THICKNESS

PLATE = '<geom type="box" size=".02 .02 .005"/>'
TOP = 0.005


def skin_of(geoms, spacing=0.001, **options):
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body><freejoint/>{geoms}</body></worldbody></mujoco>"
    )
    return Skin(model, {1: spacing}, **options)


def pressed(points, forces, radius=0.03, other_patch=-1):
    """Return loads on top of the plate.

    Args:
        points: Points of application (m, 2) in the frame of the plate [m].
        forces: Forces (m, 3) in the same frame [N].
        radius: Effective radius of curvature at the contacts [m].
        other_patch: Index of the patch of the other body, or -1 if it has no skin.
    """
    points, forces = np.atleast_2d(points).astype(float), np.atleast_2d(forces).astype(float)
    loads = Loads.empty(len(points))
    loads.contact[:] = np.arange(len(points))
    loads.point[:, :2], loads.point[:, 2], loads.normal[:] = points, TOP, [0, 0, -1]
    loads.force[:] = loads.force_world[:] = forces
    loads.radius[:], loads.other_patch[:] = radius, other_patch
    return loads


class TestHertz:
    def test_the_pressure_of_a_ball_on_a_flat_skin_is_the_closed_form(self):
        """At distance r from the center, the pressure is p0 sqrt(1 - (r/a)²) with p0 = 3 F / (2 pi a²).

        The contact radius a is (3 F R / (4 E))^(1/3) for load F, ball radius R and stiffness E.
        """
        skin, force, radius = skin_of(PLATE, stiffness=3e5), 4.0, 0.03
        at = np.array([0.0023, -0.0011])
        felt = skin.readings_from_loads(pressed(at, [0, 0, -force], radius), "normal", "hertz")[:, 0]
        a = (3 * force * radius / (4 * 3e5)) ** (1 / 3)
        r = np.linalg.norm(skin.positions - [*at, TOP], axis=1)
        inside = (r < a) & (skin.positions[:, 2] == TOP)
        assert inside.sum() > 100
        pressure = 1.5 * force / (np.pi * a**2) * np.sqrt(1 - (r[inside] / a) ** 2)
        np.testing.assert_allclose(
            felt[inside] / skin.areas[inside], pressure, rtol=0, atol=0.01 * pressure.max()
        )
        assert not felt[~inside].any()
        assert felt.sum() == pytest.approx(force, rel=1e-12)

    def test_the_area_of_contact_grows_as_theory_has_it(self):
        skin = skin_of(PLATE, 0.0004)

        def reach(force, radius=0.03, other_patch=-1):
            felt = skin.readings_from_loads(
                pressed([0, 0], [0, 0, -force], radius, other_patch), "normal", "hertz"
            )[:, 0]
            return np.linalg.norm(skin.positions[felt > 0, :2], axis=1).max()

        a = (3 * 1 * 0.03 / (4 * STIFFNESS)) ** (1 / 3)
        for expected, found in (
            (a, reach(1)),
            (2 * a, reach(8)),
            (2 * a, reach(1, radius=0.24)),
            (2 ** (1 / 3) * a, reach(1, other_patch=0)),
        ):
            assert expected - 0.0006 < found < expected

    def test_on_a_hard_skin_the_nearest_taxel_takes_it_all(self):
        skin = skin_of(PLATE, stiffness=1e12)
        felt = skin.readings_from_loads(pressed([0.0003, 0.0002], [1, 2, -3]), "force_vector", "hertz")
        nearest = np.argmin(np.linalg.norm(skin.positions - [0.0003, 0.0002, TOP], axis=1))
        np.testing.assert_array_equal(felt[nearest], [1, 2, -3])
        assert np.count_nonzero(felt.any(axis=1)) == 1

    def test_what_pulls_makes_no_area(self):
        skin = skin_of(PLATE)
        felt = skin.readings_from_loads(pressed([0.0003, 0.0002], [0, 0, 3]), "force_vector", "hertz")
        assert np.count_nonzero(felt[:, 2]) == 1
        assert felt[:, 2].sum() == 3

    def test_in_a_scene_a_ball_presses_with_its_own_radius(self):
        model = mujoco.MjModel.from_xml_string(
            '<mujoco><worldbody><body><geom type="box" size=".05 .05 .01"/></body>'
            '<body pos="0 0 .0398"><freejoint/><geom size=".03"/></body></worldbody></mujoco>'
        )
        engine, both = MujocoEngine(model), {1: 0.002, 2: 0.002}
        for scales, others in (({1: 0.002}, [-1]), (both, [0, 1])):  # MuJoCo lists the ball first
            loads = Skin(model, scales).loads(engine.contacts(), engine.body_positions, engine.body_rotations)
            np.testing.assert_allclose(loads.radius, 0.03, rtol=1e-9)
            assert list(loads.other_patch) == others

    def test_defaults_are_the_same_in_both_places(self):
        defaults = KEYS["skin.stiffness"].default, KEYS["skin.thickness"].default
        assert defaults == (STIFFNESS, THICKNESS)


class TestSlip:
    def loads(self, forces, velocities):
        """Return loads that all act at the center of the plate, so that each taxel feels all of them."""
        loads = pressed(np.zeros((len(forces), 2)), forces)
        loads.velocity[:] = velocities
        return loads

    @pytest.mark.parametrize("response", RESPONSE_FUNCTIONS)
    def test_it_is_the_mean_by_the_normal_force_on_each_taxel(self, response):
        skin = skin_of(PLATE)
        # Friction and approach velocity have no effect.
        loads = self.loads([[5, 0, -1], [0, 0, -3]], [[0.4, 0, -9], [0, 0.8, 2]])
        weak, strong = (skin.readings_from_loads(loads[m : m + 1], "normal", response)[:, 0] for m in (0, 1))
        touched = weak + strong > 0
        expected = np.outer(weak, [0.4, 0, 0]) + np.outer(strong, [0, 0.8, 0])
        expected[touched] /= (weak + strong)[touched, None]
        np.testing.assert_allclose(skin.readings_from_loads(loads, "slip", response), expected, atol=1e-15)

    def test_twice_the_contacts_slip_no_faster(self):
        skin = skin_of(PLATE)
        one = self.loads([[0, 0, -1]], [[0.3, 0.1, 0]])
        four = self.loads([[0, 0, -1]] * 4, [[0.3, 0.1, 0]] * 4)
        np.testing.assert_allclose(
            skin.readings_from_loads(four, "slip"), skin.readings_from_loads(one, "slip"), atol=1e-15
        )

    def test_a_flex_with_no_known_velocity_does_not_count(self):
        skin = skin_of(PLATE)
        loads = self.loads([[0, 0, -1], [0, 0, -3]], [[0.4, 0.2, 0], [np.nan] * 3])
        np.testing.assert_array_equal(
            skin.readings_from_loads(loads, "slip"), skin.readings_from_loads(loads[:1], "slip")
        )
        assert not skin.readings_from_loads(loads[1:], "slip").any()
        # The force is measured nevertheless.
        assert skin.readings_from_loads(loads, "normal").sum() == pytest.approx(4)

    def test_a_box_that_slides_feels_the_floor_go_the_other_way(self):
        model = mujoco.MjModel.from_xml_string(
            '<mujoco><worldbody><geom type="plane" size="1 1 .1"/>'
            '<body pos="0 0 .0499"><freejoint/><geom type="box" size=".1 .1 .05"/></body>'
            "</worldbody></mujoco>"
        )
        engine, skin = MujocoEngine(model), Skin(model, {1: 0.02})
        engine.data.qvel[0] = 0.5
        engine.forward()
        loads = skin.loads(engine.contacts(), engine.body_positions, engine.body_rotations)
        slip, friction = skin.readings_from_loads(loads, "slip"), skin.readings_from_loads(loads, "friction")
        touched = slip.any(axis=1)
        np.testing.assert_allclose(slip[touched], np.tile([-0.5, 0, 0], (touched.sum(), 1)), atol=1e-9)
        assert (friction[touched, 0] < 0).all()
        assert np.abs(friction[:, 2]).max() < 1e-9


class TestOnesOwn:
    def test_a_touch_function_has_all_of_the_load_at_hand(self):
        def power(loads):
            friction, slip = TOUCH_FUNCTIONS["friction"], TOUCH_FUNCTIONS["slip"]
            return np.einsum("ij,ij->i", friction.evaluate(loads), slip.evaluate(loads))[:, None]

        loads = pressed([0, 0], [3, 0, -1])
        loads.velocity[:] = [2, 5, 7]
        felt = skin_of(PLATE).readings_from_loads(loads, TouchFunction(1, "W", power))
        assert felt.sum() == pytest.approx(6)

    def test_a_response_gives_weights_to_the_taxels_near_a_load(self, monkeypatch):
        def gaussian(skin, loads):
            near = skin.taxels_near_loads(loads, 0.004)
            return near.shares(np.exp(-0.5 * (near.distance / 0.001) ** 2))

        monkeypatch.setitem(RESPONSE_FUNCTIONS, "gaussian", gaussian)
        skin, at = skin_of(PLATE), [0.0003, 0.0004]
        felt = skin.readings_from_loads(pressed(at, [0, 0, -2]), "normal", "gaussian")[:, 0]
        distance = np.linalg.norm(skin.positions - [*at, TOP], axis=1)
        law = np.exp(-0.5 * (distance / 0.001) ** 2) * (distance < 0.004)
        np.testing.assert_allclose(felt, 2 * law / law.sum(), atol=1e-15)

    def test_from_contacts_to_taxels_they_go_like_the_others(self):
        model = mujoco.MjModel.from_xml_string(
            '<mujoco><worldbody><body><geom type="box" size=".05 .05 .01"/></body>'
            '<body pos="0 0 .0398"><freejoint/><geom size=".03"/></body></worldbody></mujoco>'
        )
        engine, skin = MujocoEngine(model), Skin(model, {1: 0.002})
        poses = engine.body_positions, engine.body_rotations

        def twice(loads):
            return 2 * loads.force

        def to_first(skin, loads):
            return Shares(np.arange(len(loads) + 1), np.zeros(len(loads), np.int64), np.ones(len(loads)))

        (force,) = skin.loads(engine.contacts(), *poses).force
        felt = skin.readings_from_contacts(engine.contacts(), *poses, TouchFunction(3, "N", twice), to_first)
        np.testing.assert_array_equal(felt[0], 2 * force)
        assert not felt[1:].any()

    def test_a_wide_area_of_contact_finds_room(self):
        """On a soft skin, a load presses far more taxels than arrays are initially sized for."""
        soft, wider = (skin_of(PLATE, 0.0004, stiffness=stiffness) for stiffness in (3e4, 2e4))
        loads = pressed([0, 0], [0, 0, -2])
        for skin in (soft, wider):
            felt = skin.readings_from_loads(loads, "normal", "hertz")
            a = (3 * 2 * 0.03 / (4 * skin.patch_stiffness[0])) ** (1 / 3)
            assert np.count_nonzero(felt) == pytest.approx(np.pi * (a / 0.0004) ** 2, rel=0.1)
            np.testing.assert_array_equal(skin.readings_from_loads(loads, "normal", "hertz"), felt)

    def test_a_value_for_each_load_is_at_hand_for_each_taxel_near_it(self):
        skin, loads = skin_of(PLATE), pressed([[0, 0], [0.01, 0]], [[0, 0, -1], [0, 0, -2]])
        near = skin.taxels_near_loads(loads, np.array([0.002, 0.003]))
        assert (near.distance <= np.array([0.002, 0.003])[near.load]).all()
        assert (np.bincount(near.load) > [8, 20]).all()

    @pytest.mark.parametrize("weights", [[0, 0], [np.nan, 1], [np.inf, 1]])
    def test_where_weights_are_no_good_the_first_taxel_takes_it_all(self, weights):
        def bad(skin, loads):
            return Shares(np.array([0, 2]), np.array([5, 6]), np.array(weights, float))

        felt = skin_of(PLATE).readings_from_loads(pressed([0, 0], [0, 0, -2]), "normal", bad)[:, 0]
        assert felt[5] == felt.sum() == 2

    def test_values_of_the_wrong_shape_are_rejected(self):
        with pytest.raises(ConfigError, match=r"too_flat returned an array \(1,\) .*must be \(1, 3\)"):

            def too_flat(loads):
                return loads.radius

            skin_of(PLATE).readings_from_loads(pressed([0, 0], [0, 0, -2]), TouchFunction(3, "m", too_flat))


@pytest.mark.parametrize("distance", ["euclidean", "surface"])
@pytest.mark.parametrize("response", RESPONSE_FUNCTIONS)
def test_physics_that_blew_up_does_not_spoil_what_follows(response, distance):
    skin, good = skin_of(PLATE, distance=distance), pressed([0, 0], [0, 0, -2])
    expected = skin.readings_from_loads(good, "force_vector", response)
    for field in ("point", "normal", "force", "velocity", "radius"):
        for bad in (np.nan, np.inf, -np.inf, 1e300):
            loads = pressed([0, 0], [0, 0, -2])
            getattr(loads, field)[:] = bad
            for touch in ("force_vector", "slip"):
                skin.readings_from_loads(loads, touch, response)
            np.testing.assert_array_equal(skin.readings_from_loads(good, "force_vector", response), expected)


def test_the_spread_along_the_surface_is_that_of_the_unfolded_edge():
    """The load is 0.4 spacings from the edge of a box, so straight-line distances would cut the corner."""
    skin = skin_of('<geom type="box" size=".02 .02 .02"/>', distance="surface")
    loads = pressed([0, 0.0196], [0, 0, -1])
    loads.point[:, 2] = 0.02
    felt = skin.readings_from_loads(loads, "normal", "spread_linear")[:, 0]
    below = skin.positions[:, 2] < 0.02 - 1e-9
    across = np.where(below, 0.0004 + 0.02 - skin.positions[:, 2], skin.positions[:, 1] - 0.0196)
    law = np.maximum(1 - np.hypot(skin.positions[:, 0], across) / 0.002, 0) * (skin.positions[:, 1] > 0.017)
    np.testing.assert_allclose(felt, law / law.sum(), atol=0.02)
    assert 0.1 < felt[below].sum() == pytest.approx(law[below].sum() / law.sum(), rel=0.1)
