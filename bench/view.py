"""Measure how much the web view slows down ``infant``, and the update rate of 20,000 taxels in the browser.

Run as ``python bench/view.py``. The browser is a headless Chromium with software rendering; parts that need
it are skipped if Chromium is not installed. The cost is the CPU time of the physics thread while the
simulation runs in real time. This thread has a core to itself, since software rendering occupies all others.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable

import msgspec
import numpy as np
import zstandard
from rich.console import Console
from rich.table import Table

from tactile_sim import config
from tactile_sim.figures.colors import taxel_scale
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.runner import Output, Runner
from tactile_sim.view.address import Endpoint
from tactile_sim.view.publisher import ViewPublisher
from tactile_sim.view.skin_layer import DOTS_NODE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ("--no-sandbox", "--headless=new", "--use-angle=swiftshader", "--ignore-gpu-blocklist")
SECONDS = 4.0
ROUNDS = 8
TAXELS = 20_000
FINER = 1.02  # a margin, so that the skin has at least TAXELS taxels
SETTLE = 5000.0  # time for the scene to load [ms]
PATIENCE = 120_000.0  # maximum time for the page to appear on a busy machine [ms]
CORES = sorted(os.sched_getaffinity(0))
OWN, OTHERS = set(CORES[:1]), set(CORES[1:] or CORES)


class Browser:
    """A Chromium that displays a view; the process that controls it counts the messages received."""

    def __init__(self, address: str):
        self._process = subprocess.Popen(
            [sys.executable, __file__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._process.stdout.readline()

    def begin(self, seconds: float) -> None:
        """Start counting messages for a duration [s]."""
        print(seconds, file=self._process.stdin, flush=True)

    def counts(self) -> dict[str, int]:
        """Return the number of color updates of each taxel cloud in that duration."""
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """Close the browser."""
        self._process.communicate()


def browse(address: str) -> None:
    """Run the browser process; each line of its input is a duration for which to count [s]."""
    from playwright.sync_api import sync_playwright

    counts: Counter[str] = Counter()

    def count(frame: bytes | str) -> None:
        if isinstance(frame, bytes):  # viser's message format
            size, packed = np.frombuffer(frame[:16], "<u8").tolist()
            unpacked = zstandard.ZstdDecompressor().decompress(frame[16 : 16 + packed], size)
            messages = msgspec.msgpack.decode(unpacked)["messages"]
            counts.update(each["name"] for each in messages if "colors" in each.get("updates", ()))

    with sync_playwright() as playwright:
        window = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = window.new_page(viewport={"width": 1200, "height": 800})
        page.on("websocket", lambda socket: socket.on("framereceived", count))
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.wait_for_selector("canvas")
        page.wait_for_timeout(SETTLE)
        print("there", flush=True)
        for line in sys.stdin:
            counts.clear()
            page.wait_for_timeout(1e3 * float(line))
            print(json.dumps(counts), flush=True)
        window.close()


def cpu_of_steps(runner: Runner, watch: Callable[[], None]) -> float:
    """Return the CPU time [s] that this thread takes per step, over `SECONDS` of the built-in motion."""
    simulation = runner.simulation
    simulation.reset()
    runner.watch = watch
    os.sched_setaffinity(0, OWN)
    first, began = simulation.step_count, time.thread_time()
    runner.run(simulation.time + SECONDS)
    spent = time.thread_time() - began
    os.sched_setaffinity(0, OTHERS)
    return spent / (simulation.step_count - first)


def physics(console: Console) -> None:
    """Compare the cost of steps without a view, with a view, and with a view open in a browser."""
    simulation = Simulation(config.load("infant"))
    view = ViewPublisher.open(simulation, Endpoint(port=0))
    runner = Runner(simulation, Output())
    watches = (runner.watch, view.poll)  # without and with the view
    view.serve(runner)
    cpu_of_steps(runner, view.poll)
    without_browser = np.array([[cpu_of_steps(runner, watch) for watch in watches] for _ in range(ROUNDS)])
    rows = [("a view without browsers", without_browser, 1.02)]
    if CHROMIUM:
        browser = Browser(view.url)
        with_browser = np.array([[cpu_of_steps(runner, watch) for watch in watches] for _ in range(ROUNDS)])
        browser.close()
        rows.append(("a view with one browser", with_browser, 1.1))
    view.close()

    table = Table(title=f"infant at real time, physics thread, {ROUNDS} rounds of {SECONDS:g} s")
    for column in ("", "µs per step without", "with", "ratio", "target"):
        table.add_column(column, justify="right" if column else "left")
    for name, times, target in rows:
        without, with_it = np.median(times, axis=0)
        ratio = with_it / without
        verdict = f"≤ {target:g}" if ratio <= target else f"[red]≤ {target:g}: missed"
        table.add_row(name, f"{without * 1e6:.1f}", f"{with_it * 1e6:.1f}", f"{ratio:.3f}", verdict)
    console.print(table)


def updates(console: Console) -> None:
    """Count the updates that a browser receives from a fine skin whose readings all change in each frame."""
    os.sched_setaffinity(0, CORES)
    settings = config.load("infant")
    simulation = Simulation(settings)
    finer = np.sqrt(TAXELS / len(simulation.skin.positions)) * FINER
    scales = {body: spacing / finer for body, spacing in settings.skin.scales.items()}
    noise = {"*": {"noise": {"std": taxel_scale(simulation.engine.model)}}}
    skin = dataclasses.replace(settings.skin, scales=scales, sensor=noise)
    simulation = Simulation(dataclasses.replace(settings, skin=skin))
    view = ViewPublisher.open(simulation, Endpoint(port=0))
    runner = Runner(simulation, Output())
    view.serve(runner)
    thread = threading.Thread(target=runner.run)
    thread.start()
    browser = Browser(view.url)
    first = simulation.time
    browser.begin(SECONDS)
    rates = [came / SECONDS for cloud, came in browser.counts().items() if cloud.endswith(DOTS_NODE)]
    factor = (simulation.time - first) / SECONDS
    browser.close()
    runner.stop()
    thread.join()
    view.close()
    verdict = "" if min(rates) >= 20.0 else ", [red]20 wanted: missed"
    console.print(
        f"{len(simulation.skin.positions)} changing taxels, {factor:.2f} × real time: the browser received "
        f"the colors of each of {len(rates)} bodies at {min(rates):.1f} Hz or more{verdict}"
    )


def main() -> None:
    """Measure and print all results."""
    console = Console()
    os.sched_setaffinity(0, OTHERS)  # all child processes inherit this
    physics(console)
    if CHROMIUM:
        updates(console)
    else:
        console.print("chromium is not installed: browser measurements skipped")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        browse(sys.argv[1])
    else:
        main()
