import dataclasses
import math
from pathlib import Path

import pytest

from tactile_sim import ConfigError, config


def settings(**keys):
    return config.from_mapping({"scene": "cube.xml", **keys}, Path("/base"), "my.yaml")


def refusal(mapping):
    with pytest.raises(ConfigError) as error:
        config.from_mapping(mapping, None, "my.yaml")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_is_not_given_has_the_default_of_the_contract():
    given = settings()
    assert given.real_time_factor == 1.0
    assert given.contacts == "skin"
    assert given.skin.response_function == "spread_linear"
    assert given.rates == config.Rates(
        tactile=100, contacts=100, joint_states=100, clock=100, tf=100, markers=30, points=30, images=15,
        feelers=100, sensors=100, diagnostics=1,
    )  # fmt: skip


def test_an_integer_is_taken_where_a_number_is_meant():
    given = settings(real_time_factor=2, skin={"scales": {"cube": 1}})
    assert given.real_time_factor == 2.0
    assert isinstance(given.real_time_factor, float)
    assert isinstance(given.skin.scales["cube"], float)


@pytest.mark.parametrize("null", [None, "null", "~"])
def test_null_means_the_default(null):
    assert settings(engine=null, skin={"scales": {"a": null, "b": 0.1}}) == settings(
        skin={"scales": {"b": 0.1}}
    )


def test_a_plain_off_which_is_false_in_yaml_is_the_word():
    assert settings(tf=False).tf == "off"


def test_keys_may_be_nested_or_dotted():
    nested = settings(
        skin={"scales": {"left.palm": 0.1}, "sensor": {"left.palm": {"noise": {"std": 2}}}},
        rates={"tf": 5},
        gains={"left.elbow": {"kp": 1}},
    )
    dotted = settings(
        **{
            "skin.scales.left.palm": 0.1,
            "skin.sensor.left.palm.noise.std": 2,
            "rates.tf": 5,
            "gains.left.elbow.kp": 1,
        }
    )
    assert nested == dotted
    assert nested.skin.scales == {"left.palm": 0.1}
    assert nested.skin.sensor == {"left.palm": {"noise": {"std": 2.0}}}
    assert nested.gains == {"left.elbow": {"kp": 1.0}}


def test_parameters_that_every_node_has_are_passed_over():
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
    ("mapping", "message"),
    [
        ({}, "my.yaml: the key 'scene' is missing; name an MJCF or URDF file"),
        ({"scene": ""}, "my.yaml: scene: needs text, but is empty"),
        ({"scene": 3}, "my.yaml: scene: needs text, but is 3 (an integer); put it in quotes"),
        ({"scene": {"file": "a"}}, "my.yaml: scene: takes one value, but has keys below it: 'scene.file'"),
        ({"scen": "a"}, "my.yaml: unknown key 'scen'; did you mean 'scene'?"),
        ({"rates": {"tactil": 1}}, "unknown key 'rates.tactil'; did you mean 'rates.tactile'?"),
        ({"rate": {"tactile": 1}}, "unknown key 'rate.tactile'; did you mean 'rates'?"),
        ({"skn": {"scales": {"a": 1}}}, "unknown key 'skn.scales.a'; did you mean 'skin'?"),
        ({"touch_function": "normal"}, "unknown key 'touch_function'; did you mean 'skin.touch_function'?"),
        ({"scales": {"cube": 1}}, "unknown key 'scales.cube'; did you mean 'skin.scales'?"),
        ({"gains": {"elbow": {"kq": 1}}}, "unknown key 'gains.elbow.kq'; there are: kd, kp"),
        ({"gains": {"elbow": 1}}, "gains.elbow: needs kp and kd below it, but is 1 (an integer)"),
        ({"skin": {"sensor": {"left.palm": {"noise": 1}}}}, "skin.sensor.left.palm.noise: needs std below"),
        ({"skin": {"sensor": {"palm": {"delay": {"tim": 1}}}}}, "palm.delay.tim'; did you mean 'time'?"),
        ({"skin": {"sensor": 1}}, "skin.sensor: needs keys below it, but is 1 (an integer)"),
        ({"rates": 30}, "my.yaml: rates: needs keys below it, but is 30 (an integer)"),
        ({"skin": {"scales": 0.02}}, "skin.scales: needs keys below it, but is 0.02 (a number)"),
        ({3: 4}, "3: a key has to be text, but is 3 (an integer)"),
        ([], "the configuration has to be a mapping, but is [] (a list)"),
        ({"lockstep": "yes"}, "lockstep: needs true or false, but is 'yes' (text)"),
        ({"lockstep": 1}, "lockstep: needs true or false, but is 1 (an integer)"),
        ({"rates": {"tf": True}}, "rates.tf: needs a finite number of at least 0 [Hz], but is true"),
        ({"rates": {"tf": "10"}}, "rates.tf: needs a finite number of at least 0 [Hz], but is '10' (text)"),
        ({"rates": {"tf": -1}}, "rates.tf: needs a finite number of at least 0 [Hz], but is -1"),
        ({"rates": {"tf": math.inf}}, "rates.tf: needs a finite number of at least 0 [Hz], but is inf"),
        ({"real_time_factor": math.nan}, "real_time_factor: needs a finite number of at least 0, but is nan"),
        ({"skin": {"scales": {"cube": 0}}}, "skin.scales.cube: needs a finite number above 0 [m], but is 0"),
        ({"skin": {"scales": {"cube": -0.1}}}, "cube: needs a finite number above 0 [m], but is -0.1"),
        ({"skin": {"scales": {"a.b": math.nan}}}, "a.b: needs a finite number above 0 [m], but is nan"),
        ({"skin": {"scales": {"cube": [0.1]}}}, "cube: needs a finite number above 0 [m], but is [0.1]"),
        ({"seed": 1.5}, "seed: needs an integer from 0 to 9223372036854775807, but is 1.5 (a number)"),
        ({"seed": -1}, "seed: needs an integer from 0"),
        ({"web": {"port": 99999}}, "web.port: needs an integer from 0 to 65535, but is 99999"),
        ({"tf": "al"}, "tf: cannot be 'al'; did you mean 'all'?"),
        ({"tf": True}, "tf: needs one of all, objects, off, but is true (a boolean)"),
        ({"world_frame": "/world"}, "world_frame: needs a TF frame, without a leading slash"),
        ({"motion": {"keyframes": "a"}}, "motion.keyframes: needs a list of names"),
        ({"skin": {"touch_function": "force_vektor"}}, "be 'force_vektor'; did you mean 'force_vector'?"),
    ],
)  # fmt: skip
def test_a_wrong_mapping_is_refused_with_key_what_is_there_and_what_is_meant(mapping, message):
    assert message in refusal(mapping)


def test_what_a_later_version_brings_is_known_but_not_available_yet():
    reserved = {"scene": "a", "skin": {"touch_function": "torque_vector"}}
    assert "is not available yet in this version" in refusal(reserved)


def test_the_trifinger_brings_its_own_scene():
    assert config.from_mapping({"engine": "trifinger"}).scene == "trifingerpro"
    chosen = config.from_mapping({"engine": "trifinger", "trifinger": {"type": "fingeredu"}})
    assert chosen.scene == "fingeredu"
    assert "leave the key out" in refusal({"engine": "trifinger", "scene": "hand.xml"})


def test_keys_of_a_group_reach_their_place():
    given = settings(web={"host": "0.0.0.0", "port": 80}, rates={"images": 1, "feelers": 2, "sensors": 3})
    assert (given.web.port, given.rates.images) == (80, 1.0)
