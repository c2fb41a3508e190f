"""Draw goals of ``move_cube`` and replay logs."""

from __future__ import annotations

from tactile_sim.trifinger.tasks import command, move_cube
from tactile_sim.trifinger.tasks.goal_space import DIFFICULTIES
from tactile_sim.trifinger.tasks.move_cube.replay_action_log import add_arguments, replay_action_log


def _replay(arguments) -> str:
    reward = replay_action_log(
        arguments.logfile, arguments.difficulty, arguments.initial_pose, arguments.goal_pose
    )
    return f"accumulated reward: {reward}"


def _add_commands(subparsers: command.Subparsers) -> None:
    sample = subparsers.add_parser("sample_goal", help="draw a goal and print it as JSON")
    sample.add_argument("--difficulty", type=int, choices=DIFFICULTIES, default=4)
    sample.set_defaults(run=lambda arguments: move_cube.sample_goal(arguments.difficulty).to_json())
    command.add_goal_from_config(subparsers, move_cube.json_goal_from_config)
    again = subparsers.add_parser("replay_one", help="replay a log and print its reward")
    add_arguments(again)
    again.set_defaults(run=_replay)


if __name__ == "__main__":
    command.run("move_cube", _add_commands)
