import dataclasses
import math
from pathlib import Path

import pytest

from tactile_sim import ConfigError, config
from tactile_sim.common.errors import ConfigErrors


def settings(**keys):
    return config.from_mapping({"scene": "cube.xml", **keys}, Path("/base"), "my.yaml")


def refusal(mapping):
    with pytest.raises(ConfigError) as error:
        config.from_mapping(mapping, None, "my.yaml")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_all_errors_are_reported_at_once():
    with pytest.raises(ConfigErrors) as raised:
        config.from_mapping({"seed": -1, "rate": 3, "skin": {"scales": {"cube": 0}}}, None, "my.yaml")
    keys = ("seed", "'rate'", "skin.scales.cube", "'scene'")
    for error, key in zip(raised.value.errors, keys, strict=True):
        assert isinstance(error, ConfigError) and key in str(error) and "\n" not in str(error)
    assert str(raised.value).splitlines() == [str(error) for error in raised.value.errors]


def test_invalid_engine_or_scene_is_not_also_a_missing_scene():
    for wrong in ({"engine": "mujko"}, {"scene": 1}):
        with pytest.raises(ConfigError) as raised:
            config.from_mapping(wrong, None, "my.yaml")
        assert not isinstance(raised.value, ConfigErrors)


def test_missing_keys_have_their_defaults():
    given = settings()
    assert given.real_time_factor == 1.0
    assert given.contacts == "skin"
    assert given.skin.response_function == "elastic_foundation"
    assert given.rates == config.Rates(
        tactile=100, contacts=100, joint_states=100, clock=100, tf=100, markers=30, points=30, images=15,
        feelers=100, sensors=100, diagnostics=1,
    )  # fmt: skip


def test_integer_is_accepted_as_a_number():
    given = settings(real_time_factor=2, skin={"scales": {"cube": 1}})
    assert given.real_time_factor == 2.0
    assert isinstance(given.real_time_factor, float)
    assert isinstance(given.skin.scales["cube"], float)


@pytest.mark.parametrize(
    ("mapping", "fact"),
    [
        ({"skin": {"scales": None}}, "skin.scales: "),
        ({"skin": {"scales": "null"}}, "skin.scales: "),
        ({"skin": {"pads": {"tip": "null"}}}, "skin.pads.tip: "),
    ],
)
def test_null_instead_of_keys_is_called_null(mapping, fact):
    line = refusal({"scene": "cube.xml", **mapping})
    assert fact in line and line.endswith("got null")


@pytest.mark.parametrize("levels", [["/**", "ros__parameters"], ["ros__parameters"]])
def test_levels_of_a_parameter_file_are_rejected_with_the_mapping_to_pass(levels):
    mapping = {"scene": "cube.xml"}
    for level in reversed(levels):
        mapping = {level: mapping}
    line = refusal(mapping)
    assert "mapping" + "".join(f"[{level!r}]" for level in levels) in line


@pytest.mark.parametrize("null", [None, "null", "~"])
def test_null_means_the_default_and_excludes_in_scales(null):
    assert settings(engine=null, skin={"scales": {"a": null, "b": 0.1}}) == settings(
        skin={"scales": {"a": None, "b": 0.1}}
    )


def test_yaml_off_is_accepted_as_text():
    assert settings(tf=False).tf == "off"


def test_keys_can_be_nested_or_dotted():
    nested = settings(
        skin={"scales": {"left.palm": 0.1}, "sensor": {"left.palm": {"noise": {"std": 2}}}},
        rates={"tf": 5},
        control={"left.elbow": {"kp": 1}},
    )
    dotted = settings(
        **{
            "skin.scales.left.palm": 0.1,
            "skin.sensor.left.palm.noise.std": 2,
            "rates.tf": 5,
            "control.left.elbow.kp": 1,
        }
    )
    assert nested == dotted
    assert nested.skin.scales == {"left.palm": 0.1}
    assert nested.skin.sensor == {"left.palm": {"noise": {"std": 2.0}}}
    assert nested.control == {"left.elbow": {"kp": 1.0}}


def test_parameters_of_every_node_are_ignored():
    extra = {
        "use_sim_time": True,
        "start_type_description_service": True,
        "qos_overrides./tf.publisher.depth": 3,
    }
    assert settings(**extra) == settings()


def test_settings_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings().seed = 3


