"""Methods that are overridden in subclasses or replaced on objects take effect."""

from __future__ import annotations

import numpy as np
import pytest
from support.errors import raises
from support.touch import CLASSES, pile, touching

from tactile_sim import TactileSimError
from tactile_sim.mimo.touch import DiscreteTouch, TrimeshTouch
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, TouchFunction
from tactile_sim.skin.responses import PER_LOAD

SCALES = {"*": 0.02}


@pytest.fixture(scope="module")
def piled():
    return pile()


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("touch", TrimeshTouch.VALID_TOUCH_TYPES)
@pytest.mark.parametrize("response", PER_LOAD)
def test_overridable_methods_agree_with_native_code(piled, cls, touch, response):
    class Plain(cls):
        def get_contacts(self):
            return super().get_contacts()

    quick = touching(cls, piled, SCALES, touch, response).get_touch_obs()
    plain = touching(Plain, piled, SCALES, touch, response).get_touch_obs()
    assert np.abs(quick).max() > 0
    np.testing.assert_allclose(plain, quick, rtol=0, atol=1e-6 * np.abs(quick).max())


@pytest.mark.parametrize("cls", CLASSES)
def test_overridden_touch_function_is_used(piled, cls):
    class Doubled(cls):
        def force_vector(self, contact_id, part_id):
            return 2 * super().force_vector(contact_id, part_id)

    class Blunted(Doubled):
        def nearest(self, contact_id, part_id, force):
            super().nearest(contact_id, part_id, np.sign(force))

    plain = touching(cls, piled, SCALES).get_touch_obs()
    np.testing.assert_allclose(
        touching(Doubled, piled, SCALES).get_touch_obs(), 2 * plain, rtol=1e-5, atol=1e-6
    )
    blunted = touching(Blunted, piled, SCALES, response="nearest").get_touch_obs()
    np.testing.assert_array_equal(blunted, np.round(blunted))
    assert blunted.any()


def test_overridden_response_function_writes_outputs(piled):
    class First(TrimeshTouch):
        def nearest(self, contact_id, body_id, force):
            self.sensor_outputs[body_id][0] += force

    touch = touching(First, piled, SCALES, response="nearest")
    obs = touch.get_touch_obs()
    counts = [touch.get_sensor_count(body) for body in sorted(touch.sensing_bodies())]
    starts = np.cumsum([0, *counts[:-1]])
    assert set(np.flatnonzero(obs.any(axis=1))) <= set(starts)
    total = sum(force for _, _, force in touch.contact_tuples)
    np.testing.assert_allclose(obs.sum(axis=0), total, rtol=1e-5, atol=1e-5 * np.abs(total).max())


def test_custom_functions_are_accepted_and_used(piled):
    class Own(DiscreteTouch):
        VALID_TOUCH_TYPES = {**DiscreteTouch.VALID_TOUCH_TYPES, "ones": 2}
        VALID_RESPONSE_FUNCTIONS = [*DiscreteTouch.VALID_RESPONSE_FUNCTIONS, "everywhere"]

        def ones(self, contact_id, geom_id):
            return np.array([1.0, 2.0])

        def everywhere(self, contact_id, geom_id, force):
            self.sensor_outputs[geom_id] += force

    touch = touching(Own, piled, SCALES, "ones", "everywhere")
    obs = touch.get_touch_obs()
    assert obs.shape == (touch.get_total_sensor_count(), 2) and obs.dtype == np.float32
    for geom in touch.sensing_geoms:
        contacts = sum(part == geom for _, part, _ in touch.contact_tuples)
        np.testing.assert_array_equal(
            touch.sensor_outputs[geom], np.full((touch.get_sensor_count(geom), 2), [contacts, 2 * contacts])
        )


@pytest.mark.parametrize("cls", CLASSES)
def test_contact_methods_can_be_overridden(piled, cls):
    class Halved(cls):
        def get_raw_force(self, contact_id, part_id):
            return 0.5 * super().get_raw_force(contact_id, part_id)

    class Filtered(cls):
        def get_contacts(self):
            return [entry for entry in super().get_contacts() if entry[1] != dropped]

    parts = [part for _, part, _ in touching(cls, piled, SCALES).contact_tuples]
    dropped, kept = min(parts), max(parts)
    full = touching(cls, piled, SCALES).get_touch_obs()
    np.testing.assert_allclose(
        touching(Halved, piled, SCALES).get_touch_obs(), full / 2, rtol=1e-5, atol=1e-6
    )
    filtered = touching(Filtered, piled, SCALES)
    filtered.get_touch_obs()
    assert not filtered.sensor_outputs[dropped].any() and filtered.sensor_outputs[kept].any()


def test_replaced_touch_function_is_used(piled):
    touch = touching(TrimeshTouch, piled, SCALES)
    expected = touching(TrimeshTouch, piled, SCALES, "normal_force").get_touch_obs()
    touch.touch_function = touch.normal_force
    np.testing.assert_allclose(touch.get_touch_obs(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("cls", CLASSES)
def test_functions_registered_with_the_skin_are_found_by_name(piled, cls, monkeypatch):
    monkeypatch.setitem(TOUCH_FUNCTIONS, "push", TouchFunction(1, "N", TOUCH_FUNCTIONS["normal"].evaluate))
    monkeypatch.setitem(RESPONSE_FUNCTIONS, "sharp", RESPONSE_FUNCTIONS["nearest"])
    known = touching(cls, piled, SCALES, "normal", "nearest").get_touch_obs()
    touch = touching(cls, piled, SCALES, "push", "sharp")
    np.testing.assert_array_equal(touch.get_touch_obs(), known)
    assert [force for _, _, force in touch.get_contacts()] == pytest.approx(
        [force for _, _, force in touch.contact_tuples]
    )


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("wrong", [np.ones(2), np.full(3, np.nan), None, "strong"])
def test_touch_function_with_invalid_output_is_rejected(piled, cls, wrong):
    class Wrong(cls):
        def force_vector(self, contact_id, part_id):
            return wrong

    with raises(TactileSimError, "nearest", "force_vector", "3"):
        touching(Wrong, piled, SCALES, response="nearest").get_touch_obs()


def test_response_function_that_changes_output_shapes_is_rejected(piled):
    class Spoiling(TrimeshTouch):
        def nearest(self, contact_id, body_id, force):
            self.sensor_outputs[body_id] = np.zeros((2, 3))

    with raises(TactileSimError, "sensor_dict", "(2, 3)"):
        touching(Spoiling, piled, SCALES, response="nearest").get_touch_obs()
