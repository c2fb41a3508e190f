"""Run a node for simulated hours and check for growing memory, lost messages and time running backwards.

Run as ``python tools/soak.py touch_cube --hours 24``. The node is paused and driven by ``~/step``. This
process subscribes to every topic and requests the next steps only after all messages of the previous steps
have arrived. Thus the simulation runs as fast as both processes allow, and every lost message is a fault even
on a busy machine. At random times, which depend only on the seed, the tool throws balls, moves bodies, sets
parameters, tares the skin and resets the scene.

Exit codes: 0 for success, 1 for faults, 2 for invalid arguments.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import statistics
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import mujoco
from rich.console import Console
from rich.table import Table
from soak_subscriber import Disturbances, Fault, Subscriber, Topic

from tactile_sim import config
from tactile_sim.commands.demo import free_domain
from tactile_sim.common.errors import TactileSimError
from tactile_sim.common.names import Names
from tactile_sim.common.processes import Child
from tactile_sim.ros.outlets import DEPTH, MAX_WAITING

MESSAGES_AT_ONCE = 8
"""Maximum number of messages that a call of ``~/step`` publishes on a topic, plus one for the last step.

They must fit into the queue of `DEPTH` messages that the node keeps for a slow subscriber.
"""
SAMPLE_EVERY, MOST_SAMPLES = 5.0, 512  # initial interval [s of wall time], maximum number of samples
LOG_EVERY = 60.0  # interval between two progress lines [s of wall time]
WARM_UP = 0.1  # fraction of the samples that are not compared
MEMORY = "anonymous [KiB]"
TOLERANCE = {MEMORY: 1024.0, "descriptors": 0.0, "threads": 0.0, "/dev/shm [KiB]": 1024.0}
"""Allowed growth from the first to the last third of the samples, by quantity.

The node may also grow by its message buffers, see `BUFFERED`. RSS and PSS are only reported, because they
include file pages, which the system can drop and read again at any time.
"""
BUFFERED = (DEPTH + 1) + (MAX_WAITING + 2)
"""Maximum number of messages of a topic that the node keeps in memory, except for latched topics.

Fast DDS keeps a buffer for each message that a subscriber has not acknowledged, up to the queue depth, and
one for the message that is being published. A buffer is allocated when it is first needed, grows to the
largest message that it has ever held, and is never freed. The node's own queue holds up to `MAX_WAITING` + 1
messages of a topic in addition to the one that is being published.
"""

Row = dict[str, float]
"""Simulated time [s] and resources used by a process."""
SharedFile = tuple[str, int]
"""Path and inode of a file in shared memory."""
SEGMENT = re.compile(r"/fastrtps_[0-9a-f]{16}$")
"""Pattern for the shared memory files of a single DDS participant. It does not match port files."""


class Usage:
    """Samples the resources that processes use."""

    def __init__(self) -> None:
        self._segments: set[SharedFile] = set()
        self._interval, self._due = SAMPLE_EVERY, 0.0
        self.rows: dict[str, list[Row]] = {}

    def look(self, simulated: float, processes: dict[str, int]) -> None:
        """Take a sample if it is due.

        Args:
            simulated: Simulated time [s].
            processes: Ids of the processes to measure, keyed by name.
        """
        now = time.monotonic()
        if now < self._due:
            return
        if any(len(rows) == MOST_SAMPLES for rows in self.rows.values()):
            # The samples must not make this process grow.
            self.rows = {name: rows[::2] for name, rows in self.rows.items()}
            self._interval *= 2.0
        self._due = now + self._interval
        for name, pid in processes.items():
            files = shared_files(pid)
            self._segments |= {file for file in files if SEGMENT.search(file[0])}
            self.rows.setdefault(name, []).append({"time": simulated, **sample(pid, files)})

    def left(self) -> list[str]:
        """Return the shared memory segments that were not removed when their processes ended."""
        return sorted(path for path, inode in self._segments if blocks((path, inode)))


def steps_at_once(rates: Iterable[float], timestep: float) -> int:
    """Return the most steps that publish at most `MESSAGES_AT_ONCE` messages on any topic.

    Args:
        rates: Rates of the streams [Hz]. The clock and the transforms are published with each of them.
        timestep: Duration of a step [s].
    """
    different = set(rates)
    return max(
        steps
        for steps in range(1, 1000)
        if min(steps, sum(math.ceil(steps * rate * timestep) for rate in different)) <= MESSAGES_AT_ONCE
    )


def sample(pid: int, shared: set[SharedFile]) -> Row:
    """Return the resources that a process currently uses."""
    folder = Path(f"/proc/{pid}")
    rollup = (folder / "smaps_rollup").read_text()
    memory = {name: float(size) for name, size in re.findall(r"^(\w+): +(\d+) kB", rollup, re.M)}
    return {
        "RSS [KiB]": memory["Rss"],
        "PSS [KiB]": memory["Pss"],
        "anonymous [KiB]": memory["Anonymous"],
        "descriptors": len(os.listdir(folder / "fd")),
        "threads": len(os.listdir(folder / "task")),
        "/dev/shm [KiB]": sum(map(blocks, shared)) / 2.0,
    }


def shared_files(pid: int) -> set[SharedFile]:
    """Return the files in /dev/shm that a process has mapped, except those of ROS tracing."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    return {(path, int(inode)) for inode, path in re.findall(r"(\d+) +(/dev/shm/(?!lttng)\S+)", maps)}


def blocks(file: SharedFile) -> int:
    """Return the size of a file in blocks of 512 bytes, or 0 if it no longer exists."""
    try:
        status = os.stat(file[0])
    except FileNotFoundError:
        return 0
    return status.st_blocks if status.st_ino == file[1] else 0


