"""Draw goals of tasks and replay logs: ``python -m tactile_sim.trifinger TASK COMMAND``."""

from __future__ import annotations

import argparse
import json
import sys

from tactile_sim.common.errors import TactileSimError
from tactile_sim.trifinger.tasks import (
    DIFFICULTIES,
    Pose,
    move_cube,
    move_cube_on_trajectory,
    rearrange_dice,
    to_json,
)
from tactile_sim.trifinger.trifinger_platform import replay


def main() -> None:
    """Run a command and print its result. Invalid arguments or files end the program with exit code 2."""
    arguments = _parser().parse_args()
    try:
        print(arguments.run(arguments))
    except (TactileSimError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def _parser() -> argparse.ArgumentParser:
    """Return a parser with a subcommand for each task, and in it one for each of the task's commands.

    Each command sets ``run``, a function that accepts the parsed arguments and returns text.
    """
    parser = argparse.ArgumentParser(prog="python -m tactile_sim.trifinger")
    tasks = parser.add_subparsers(metavar="TASK", required=True)
    commands = {}
    for name, task in (
        ("move_cube", move_cube),
        ("move_cube_on_trajectory", move_cube_on_trajectory),
        ("rearrange_dice", rearrange_dice),
    ):
        commands[name] = tasks.add_parser(name).add_subparsers(metavar="COMMAND", required=True)
        read = commands[name].add_parser("goal_from_config", help="print the goal of a file, or draw one")
        read.add_argument("goal_config_file", help="JSON")
        read.set_defaults(run=lambda given, task=task: task.json_goal_from_config(given.goal_config_file))

    draw = commands["move_cube"].add_parser("sample_goal", help="draw a goal and print it as JSON")
    draw.add_argument("--difficulty", type=int, choices=DIFFICULTIES, default=4)
    draw.set_defaults(run=lambda given: move_cube.sample_goal(given.difficulty).to_json())
    again = commands["move_cube"].add_parser("replay_one", help="replay a log and print its reward")
    again.add_argument("--logfile", "-l", required=True)
    again.add_argument("--difficulty", "-d", type=int, choices=DIFFICULTIES, required=True)
    again.add_argument("--initial-pose", "-i", required=True, metavar="JSON")
    again.add_argument("--goal-pose", "-g", required=True, metavar="JSON")
    again.set_defaults(run=_replay_move_cube)

    draw = commands["move_cube_on_trajectory"].add_parser("sample_goal", help="draw a trajectory as JSON")
    draw.set_defaults(run=lambda _: to_json(move_cube_on_trajectory.sample_goal()))
    again = commands["move_cube_on_trajectory"].add_parser(
        "replay_one", help="replay a log and print its reward"
    )
    again.add_argument("--logfile", "-l", required=True)
    again.add_argument("--trajectory", "-t", type=json.loads, required=True, metavar="JSON")
    again.set_defaults(run=_replay_trajectory)

    dice = commands["rearrange_dice"]
    draw = dice.add_parser("sample_goal", help="draw a goal and print it as JSON")
    draw.add_argument("--show", action="store_true", help="show it in a window")
    draw.set_defaults(run=_sample_dice)
    template = dice.add_parser("create_pattern_template", help="print a pattern without dice")
    template.set_defaults(run=lambda _: rearrange_dice.create_empty_pattern())
    pattern = dice.add_parser("parse_goal_pattern", help="print the goal of a pattern as JSON")
    pattern.add_argument(
        "infile", type=argparse.FileType("r"), nargs="?", default="-", help="pattern file; default: stdin"
    )
    pattern.set_defaults(run=lambda given: to_json(rearrange_dice.parse_pattern(given.infile)))
    return parser


def _replay_move_cube(given: argparse.Namespace) -> str:
    goal, start = Pose.from_json(given.goal_pose), Pose.from_json(given.initial_pose)
    reward = replay(
        given.logfile,
        start,
        move_cube.EPISODE_LENGTH,
        lambda _, pose: move_cube.evaluate_state(goal, pose, given.difficulty),
    )
    return f"accumulated reward: {reward}"


def _replay_trajectory(given: argparse.Namespace) -> str:
    task = move_cube_on_trajectory
    reward = replay(
        given.logfile,
        Pose(task.INITIAL_CUBE_POSITION),
        task.EPISODE_LENGTH,
        lambda t, pose: task.evaluate_state(given.trajectory, t, pose.position),
    )
    return f"accumulated reward: {reward}"


def _sample_dice(given: argparse.Namespace) -> str:
    goal = rearrange_dice.sample_goal()
    if given.show:
        rearrange_dice.visualize_2d(goal)
    return to_json(goal)


if __name__ == "__main__":
    main()
