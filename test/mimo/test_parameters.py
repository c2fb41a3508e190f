"""Valid and invalid values of touch_params and env."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support.errors import raises
from support.touch import BALL, BOX, CLASSES, env_of, free, touching

from tactile_sim import ConfigError, TactileSimError
from tactile_sim.mimo.touch import Touch, TrimeshTouch

GOOD = {"scales": {"ball": 0.03}, "touch_function": "force_vector", "response_function": "nearest"}


@pytest.fixture(scope="module")
def env():
    return env_of(
        free("ball", BALL), free("ball_two", BALL.replace('"ball"', '"two"'), pos="1 0 .1"), steps=10
    )


@pytest.mark.parametrize(
    "params, facts",
    [
        ({"scales": None}, ["scales", "None"]),
        ({"scales": {"bal": 0.1}}, ["'bal'", "'ball'"]),
        ({"scales": {7: 0.1}}, ["scales", "7", "0 to 2"]),
        ({"scales": {"q*": 0.1}}, ["q*"]),
        ({"scales": {"ball": "fine"}}, ["scales.ball", "'fine'"]),
        ({"scales": {"ball": -1}}, ["scales.ball", "-1"]),
        ({"scales": {"ball": float("nan")}}, ["scales.ball", "nan"]),
        ({"scales": {"ball": 1e-6}}, ["scales.ball", "1e-06"]),
        ({"scales": {"ball": 1e-300}}, ["scales.ball", "1e-300", "0.00049"]),
        ({"scales": {True: 0.1}}, ["scales", "True"]),
        ({"touch_function": "force_vektor"}, ["touch_function", "'force_vektor'", "'force_vector'"]),
        ({"touch_function": ["normal"]}, ["touch_function", "normal"]),
        ({"response_function": "nearst"}, ["response_function", "'nearst'", "'nearest'"]),
        ({"placement": "evn"}, ["placement", "evn"]),
        ({"distance": 3}, ["distance", "3"]),
        ({"stiffness": -1}, ["stiffness", "-1"]),
        ({"stiffness": {"bal": 1e5}}, ["stiffness.bal", "'ball'"]),
        ({"thickness": {"ball": 0}}, ["thickness.ball", "0"]),
        ({"scale": {}}, ["'scale'", "'scales'"]),
    ],
)
def test_invalid_parameter_is_rejected(env, params, facts):
    with raises(ConfigError, "touch_params", *facts):
        TrimeshTouch(env, {**GOOD, **params})


@pytest.mark.parametrize("key", GOOD)
def test_missing_key_is_rejected(env, key):
    with raises(ConfigError, "touch_params", f"'{key}'"):
        TrimeshTouch(env, {name: value for name, value in GOOD.items() if name != key})


@pytest.mark.parametrize("params", [None, "scales", [GOOD]])
def test_touch_params_must_be_a_mapping(env, params):
    with raises(ConfigError, "touch_params", repr(params)):
        TrimeshTouch(env, params)


def test_data_of_another_model_are_rejected(env):
    other = env_of(free("ball", BALL))
    with raises(ConfigError, "SimpleNamespace", "mujoco.MjData(model)"):
        TrimeshTouch(SimpleNamespace(model=env.model, data=other.data), GOOD)


@pytest.mark.parametrize("other", [None, SimpleNamespace(model=1, data=2), object()])
def test_env_without_model_and_data_is_rejected(other):
    with raises(ConfigError, type(other).__name__, "mujoco.MjModel", "mujoco.MjData"):
        TrimeshTouch(other, GOOD)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    "scales", [{"ball": 0.03}, {1: 0.03}, {np.int64(1): np.float32(0.03)}, {"bal[l]": 0.03}]
)
def test_bodies_are_given_by_name_id_or_pattern(env, cls, scales):
    assert touching(cls, env, scales).sensor_scales == {1: pytest.approx(0.03)}


def test_exact_name_takes_precedence_over_pattern(env):
    assert touching(TrimeshTouch, env, {"ball*": 0.05, "ball": 0.03}).sensor_scales == {2: 0.05, 1: 0.03}


def test_wrapped_env_is_unwrapped(env):
    wrapped = SimpleNamespace(unwrapped=env)
    touch = TrimeshTouch(wrapped, GOOD)
    assert touch.env is wrapped and touch.m_model is env.model and touch.m_data is env.data


@pytest.mark.parametrize("cls", CLASSES)
def test_placement_and_distance_are_configurable(env, cls):
    counts = {
        placement: touching(cls, env, {"ball": 0.02}, placement=placement).get_total_sensor_count()
        for placement in ("mimo", "even")
    }
    assert touching(cls, env, {"ball": 0.02}).get_total_sensor_count() == counts["mimo"] != counts["even"]
    straight = touching(cls, env, {"ball": 0.02}).get_touch_obs()
    along = touching(cls, env, {"ball": 0.02}, distance="surface").get_touch_obs()
    assert np.abs(straight - along).max() > 1e-3 * np.abs(straight).max() > 0


def test_subclass_of_touch_needs_only_its_functions(env):
    class Own(Touch):
        VALID_TOUCH_TYPES = {"count": 1, "forgotten": 1}
        VALID_RESPONSE_FUNCTIONS = ["none"]

        def count(self):
            return self.m_data.ncon

        def none(self):
            return None

        def get_touch_obs(self):
            return np.full((1, self.touch_size), self.touch_function())

    params = {"scales": {"ball": 1}, "touch_function": "count", "response_function": "none", "extra": 1}
    touch = Own(env, params)
    assert touch.get_touch_obs() == [[env.data.ncon]]
    assert (touch.touch_type, touch.touch_size, touch.response_type) == ("count", 1, "none")
    assert touch.sensor_positions == touch.sensor_outputs == {}
    with raises(ConfigError, "Own", "'forgotten'"):
        Own(env, {**params, "touch_function": "forgotten"})
    with raises(ConfigError, "'normal'"):
        Own(env, {**params, "touch_function": "normal"})
    with pytest.raises(NotImplementedError):
        Touch.get_touch_obs(touch)


@pytest.mark.parametrize("cls", CLASSES)
def test_infinite_scale_gives_one_sensor_per_geom(cls):
    env = env_of(free("box", BOX, '<geom type="box" size=".1 .1 .1" pos=".3 0 0"/>'), steps=1500)
    touch = touching(cls, env, {"box": float("inf")})
    assert touch.get_total_sensor_count() == 2
    assert touch.get_touch_obs()[:, 2].sum() == pytest.approx(9.81, rel=2e-3)


def test_config_error_is_a_tactile_sim_error():
    assert issubclass(ConfigError, TactileSimError)