def main() -> int:
    """Run the test, print the tables and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("config", help="shipped name or path of a parameter file")
    parser.add_argument("--hours", type=float, default=24.0, help="simulated time (default %(default)s)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end after this much wall time")
    parser.add_argument("--seed", type=int, default=0, help="of the disturbances and the simulation")
    args = parser.parse_args()
    try:
        settings = config.load(args.config)
        _, model = config.configured_scene(settings)
    except TactileSimError as error:
        print(f"soak: error: {error}", file=sys.stderr)
        return 2
    names = Names(model)
    free = model.jnt_bodyid[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
    steps = steps_at_once(vars(settings.rates).values(), model.opt.timestep)
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", str(free_domain(os.getpid())))
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    parameters = ["-p", "start_paused:=true", "-p", f"seed:={args.seed}"]
    usage, faults, reached = Usage(), [], 0.0
    with Child("run", args.config, "--ros-args", *parameters) as node:
        subscriber = Subscriber(node)
        disturbances = Disturbances(subscriber, args.seed, [names.bodies[body] for body in free])
        processes = {"node": node.pid, "subscriber": os.getpid()}
        began = time.monotonic()
        try:
            subscriber.subscribe()
            subscriber.step(1)
            began = due = time.monotonic()
            while reached < 3600.0 * args.hours and not stopping.is_set():
                reached = subscriber.step(steps) * 1e-9
                disturbances.act(reached)
                usage.look(reached, processes)
                if (now := time.monotonic()) >= due:
                    due = now + LOG_EVERY
                    print(_progress(reached, now - began, subscriber, usage), flush=True)
                if now - began > 60.0 * args.minutes:
                    break
            if subscriber.latched_again() != subscriber.latched():
                faults.append("a latched message differs from the one at the start")
            faults += subscriber.faults
        except Fault as error:
            faults.append(str(error))
        wall = time.monotonic() - began
        subscriber.close()
    if node.returncode != 0:
        faults.append(f"the node ended with exit code {node.returncode}: {' '.join(node.last_lines[-3:])}")
    if left := usage.left():
        faults.append(f"left in /dev/shm: {', '.join(left)}")
    print(f"{args.config}, seed {args.seed}: {reached / 3600:.2f} simulated hours in {wall / 60:.1f} minutes")
    faults += _report(subscriber, usage)
    for fault in faults:
        print(f"soak: fault: {fault}", file=sys.stderr)
    return 1 if faults else 0


def _progress(reached: float, wall: float, subscriber: Subscriber, usage: Usage) -> str:
    messages = sum(topic.count for topic in subscriber.topics.values())
    lost = sum(topic.lost for topic in subscriber.topics.values())
    used = (
        f"{name}: " + ", ".join(f"{key} {value:.0f}" for key, value in rows[-1].items() if key != "time")
        for name, rows in usage.rows.items()
    )
    return f"{reached:.1f} s simulated in {wall:.0f} s; {messages} messages, {lost} lost; {'; '.join(used)}"


def _report(subscriber: Subscriber, usage: Usage) -> list[str]:
    """Print the tables; return the faults found in them."""
    console = Console(width=110)
    console.print(
        f"service calls: {dict(subscriber.calls)}; refused: {dict(+subscriber.refused)}; "
        f"longest pause of this process: {subscriber.longest_pause:.1f} s"
    )
    faults = []
    topics = Table(title="topics")
    for column in ("topic", "messages", "lost", "stamps backwards", "layouts"):
        topics.add_column(column, justify="left" if column == "topic" else "right")
    for name, topic in sorted(subscriber.topics.items()):
        layouts = len(topic.contents if topic.latched else topic.layout_ids)
        topics.add_row(name, str(topic.count), str(topic.lost), str(topic.backwards), str(layouts or ""))
        if topic.lost or topic.backwards or layouts > 1:
            faults.append(f"{name}: {topic.lost} lost, {topic.backwards} stamps backwards, {layouts} layouts")
    console.print(topics)
    buffers = {"node": message_buffers(subscriber.topics.values())}
    for process, rows in usage.rows.items():
        table = Table(title=process)
        for column in ("", "first third", "last third", "a simulated hour", "may grow"):
            table.add_column(column, justify="right" if column else "left")
        for name, first, last, slope, bound in judge(rows, buffers.get(process, 0.0)):
            table.add_row(name, f"{first:.0f}", f"{last:.0f}", f"{slope:+.2f}", f"{bound:.0f}")
            if last - first > bound:
                faults.append(f"{process}: {name} grew from {first:.0f} to {last:.0f}")
        console.print(table)
    return faults


def message_buffers(topics: Iterable[Topic]) -> float:
    """Return the maximum size of the node's message buffers [KiB]; see `BUFFERED`."""
    return BUFFERED * sum(topic.largest for topic in topics if not topic.latched) / 1024.0


def judge(rows: list[Row], buffers: float = 0.0) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield, for each quantity, the figures that show whether it grows.

    Args:
        rows: Samples of a process.
        buffers: Maximum size of its message buffers [KiB].

    Yields:
        Name, largest value in the first and in the last third, slope per simulated hour, and allowed growth.
    """
    settled = rows[int(WARM_UP * len(rows)) :]
    if len(settled) < 2:
        return
    third = max(1, len(settled) // 3)
    hours = [row["time"] / 3600.0 for row in settled]
    for name in [name for name in settled[0] if name != "time"]:
        values = [row[name] for row in settled]
        slope = statistics.linear_regression(hours, values).slope
        bound = TOLERANCE.get(name, float("inf")) + (buffers if name == MEMORY else 0.0)
        yield name, max(values[:third]), max(values[-third:]), slope, bound


if __name__ == "__main__":
    sys.exit(main())
