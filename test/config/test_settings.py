import pytest

from tactile_sim import ConfigError, config

SETTINGS = config.from_mapping({"scene": "cube.xml", "rates": {"tf": 5}}, None, "my.yaml")


def test_a_live_key_is_replaced_and_all_else_stays():
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
def test_what_the_contract_lets_be_set_while_it_runs_can_be(key, value):
    assert SETTINGS.replace(key, value).parameters()[key] == value


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rates.tf", -1, "rates.tf: needs a finite number of at least 0"),
        ("skin.touch_function", "torque_vector", "'torque_vector' is not available yet"),
        ("scene", "a.xml", "scene: cannot be set while the simulation runs"),
        ("skin.sampling", "mean", "skin.sampling: cannot be set while the simulation runs"),
        ("skin.scales.palm", 0.01, "skin.scales.palm: cannot be set while the simulation runs"),
        ("control", 1, "control: cannot be set while the simulation runs"),
        ("rates.tff", 1, "unknown key 'rates.tff'; did you mean 'rates.tf'?"),
    ],
)
def test_a_replacement_is_checked_as_in_a_file(key, value, message):
    with pytest.raises(ConfigError) as error:
        SETTINGS.replace(key, value)
    assert message in str(error.value)


def test_parameters_list_every_plain_key_with_its_value():
    parameters = SETTINGS.parameters()
    assert parameters["scene"] == "cube.xml"
    assert parameters["rates.tf"] == 5.0
    assert set(parameters) == set(config.KEYS)
    assert config.from_mapping(parameters, None, "my.yaml") == SETTINGS


def test_every_key_says_what_it_does():
    assert all(key.doc for key in config.KEYS.values())