@pytest.mark.parametrize(
    ("mapping", "facts"),
    [
        ({"scene": ""}, ("scene",)),
        ({"scene": 3}, ("scene", "3 (an integer)")),
        ({"scene": {"file": "a"}}, ("scene", "'scene.file'")),
        ({"scen": "a"}, ("'scen'", "'scene'")),
        ({"rates": {"tactil": 1}}, ("'rates.tactil'", "'rates.tactile'")),
        ({"rate": {"tactile": 1}}, ("'rate.tactile'", "'rates'")),
        ({"skn": {"scales": {"a": 1}}}, ("'skn.scales.a'", "'skin'")),
        ({"touch_function": "normal"}, ("'touch_function'", "'skin.touch_function'")),
        ({"scales": {"cube": 1}}, ("'scales.cube'", "'skin.scales'")),
        ({"control": {"elbow": {"kq": 1}}}, ("'control.elbow.kq'", "kd, kp")),
        ({"gains": {"elbow": {"kp": 1}}}, ("'gains.elbow.kp'", "'control'")),
        ({"control": {"elbow": 1}}, ("control.elbow", "kp", "kd", "1 (an integer)")),
        ({"skin": {"sensor": {"left.palm": {"noise": 1}}}}, ("skin.sensor.left.palm.noise", "std")),
        ({"skin": {"sensor": {"palm": {"delay": {"tim": 1}}}}}, ("palm.delay.tim'", "'time'")),
        ({"skin": {"sensor": 1}}, ("skin.sensor", "1 (an integer)")),
        ({"rates": 30}, ("rates", "30 (an integer)")),
        ({"skin": {"scales": 0.02}}, ("skin.scales", "0.02 (a number)")),
        ({3: 4}, ("3 (an integer)",)),
        ({"\ud800": 4}, (r"\ud800",)),
        ([], ("[] (a list)",)),
        ({"lockstep": "yes"}, ("lockstep", "true or false", "'yes' (text)")),
        ({"lockstep": 1}, ("lockstep", "true or false", "1 (an integer)")),
        ({"rates": {"tf": True}}, ("rates.tf", "[Hz]", "true (a boolean)")),
        ({"rates": {"tf": "10"}}, ("rates.tf", "[Hz]", "'10' (text)")),
        ({"rates": {"tf": -1}}, ("rates.tf", "[Hz]", "-1")),
        ({"rates": {"tf": math.inf}}, ("rates.tf", "[Hz]", "inf")),
        ({"rates": {"tf": 10**400}}, ("rates.tf", "[Hz]", "inf")),
        ({"rates": {"tf": 1e10}}, ("rates.tf", "1e+09", "1e+10")),
        ({"real_time_factor": math.nan}, ("real_time_factor", "nan")),
        ({"skin": {"scales": {"cube": 0}}}, ("skin.scales.cube", "[m]", "0")),
        ({"skin": {"scales": {"cube": -0.1}}}, ("skin.scales.cube", "[m]", "-0.1")),
        ({"skin": {"scales": {"a.b": math.nan}}}, ("skin.scales.a.b", "[m]", "nan")),
        ({"skin": {"scales": {"cube": [0.1]}}}, ("skin.scales.cube", "[m]", "[0.1] (a list)")),
        ({"seed": 1.5}, ("seed", "9223372036854775807", "1.5 (a number)")),
        ({"seed": -1}, ("seed", "-1")),
        ({"web": {"port": 99999}}, ("web.port", "65535", "99999")),
        ({"tf": "al"}, ("tf", "'al'", "'all'")),
        ({"tf": True}, ("tf", "all, objects, off", "true (a boolean)")),
        ({"world_frame": "/world"}, ("world_frame", "'/world'")),
        ({"world_frame": "a\0b"}, ("world_frame", r"a\x00b")),
        ({"motion": {"keyframes": "a"}}, ("motion.keyframes", "'a' (text)")),
        ({"motion": {"keyframes": ["a", "\udfff"]}}, ("motion.keyframes", r"\udfff")),
        ({"skin": {"touch_function": "force_vektor"}}, ("'force_vektor'", "'force_vector'")),
        ({"skin": {"touch_function": "torque_vector"}}, ("'torque_vector'", "this version")),
        ({"engine": "trifinger"}, ("scene", "trifinger")),
    ],
)  # fmt: skip
def test_invalid_mapping_is_rejected_with_file_key_and_value(mapping, facts):
    message = refusal({"scene": "cube.xml", **mapping} if mapping else mapping)
    assert message.startswith("my.yaml: ")
    for fact in facts:
        assert fact in message


def test_scene_is_required():
    assert "'scene'" in refusal({"seed": 1})
    assert "'engine: trifinger'" in refusal({"trifinger": {"type": "fingeredu"}})


def test_trifinger_has_its_own_scene():
    assert config.from_mapping({"engine": "trifinger"}).scene == "trifingerpro"
    chosen = config.from_mapping({"engine": "trifinger", "trifinger": {"type": "fingeredu"}})
    assert chosen.scene == "fingeredu"


def test_keys_of_a_group_are_set():
    given = settings(web={"host": "0.0.0.0", "port": 80}, rates={"images": 1, "feelers": 2, "sensors": 3})
    assert (given.web.port, given.rates.images) == (80, 1.0)
