"""Stop a recorder at random times and check that no message is missing in its bag.

    python tools/stalls.py gripper --minutes 10 --recorder ros2

The recorder is that of ``run --record``, or ``ros2 bag record --all`` as in docs/record.md. A second
one joins late. At random times, one of them is stopped. Exit codes: 0 for success, 1 for gaps.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from tactile_sim.bag.mcap_file import McapScan
from tactile_sim.bag.reader import decoder_of, files_of
from tactile_sim.commands.demo import free_domain
from tactile_sim.common.files import find_shipped
from tactile_sim.wire import stamp_of

PATIENCE = 120.0
"""Maximum time for a process to start or to end [s]."""
ROS2 = "ros2 bag record --all --use-sim-time --disable-keyboard-controls --storage mcap"
NODE = "import sys; from tactile_sim.ros.node import main; sys.exit(main())"
UNEVEN = "/diagnostics", "/rosout", "/parameter_events"
"""Topics without regular stamps."""


def stamps(folder: Path) -> dict[str, np.ndarray]:
    """Return the stamps [ns] of the messages of each topic that has stamps."""
    found: dict[str, list[int]] = defaultdict(list)
    kinds = {}
    for file in files_of(folder):
        for message in McapScan(file):
            name = message.channel.topic
            if name not in kinds:
                kinds[name] = decoder_of(message).kind
            if (stamp := stamp_of(kinds[name], message.data)) is not None:
                found[name].append(stamp)
    return {name: np.array(values) for name, values in found.items() if name not in UNEVEN}


def gaps(found: dict[str, np.ndarray], until: dict[str, np.ndarray]) -> int:
    """Print and return the number of gaps; a bag that ends before another one has one more."""
    total = count = 0
    for name, each in sorted(found.items()):
        steps = np.diff(np.unique(each))
        if len(steps) < 2:  # latched
            continue
        missing = int((steps > 1.5 * np.median(steps)).sum()) + int(each.max() < until[name].max())
        total, count = total + missing, count + len(each)
        if missing:
            print(f"  {name}: {len(each)} messages every {np.median(steps) / 1e6:g} ms, {missing} gaps")
    print(f"{count} messages of {len(found)} topics, {total} gaps")
    return total


def main() -> int:
    """Run the node and the recorders, and check both bags."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", help="shipped configuration")
    parser.add_argument("--minutes", type=float, default=10.0, help="wall time")
    parser.add_argument("--stall", type=float, default=0.5, help="time for which a recorder is stopped [s]")
    parser.add_argument("--recorder", choices=("ours", "ros2"), default="ours")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    random.seed(args.seed)
    os.environ["ROS_DOMAIN_ID"] = str(free_domain(os.getpid()))
    os.chdir(tempfile.mkdtemp(prefix="stalls-"))
    command = [sys.executable, "-m", "tactile_sim"]
    processes: dict[str, subprocess.Popen] = {}

    def start(name: str, *arguments: str) -> subprocess.Popen:
        with Path(f"{name}.log").open("w") as log:
            processes[name] = subprocess.Popen(arguments, stdout=log, stderr=log, start_new_session=True)
        return processes[name]

    def wait(name: str, text: str) -> None:
        end = time.monotonic() + PATIENCE
        while text not in Path(f"{name}.log").read_text():
            if time.monotonic() > end or processes[name].poll() is not None:
                sys.exit(f"{name} did not start: {Path(f'{name}.log').read_text()}")
            time.sleep(0.1)

    try:
        if args.recorder == "ours":
            node = start("node", *command, "run", args.config, "--record", "bag")
            wait("node", "steps/s")
            children = Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text().split()
            recorder = int(children[-1])
        else:
            file = str(find_shipped("config", args.config))
            arguments = ["--recorded", "qos.yaml", "--ros-args", "--params-file", file]
            node = start("node", sys.executable, "-c", NODE, *arguments)
            wait("node", "waiting until the recorder")
            given = ["--output", "bag", "--qos-profile-overrides-path", "qos.yaml"]
            recorder = start("recorder", *ROS2.split(), *given).pid
            wait("node", "steps/s")
        end = time.monotonic() + 60 * args.minutes
        join, stalls = time.monotonic() + 20 * args.minutes, 0
        print(f"{args.config}: {os.getcwd()}, load {os.getloadavg()[0]:.0f}", flush=True)
        while time.monotonic() < end and node.poll() is None:
            time.sleep(random.uniform(2.0, 20.0))
            stopped = recorder
            if time.monotonic() > join:
                if "late" not in processes:
                    start("late", *command, "record", "late")
                elif random.random() < 0.5:
                    stopped = processes["late"].pid
            os.kill(stopped, signal.SIGSTOP)
            time.sleep(args.stall)
            os.kill(stopped, signal.SIGCONT)
            stalls += 1
        print(f"{stalls} stalls, load {os.getloadavg()[0]:.0f}", flush=True)
        for name in ("late", "node", "recorder"):
            if name in processes:
                processes[name].send_signal(signal.SIGINT)
                print(f"{name}: exit code {processes[name].wait(PATIENCE)}", flush=True)
    finally:
        for process in processes.values():
            if process.poll() is None:
                process.kill()
    for name in processes:
        print(*(f"{name}: {line}" for line in Path(f"{name}.log").read_text().splitlines()[-4:]), sep="\n")
    bag, late = stamps(Path("bag")), stamps(Path("late"))
    return int(gaps(bag, late) + gaps(late, late) > 0)


if __name__ == "__main__":
    sys.exit(main())
