"""Test the action ``~/follow_joint_trajectory`` of a node in a second process."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")
pytest.importorskip("control_msgs", reason="control_msgs is not installed: apt has it for a ROS installation")

from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTolerance  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from support.ros import wait_for  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

Result = FollowJointTrajectory.Result


@pytest.fixture(params=[{}])
def send(ros, parameters, request):
    """Run the node with a driven slider and return a function that sends a goal.

    The function returns the goal's handle and a list that collects its feedback.
    """
    ros.run(**parameters, control={"rail": {"mode": "position"}}, **request.param)
    client = ActionClient(ros.node, FollowJointTrajectory, "/tactile_sim/follow_joint_trajectory")
    wait_for(client.server_is_ready)

    def send(*points, joint="rail", path=(), goal=(), patience=0.0):
        trajectory = JointTrajectory(joint_names=[joint], points=[
            JointTrajectoryPoint(positions=[position], time_from_start=duration(seconds))
            for seconds, position in points
        ])  # fmt: skip
        feedback = []
        request = FollowJointTrajectory.Goal(
            trajectory=trajectory,
            path_tolerance=[JointTolerance(name="rail", position=value) for value in path],
            goal_tolerance=[JointTolerance(name="rail", position=value) for value in goal],
            goal_time_tolerance=duration(patience),
        )
        sent = client.send_goal_async(request, lambda message: feedback.append(message.feedback))
        wait_for(sent.done, "an answer to the goal")
        return sent.result(), feedback

    yield send
    client.destroy()


def duration(seconds):
    return Duration(sec=int(seconds), nanosec=round(seconds % 1 * 1e9))


def result_of(handle):
    """Wait for the result of a goal and return its status and error code."""
    future = handle.get_result_async()
    wait_for(future.done, "the result")
    return future.result().status, future.result().result.error_code


def test_goal_is_reached_with_feedback(ros, send):
    joints = ros.listen(JointState, "joint_states")
    handle, feedback = send((0.5, 0.2), (1.0, 0.3), path=[0.05], goal=[0.001], patience=2.0)
    assert result_of(handle) == (GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL)
    assert len(feedback) >= 15
    for message in feedback:
        assert message.joint_names == ["rail"]
        error = message.desired.positions[0] - message.actual.positions[0]
        assert message.error.positions[0] == pytest.approx(error)
        assert abs(error) < 0.05
    wait_for(lambda: joints and abs(joints[-1].position[1] - 0.3) < 0.001, "the goal position")


def test_tolerances_preemption_and_cancellation_end_goals(ros, send):
    joints = ros.listen(JointState, "joint_states")
    leaves, _ = send((0.001, 0.5), (1.0, 0.5), path=[0.01])
    assert result_of(leaves) == (GoalStatus.STATUS_ABORTED, Result.PATH_TOLERANCE_VIOLATED)
    misses, _ = send((0.001, -0.5), goal=[1e-12], patience=0.01)
    assert result_of(misses) == (GoalStatus.STATUS_ABORTED, Result.GOAL_TOLERANCE_VIOLATED)
    first, _ = send((60.0, 1.0))
    second, feedback = send((60.0, -1.0))
    assert result_of(first) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    wait_for(lambda: len(feedback) > 3)
    canceling = second.cancel_goal_async()
    wait_for(canceling.done, "an answer to the cancellation")
    assert len(canceling.result().goals_canceling) == 1
    assert result_of(second)[0] == GoalStatus.STATUS_CANCELED
    joints.clear()
    wait_for(lambda: len(joints) > 20 and abs(joints[-1].velocity[1]) < 1e-3, "the stop")
    assert -0.7 < joints[-1].position[1] < 0.7


@pytest.mark.parametrize("send", [{"lockstep": True}, {"start_paused": True}], indirect=True)
def test_goal_can_be_canceled_while_time_is_stopped(ros, send):
    handle, _ = send((60.0, 1.0))
    wait_for(handle.cancel_goal_async().done, "an answer to the cancellation")
    assert result_of(handle)[0] == GoalStatus.STATUS_CANCELED
    other, _ = send((0.01, 0.0))
    ros.step(20)
    assert result_of(other) == (GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL)


@pytest.mark.parametrize(
    "goal",
    [
        {"points": [(1.0, 0.1)], "joint": "rial"},
        {"points": [(1.0, float("nan"))]},
        {"points": []},
        {"points": [(1.0, 0.1)], "joint": "hinge", "goal": [0.1]},
    ],
)
def test_invalid_goals_are_rejected(send, goal):
    points = goal.pop("points")
    handle, _ = send(*points, **goal)
    assert not handle.accepted
