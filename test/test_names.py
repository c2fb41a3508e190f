import mujoco
import pytest

from tactile_sim import SceneError
from tactile_sim.names import Names, topic_token

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
  <keyframe><key/><key name="home"/></keyframe>
</mujoco>"""
    )
)


def test_what_has_no_name_gets_one_of_its_place():
    assert NAMES.bodies == ["world", "arm", "body2"]
    assert NAMES.geoms == ["world/geom0", "arm/geom0", "skin", "arm/geom2", "body2/geom0"]
    assert NAMES.joints == ["elbow", "arm/joint1"]
    assert NAMES.actuators == ["actuator0", "drive"]
    assert NAMES.keyframes == ["key0", "home"]


def test_names_lead_back_to_ids():
    assert NAMES.body_id("body2") == 2
    assert NAMES.geom_id("arm/geom2") == 3
    assert NAMES.joint_id("elbow") == 0
    assert NAMES.actuator_id("drive") == 1
    assert NAMES.keyframe_id("home") == 1


def test_a_name_that_was_given_must_not_be_one_that_is_made():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><geom size=".1"/></body><body name="body1"/></worldbody></mujoco>'
    )
    with pytest.raises(SceneError, match="unnamed body .* 'body1'.*give it a name"):
        Names(model)


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(SceneError, match="the scene has no joint named 'elbw'; did you mean 'elbow'?"):
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
def test_a_topic_token_holds_only_what_ros_allows(name, token):
    assert topic_token(name) == token
