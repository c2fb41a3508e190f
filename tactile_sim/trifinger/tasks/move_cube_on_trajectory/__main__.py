"""Draws trajectories of ``move_cube_on_trajectory`` and runs logs again."""

from __future__ import annotations

import json

from tactile_sim.trifinger.tasks import command
from tactile_sim.trifinger.tasks import move_cube_on_trajectory as task


def _replay(arguments) -> str:
    from tactile_sim.trifinger.tasks.move_cube_on_trajectory.replay_action_log import replay_action_log

    return f"accumulated reward: {replay_action_log(arguments.logfile, arguments.trajectory)}"


def _add_commands(subparsers: command.Subparsers) -> None:
    sample = subparsers.add_parser("sample_goal", help="draw a trajectory and print it as JSON")
    sample.set_defaults(run=lambda _: task.trajectory_to_json(task.sample_goal()))
    command.add_goal_from_config(subparsers, task.json_goal_from_config)
    again = subparsers.add_parser("replay_one", help="run a log again and print its reward")
    again.add_argument("--logfile", "-l", required=True)
    again.add_argument("--trajectory", "-t", type=json.loads, required=True, metavar="JSON")
    again.set_defaults(run=_replay)


if __name__ == "__main__":
    command.run("move_cube_on_trajectory", _add_commands)
