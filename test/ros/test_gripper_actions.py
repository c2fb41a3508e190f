"""Test the gripper actions of a node in a second process with the shipped gripper."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")
pytest.importorskip("control_msgs", reason="control_msgs is not installed: apt has it for a ROS installation")

from action_msgs.msg import GoalStatus  # noqa: E402
from control_msgs.action import GripperCommand, ParallelGripperCommand  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from support.ros import shipped, stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileState  # noqa: E402

HOLDS = 10.0
"""Simulation time for which the block must be held [s]."""
CLOSED = 0.0245
"""Approximate position of a finger whose pad touches the block [m]. At position 0, the gap is 25 mm."""


@pytest.fixture
def gripper(ros):
    """Run the shipped gripper at twice real time, without its built-in motion."""
    return ros.run(**shipped("gripper"), real_time_factor=2.0)


@pytest.fixture
def client(ros, gripper):
    """Return a function that sends a goal and returns its handle and a list that collects its feedback."""
    clients = {
        kind: ActionClient(ros.node, kind, f"/tactile_sim/gripper/{name}")
        for kind, name in ((GripperCommand, "gripper_cmd"), (ParallelGripperCommand, "parallel_gripper_cmd"))
    }

    def send(position, effort=0.0, kind=GripperCommand, **fields):
        feedback = []
        goal = kind.Goal()
        if kind is GripperCommand:
            goal.command.position, goal.command.max_effort = position, effort
        else:
            goal.command = JointState(position=[position], effort=[effort] if effort else [], **fields)
        wait_for(clients[kind].server_is_ready)
        sent = clients[kind].send_goal_async(goal, lambda message: feedback.append(message.feedback))
        wait_for(sent.done, "an answer to the goal")
        return sent.result(), feedback

    yield send
    for each in clients.values():
        each.destroy()


def result_of(handle):
    """Wait for the result of a goal and return its status and the result."""
    future = handle.get_result_async()
    wait_for(future.done, "the result")
    return future.result().status, future.result().result


def test_gripper_closes_on_the_block_until_contact_and_holds_it(ros, client):
    states = [ros.listen(TactileState, f"tactile/{side}_pad/state") for side in ("left", "right")]
    wait_for(lambda: all(states))
    assert not any(state[-1].contact for state in states)
    handle, feedback = client(0.044, 8.0)
    status, result = result_of(handle)
    assert status == GoalStatus.STATUS_SUCCEEDED  # the gripper may stall
    assert (result.stalled, result.reached_goal) == (True, False)
    assert result.position == pytest.approx(CLOSED, abs=2e-3)
    assert result.effort == pytest.approx(8.0, rel=0.01)
    assert len(feedback) > 10 and not any(message.reached_goal for message in feedback)
    end = stamp(states[0][-1]) + HOLDS * 1e9
    for state in states:
        state.clear()
    wait_for(lambda: all(state and stamp(state[-1]) > end for state in states), "10 s of simulation time")
    for state in states:
        assert all(message.contact for message in state)
        assert all(abs(abs(message.force[1]) - 8.0) < 0.2 for message in state)


def test_parallel_gripper_reaches_and_replaces_goals(client):
    handle, _ = client(0.01, kind=ParallelGripperCommand, name=["left"], velocity=[0.02])
    status, result = result_of(handle)
    assert (status, result.reached_goal, result.stalled) == (GoalStatus.STATUS_SUCCEEDED, True, False)
    assert list(result.state.name) == ["left", "right"]
    assert list(result.state.position) == pytest.approx([0.01, 0.01], abs=1e-3)
    slow, feedback = client(0.02, kind=ParallelGripperCommand, velocity=[0.0005])
    wait_for(lambda: len(feedback) > 1)
    canceled, _ = client(0.015, kind=ParallelGripperCommand, velocity=[0.0005])
    status, result = result_of(slow)
    assert (status, result.reached_goal, result.stalled) == (GoalStatus.STATUS_ABORTED, False, False)
    wait_for(canceled.cancel_goal_async().done, "an answer to the cancellation")
    assert result_of(canceled)[0] == GoalStatus.STATUS_CANCELED


def test_invalid_goals_are_rejected(client):
    nan = float("nan")
    assert not client(nan)[0].accepted
    assert not client(0.0, float("inf"))[0].accepted
    for fields in ({"name": ["lefd"]}, {"velocity": [nan]}, {"velocity": [0.1, 0.2]}):
        assert not client(0.01, kind=ParallelGripperCommand, **fields)[0].accepted
