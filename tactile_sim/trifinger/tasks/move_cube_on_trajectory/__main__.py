"""Draw trajectories of ``move_cube_on_trajectory`` and replay logs."""

from __future__ import annotations

from tactile_sim.trifinger.tasks import command
from tactile_sim.trifinger.tasks import move_cube_on_trajectory as task
from tactile_sim.trifinger.tasks.move_cube_on_trajectory.replay_action_log import (
    add_arguments,
    replay_action_log,
)


def _replay(arguments) -> str:
    return f"accumulated reward: {replay_action_log(arguments.logfile, arguments.trajectory)}"


def _add_commands(subparsers: command.Subparsers) -> None:
    sample = subparsers.add_parser("sample_goal", help="draw a trajectory and print it as JSON")
    sample.set_defaults(run=lambda _: task.trajectory_to_json(task.sample_goal()))
    command.add_goal_from_config(subparsers, task.json_goal_from_config)
    again = subparsers.add_parser("replay_one", help="replay a log and print its reward")
    add_arguments(again)
    again.set_defaults(run=_replay)


if __name__ == "__main__":
    command.run("move_cube_on_trajectory", _add_commands)
