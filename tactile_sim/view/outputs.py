"""Panel buttons that record a bag, save an image, and create films and replays."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from threading import Lock, Thread
from time import monotonic

from viser import ClientHandle, GuiButtonHandle, GuiEvent, GuiHtmlHandle, ViserServer

from tactile_sim.bag.atomic_write import beside, unused
from tactile_sim.bag.writer import BagStatus
from tactile_sim.common.errors import BagError, TactileSimError
from tactile_sim.common.processes import Child
from tactile_sim.view.content import Controls, ViewScene

FILM, REPLAY = "film", "replay"
OPTIONS = {FILM: ("--video", ".mp4"), REPLAY: ("--html", ".html")}
"""Option of ``tactile_sim plot`` and extension of the output file, by kind of export."""
NICENESS = 5
"""Nice value of the process. Its low priority keeps it from slowing down the simulation and the view."""
POLL_INTERVAL = 0.2
"""Wall time between two reports of the progress [s]."""


def export(bag: Path, kind: str, folder: Path, on_progress: Callable[[str], None]) -> Path:
    """Create a film or a replay of a bag and return its path.

    Raises:
        BagError: The file cannot be created.
    """
    option, ending = OPTIONS[kind]
    out = unused(folder / beside(bag, ending).name)
    with Child("plot", str(bag.absolute()), option, str(out), "--progress") as child:
        os.setpriority(os.PRIO_PROCESS, child.pid, NICENESS)
        while child.returncode is None:
            time.sleep(POLL_INTERVAL)
            lines = [line for line in child.last_lines if re.match(r"\d+ % ", line)]
            on_progress(lines[-1] if lines else "starting")
        if child.returncode:
            last = (child.last_lines or [f"exit code {child.returncode}"])[-1]
            raise BagError(last.removeprefix("tactile_sim: error: "))
    return out


MAX_DOWNLOAD = 200 << 20
"""Maximum size of files that are sent to the browser [bytes]. Larger files are only saved on this machine."""
DOUBLE_CLICK = 0.5
"""Time after a click on *Record* in which further clicks are ignored, as part of a double click [s]."""
STATUS_ORDER, FOLDER_ORDER = -38.5, -34.0
"""Positions in the panel: the status is below the buttons, the folder among the other folders."""
HEADING = '<div style="padding: 0 1em 0.4em 1em; font-size: 0.8em">of the last recording:</div>'
WORK, DONE, FAULT = "#ff8787", "#8ce99a", "#ff6b6b"
"""Colors of a status line while work is in progress, after success and after a failure."""


class Outputs:
    """Adds a folder with buttons that record and save, and two status lines outside the folder.

    The status lines stay visible when the folder is closed.

    Films and replays show the last recorded bag, or the bag that the view plays. They are stored in the
    scene's ``output_folder`` and sent to the browser in which the button was pressed.
    """

    def __init__(self, server: ViserServer, scene: ViewScene, controls: Controls | None):
        self._scene, self._controls = scene, controls
        self._bag = scene.bag
        self._recording = False
        self._clicked = -DOUBLE_CLICK
        """Time of the last click on *Record* that was not ignored [s]."""
        self._busy = Lock()
        """Held while a film or replay is being created."""
        self._made: dict[tuple[str, str], Path] = {}
        """Films and replays that already exist, keyed by bag and kind."""
        gui = server.gui
        self._recording_status = gui.add_html("", visible=False, order=STATUS_ORDER)
        self._export_status = gui.add_html("", visible=False, order=STATUS_ORDER)
        self._record: GuiButtonHandle | None = None
        self._exports: list[GuiButtonHandle] = []
        with gui.add_folder("Record and save", expand_by_default=False, order=FOLDER_ORDER):
            if controls and scene.output_folder:
                self._record = gui.add_button("Record", color="red", hint="Records all topics to a bag.")
                self._record.on_click(lambda _: self._on_record(controls))
            gui.add_button("Image (PNG)", hint="Saves the scene as this browser shows it, with the legend.")
            if scene.output_folder and not scene.bag:
                gui.add_html(HEADING)
            if scene.output_folder:
                what = "this bag" if scene.bag else "the last recording"
                for kind, label in ((FILM, "Film (MP4)"), (REPLAY, "Replay (HTML)")):
                    button = gui.add_button(label, disabled=not scene.bag, hint=f"Makes a {kind} of {what}.")
                    button.on_click(partial(self._on_export, kind))
                    self._exports.append(button)

    def show_recording(self, status: BagStatus) -> None:
        """Show the status of a recording."""
        self._set_recording(status.active)
        size = f"{status.duration:.1f} s, {status.size / 1e6:.1f} MB"
        if status.fault:
            text, color = f"recording failed: {status.fault}", FAULT
        elif status.active and not status.size:
            text, color = "preparing to record", WORK
        elif status.active:
            text, color = f"\u25cf recording {size}", WORK
        else:
            text, color = f"recorded {size}: {status.bag}", DONE
        _show(self._recording_status, text, color)
        if not status.active and status.bag:
            self._bag = status.bag
        for button in self._exports:
            button.disabled = status.active or not self._bag or self._busy.locked()

    def _on_record(self, controls: Controls) -> None:
        if monotonic() - self._clicked >= DOUBLE_CLICK:
            self._clicked = monotonic()
            self._set_recording(not self._recording)  # the first recording prepares for seconds
            controls.ask("record", self._recording)

    def _set_recording(self, recording: bool) -> None:
        self._recording = recording
        if self._record:
            self._record.label = "Stop recording" if recording else "Record"

    def _on_export(self, kind: str, event: GuiEvent) -> None:
        if event.client and self._bag and self._busy.acquire(blocking=False):
            Thread(target=self._export, args=(kind, self._bag, event.client), daemon=True).start()

    def _export(self, kind: str, bag: str, client: ClientHandle) -> None:
        """Create the film or replay unless it exists, and send it to a browser."""
        for button in self._exports:
            button.disabled = True
        try:
            path = self._made.get((bag, kind))
            if path is None or not path.exists():
                path = export(
                    Path(bag),
                    kind,
                    Path(self._scene.output_folder),
                    lambda line: _show(self._export_status, f"{kind}: {line}", WORK),
                )
                self._made[bag, kind] = path
            size = path.stat().st_size
            _show(self._export_status, f"{kind} of {size / 1e6:.1f} MB: {path}", DONE)
            if size <= MAX_DOWNLOAD:
                client.send_file_download(path.name, path.read_bytes(), save_immediately=True)
        except (TactileSimError, OSError) as error:
            _show(self._export_status, f"{kind}: {error}", FAULT)
        finally:
            self._busy.release()
            for button in self._exports:
                button.disabled = self._recording


def _show(line: GuiHtmlHandle, text: str, color: str) -> None:
    """Show a text in a status line of the panel."""
    style = f"padding: 0 1em 0.4em 1em; font-size: 0.9em; overflow-wrap: anywhere; color: {color}"
    line.content = f'<div style="{style}">{escape(text)}</div>'
    line.visible = True
