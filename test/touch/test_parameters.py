"""touch_params and env: what they may be, and what is told where they cannot be used."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from touching import BALL, BOX, CLASSES, env_of, free, touching

from tactile_sim import ConfigError, TactileSimError
from tactile_sim.touch import Touch, TrimeshTouch

GOOD = {"scales": {"ball": 0.03}, "touch_function": "force_vector", "response_function": "nearest"}


@pytest.fixture(scope="module")
def env():
    return env_of(
        free("ball", BALL), free("ball_two", BALL.replace('"ball"', '"two"'), pos="1 0 .1"), steps=10
    )


@pytest.mark.parametrize(
    "params, tells",
    [
        ({"scales": None}, "scales: needs a mapping of bodies to metres"),
        ({"scales": {"bal": 0.1}}, "no body named 'bal'; did you mean 'ball'"),
        ({"scales": {7: 0.1}}, "no body 7; ids are 0 to 2"),
        ({"scales": {"q*": 0.1}}, "no body matches the pattern"),
        ({"scales": {"ball": "fine"}}, "scales.ball: needs the distance .* is 'fine'"),
        ({"scales": {"ball": -1}}, "above 0, but is -1"),
        ({"scales": {"ball": float("nan")}}, "above 0, but is nan"),
        ({"scales": {"ball": 1e-6}}, "too many taxels"),
        (
            {"scales": {"ball": 1e-300}},
            "scales.ball: a spacing of 1e-300 m makes too many .* 0.00049 m or more",
        ),
        ({"scales": {True: 0.1}}, "no body True"),
        ({"touch_function": "force_vektor"}, "no 'force_vektor'; did you mean 'force_vector'"),
        ({"touch_function": ["normal"]}, "touch_function: there is no"),
        ({"response_function": "nearst"}, "did you mean 'nearest'"),
        ({"placement": "evn"}, "placement: .*evn"),
        ({"distance": 3}, "distance: "),
        ({"stiffness": -1}, "stiffness: .*above 0"),
        ({"scale": {}}, "unknown key 'scale'; did you mean 'scales'"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_told(env, params, tells):
    with pytest.raises(ConfigError, match=tells):
        TrimeshTouch(env, {**GOOD, **params})


@pytest.mark.parametrize("key", GOOD)
def test_a_missing_key_is_told(env, key):
    with pytest.raises(ConfigError, match=f"the key '{key}' is missing"):
        TrimeshTouch(env, {name: value for name, value in GOOD.items() if name != key})


@pytest.mark.parametrize("params", [None, "scales", [GOOD]])
def test_touch_params_that_are_no_mapping_are_told(env, params):
    with pytest.raises(ConfigError, match="touch_params: needs a mapping, but is "):
        TrimeshTouch(env, params)


def test_data_of_another_model_are_told(env):
    other = env_of(free("ball", BALL))
    with pytest.raises(ConfigError, match="data of this SimpleNamespace are of another model"):
        TrimeshTouch(SimpleNamespace(model=env.model, data=other.data), GOOD)


@pytest.mark.parametrize("other", [None, SimpleNamespace(model=1, data=2), object()])
def test_an_env_without_a_model_and_data_is_told(other):
    with pytest.raises(ConfigError, match="has no MuJoCo model and data"):
        TrimeshTouch(other, GOOD)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    "scales", [{"ball": 0.03}, {1: 0.03}, {np.int64(1): np.float32(0.03)}, {"bal[l]": 0.03}]
)
def test_bodies_are_given_by_name_id_or_pattern(env, cls, scales):
    assert touching(cls, env, scales).sensor_scales == {1: pytest.approx(0.03)}


def test_an_exact_name_wins_over_a_pattern(env):
    assert touching(TrimeshTouch, env, {"ball*": 0.05, "ball": 0.03}).sensor_scales == {2: 0.05, 1: 0.03}


def test_a_wrapped_env_is_looked_into(env):
    wrapped = SimpleNamespace(unwrapped=env)
    touch = TrimeshTouch(wrapped, GOOD)
    assert touch.env is wrapped and touch.m_model is env.model and touch.m_data is env.data


@pytest.mark.parametrize("cls", CLASSES)
def test_the_placement_and_the_distance_can_be_chosen(env, cls):
    counts = {
        placement: touching(cls, env, {"ball": 0.02}, placement=placement).get_total_sensor_count()
        for placement in ("mimo", "even")
    }
    assert touching(cls, env, {"ball": 0.02}).get_total_sensor_count() == counts["mimo"] != counts["even"]
    straight = touching(cls, env, {"ball": 0.02}).get_touch_obs()
    along = touching(cls, env, {"ball": 0.02}, distance="surface").get_touch_obs()
    assert np.abs(straight - along).max() > 1e-3 * np.abs(straight).max() > 0


def test_a_touch_system_of_ones_own_needs_but_its_functions(env):
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
    with pytest.raises(ConfigError, match="Own has no method 'forgotten'"):
        Own(env, {**params, "touch_function": "forgotten"})
    with pytest.raises(ConfigError, match="no 'normal'"):
        Own(env, {**params, "touch_function": "normal"})
    with pytest.raises(NotImplementedError):
        Touch.get_touch_obs(touch)


@pytest.mark.parametrize("cls", CLASSES)
def test_an_infinite_scale_is_one_sensor_a_geom(cls):
    env = env_of(free("box", BOX, '<geom type="box" size=".1 .1 .1" pos=".3 0 0"/>'), steps=1500)
    touch = touching(cls, env, {"box": float("inf")})
    assert touch.get_total_sensor_count() == 2
    assert touch.get_touch_obs()[:, 2].sum() == pytest.approx(9.81, rel=2e-3)


def test_every_error_is_one_of_ours():
    assert issubclass(ConfigError, TactileSimError)
