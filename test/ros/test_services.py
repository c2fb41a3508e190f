"""Services are created from the table of actions, and every call receives a response."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from geometry_msgs.msg import Point, Pose, Quaternion  # noqa: E402
from rclpy.qos import qos_profile_parameters  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from support.ros import wait_for  # noqa: E402
from tactile_sim.srv import SetBodyState, SetEquality, SetMocapPose  # noqa: E402

from tactile_sim import config  # noqa: E402
from tactile_sim.common.errors import TactileSimError  # noqa: E402
from tactile_sim.ros.services import (  # noqa: E402
    DeferredService,
    fields,
    offer_actions,
    service_class,
)
from tactile_sim.simulation import Simulation  # noqa: E402
from tactile_sim.simulation.action import Action  # noqa: E402
from tactile_sim.simulation.actions import ACTIONS  # noqa: E402
from tactile_sim.simulation.runner import Output, Runner  # noqa: E402
from tactile_sim.view.model_scene import scene_of_simulation  # noqa: E402

SERVED = [action for action in ACTIONS.values() if action.service]


@pytest.mark.parametrize("action", SERVED, ids=lambda action: action.name)
def test_requests_have_arguments_of_actions(action):
    names = fields(service_class(action.service))
    if action.service.startswith("std_srvs"):
        assert len(names) == len(action.arguments)
    else:
        assert names == list(action.arguments)


def test_new_action_has_service_and_button(ros, monkeypatch):
    def wave(loop, enabled: bool) -> str | None:
        """Return a greeting."""
        return f"{loop.simulation.names.bodies[1]} waved" if enabled else None

    monkeypatch.setitem(ACTIONS, "wave", Action(wave, "std_srvs/srv/SetBool", "w", "wave", button=True))
    settings = config.from_mapping({"scene": "touch_cube.xml", "skin": {"scales": {"cube": 0.1}}})
    simulation = Simulation(settings)
    runner = Runner(simulation, Output())
    offer_actions(ros.node, runner)
    thread = threading.Thread(target=runner.run)
    thread.start()
    try:
        answers = [ros.call(SetBool, "/listener/wave", data=enabled) for enabled in (True, False)]
    finally:
        runner.stop()
        thread.join()
    assert [(a.success, a.message) for a in answers] == [(True, "table waved"), (True, "")]
    assert "wave" in scene_of_simulation(simulation).actions


def test_mocap_body_and_weld_are_services(ros):
    (ros.folder / "scene.xml").write_text("""<mujoco><worldbody><body name="hand" mocap="true"/>
        <body name="box"><freejoint/><geom size=".1"/></body></worldbody>
        <equality><weld name="grasp" body1="hand" body2="box"/></equality></mujoco>""")
    settings = config.from_mapping({"scene": str(ros.folder / "scene.xml"), "contacts": "all"})
    simulation = Simulation(settings)
    runner = Runner(simulation, Output())
    runner.pause(True)
    offer_actions(ros.node, runner)
    thread = threading.Thread(target=runner.run)
    thread.start()
    pose = Pose(position=Point(x=1.0, y=2.0, z=3.0), orientation=Quaternion(x=1.0, w=0.0))
    try:
        answers = [
            ros.call(SetMocapPose, "/listener/set_mocap_pose", body="hand", pose=pose),
            ros.call(SetMocapPose, "/listener/set_mocap_pose", body="box", pose=pose),
            ros.call(SetEquality, "/listener/set_equality", name="grasp", active=False),
            ros.call(SetEquality, "/listener/set_equality", name="grip", active=True),
        ]
    finally:
        runner.stop()
        thread.join()
    assert [answer.success for answer in answers] == [True, False, True, False]
    assert simulation.engine.mocap_pos.tolist() == [[1, 2, 3]]
    assert simulation.engine.mocap_quat.tolist() == [[0, 1, 0, 0]]
    assert simulation.engine.eq_active.tolist() == [False]


def test_hundreds_of_concurrent_calls_get_responses(ros):
    ros.run(scene="touch_cube.xml", skin={"scales": {"cube": 0.1}})
    for service_type, name, values, accepted in (
        (SetBool, "pause", {"data": True}, True),
        (SetBodyState, "set_body_state", {"body": "nobody"}, False),
    ):
        # By default, a client keeps only 10 unread responses.
        client = ros.node.create_client(
            service_type, f"/tactile_sim/{name}", qos_profile=qos_profile_parameters
        )
        wait_for(client.service_is_ready)
        futures = [client.call_async(service_type.Request(**values)) for _ in range(500)]
        wait_for(lambda futures=futures: all(future.done() for future in futures), f"500 of {name}")
        assert {future.result().success for future in futures} == {accepted}


def raises_at_once(request):
    raise ZeroDivisionError


def fails_later(request):
    future: Future = Future()
    future.set_exception(ZeroDivisionError())
    return future


@pytest.mark.parametrize("start", [raises_at_once, fails_later])
def test_unexpected_exception_gets_response(ros, start):
    def fill(response, future):
        try:
            future.result()
        except TactileSimError as error:
            response.message = str(error)

    DeferredService(ros.node, Trigger, "odd", start, fill)
    for _ in range(2):
        answer = ros.call(Trigger, "odd")
        assert not answer.success
        assert "ZeroDivisionError" in answer.message
