import pytest
from support.errors import raises

from tactile_sim import ConfigError, config

SETTINGS = config.from_mapping({"scene": "cube.xml", "rates": {"tf": 5}}, None, "my.yaml")


def test_replacing_a_live_key_changes_nothing_else():
    changed = SETTINGS.replace("rates.tactile", 20)
    assert changed.rates.tactile == 20.0
    assert changed.replace("rates.tactile", 100) == SETTINGS
    assert SETTINGS.rates.tactile == 100.0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("real_time_factor", 0),
        ("rates.markers", 0),
        ("skin.touch_function", "normal"),
        ("skin.response_function", "nearest"),
        ("markers.force_scale", 0.1),
    ],
)
def test_live_keys_can_be_replaced(key, value):
    assert SETTINGS.replace(key, value).parameters()[key] == value


@pytest.mark.parametrize(
    ("key", "value", "facts"),
    [
        ("rates.tf", -1, ["rates.tf: ", "-1"]),
        ("skin.touch_function", "torque_vector", ["'torque_vector'", "this version"]),
        ("scene", "a.xml", ["scene: ", "while the simulation runs"]),
        ("skin.sampling", "mean", ["skin.sampling: ", "while the simulation runs"]),
        ("skin.scales.palm", 0.01, ["skin.scales.palm: ", "while the simulation runs"]),
        ("control", 1, ["control: ", "while the simulation runs"]),
        ("rates.tff", 1, ["'rates.tff'", "'rates.tf'"]),
    ],
)
def test_invalid_replacement_is_rejected(key, value, facts):
    with raises(ConfigError, *facts):
        SETTINGS.replace(key, value)


def test_parameters_list_every_plain_key_with_its_value():
    parameters = SETTINGS.parameters()
    assert parameters["scene"] == "cube.xml"
    assert parameters["rates.tf"] == 5.0
    assert set(parameters) == set(config.KEYS)
    assert config.from_mapping(parameters, None, "my.yaml") == SETTINGS


def test_every_key_has_a_description():
    assert all(key.doc for key in config.KEYS.values())
