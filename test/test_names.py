"""Test names of elements, including generated ones, and topic names."""

from types import SimpleNamespace

import mujoco
import pytest
from support.errors import raises

from tactile_sim import SceneError
from tactile_sim.common.names import Names, control_spans, count_actuators, first_outputs, topic_token

NAMES = Names(
    mujoco.MjModel.from_xml_string(
        """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body name="arm">
      <joint name="elbow"/><joint axis="1 0 0"/>
      <geom size=".1"/><geom name="skin" size=".1"/><geom size=".1"/>
      <body><geom size=".1"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="elbow"/><motor name="drive" joint="elbow"/></actuator>
  <equality><joint joint1="elbow"/><joint name="coupling" joint1="elbow"/></equality>
  <keyframe><key/><key name="home"/></keyframe>
</mujoco>"""
    )
)


def test_unnamed_elements_get_names():
    assert NAMES.bodies == ["world", "arm", "body2"]
    assert NAMES.geoms == ["world/geom0", "arm/geom0", "skin", "arm/geom2", "body2/geom0"]
    assert NAMES.joints == ["elbow", "arm/joint1"]
    assert NAMES.actuators == ["actuator0", "drive"]
    assert NAMES.keyframes == ["key0", "home"]
    assert NAMES.equalities == ["equality0", "coupling"]


def test_ids_are_found_by_name():
    assert NAMES.body_id("body2") == 2
    assert NAMES.geom_id("arm/geom2") == 3
    assert NAMES.joint_id("elbow") == 0
    assert NAMES.actuator_id("drive") == 1
    assert NAMES.keyframe_id("home") == 1


def test_given_name_equal_to_a_generated_one_is_rejected():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><geom size=".1"/></body><body name="body1"/></worldbody></mujoco>'
    )
    with raises(SceneError, "'body1'"):
        Names(model)


def test_unknown_name_is_rejected_with_the_nearest():
    with raises(SceneError, "joint", "'elbw'", "'elbow'"):
        NAMES.joint_id("elbw")


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("cube", "cube"),
        ("left.palm", "left_palm"),
        ("robot0:palm", "robot0_palm"),
        ("2nd", "_2nd"),
        ("händ", "h_nd"),
        ("\u0663", "_"),
        ("a b/c", "a_b_c"),
    ],
)
def test_topic_token_has_only_valid_characters(name, token):
    assert topic_token(name) == token


def test_before_mujoco_4_an_actuator_has_one_control_and_one_output():
    model = SimpleNamespace(nu=3)
    assert count_actuators(model) == 3
    assert control_spans(model) == [(0, 1), (1, 1), (2, 1)]
    assert first_outputs(model).tolist() == [0, 1, 2]
