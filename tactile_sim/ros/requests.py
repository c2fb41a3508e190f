"""What users ask of the node by other ways than ROS, done so that ROS hears of it."""

from __future__ import annotations

from concurrent.futures import Future

from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter

from tactile_sim.errors import CommandError
from tactile_sim.loop.requests import Requests
from tactile_sim.loop.runner import Runner


class NodeRequests(Requests):
    """What is a parameter of the node is set as one."""

    def __init__(self, runner: Runner, node: Node, executor: Executor):
        """executor: in whose thread parameters are set, as those are that come by ROS."""
        super().__init__(runner)
        self._node = node
        self._executor = executor

    def set_real_time_factor(self, factor: float) -> Future:
        """Sets the parameter ``real_time_factor``."""
        answer: Future = Future()

        def work() -> None:
            (result,) = self._node.set_parameters([Parameter("real_time_factor", value=factor)])
            if result.successful:
                answer.set_result(f"real-time factor {factor:g}")
            else:
                answer.set_exception(CommandError(result.reason))

        self._executor.create_task(work)
        return answer
