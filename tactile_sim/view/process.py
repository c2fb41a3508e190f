"""The process of a view, which shows the frames from the shared memory in browsers."""

from __future__ import annotations

import dataclasses
import os
import pickle
import signal
import sys
import time
from collections import deque
from typing import Any

from tactile_sim.common.processes import prepare

if __name__ == "__main__":
    prepare()  # before the slow imports, because it reduces garbage collection

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.bag.writer import BagStatus
from tactile_sim.common.errors import TactileSimError
from tactile_sim.common.frames import to_xyzw
from tactile_sim.common.processes import Connection
from tactile_sim.config import Settings
from tactile_sim.config.settings import switches, with_switches
from tactile_sim.control.user_forces import Press
from tactile_sim.engines import Contacts
from tactile_sim.figures.arrows import force_arrows
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.simulation.taxel_forces import TaxelForces
from tactile_sim.view.color_scale import ColorScale
from tactile_sim.view.content import ViewFrame, ViewScene
from tactile_sim.view.rendering import CameraViews, ImageRenderer
from tactile_sim.view.shared_frame import SharedFrame, update_record
from tactile_sim.view.viewer import Viewer


def _press(record: np.ndarray) -> Press | None:
    """Return the `Press` in a record, or None if no user presses on a body."""
    force = record["press_force"]
    if not force.any():
        return None
    return Press(int(record["press_body"]), int(record["press_geom"]), record["press_point"], force, 0)


class Replica:
    """Computes poses, contacts, readings and feelers from a state to save time in the original simulation.

    It cannot compute readings that depend on earlier states. The original simulation sends these readings.
    """

    def __init__(self, settings: Settings):
        self._settings = settings
        self.simulation = Simulation(settings)
        self._forces = TaxelForces(self.simulation)

    def complete(self, record: np.ndarray) -> None:
        """Compute the fields of a record that depend only on its state."""
        simulation = self.simulation
        engine = simulation.engine
        engine.set_state(record["state"])
        simulation.step_count, simulation.steps_since_reset = int(record["step"]), int(record["taken"])
        simulation.interaction.hands.press = _press(record)
        self._update_settings(record)
        snapshot = simulation.snapshot()
        if not record["has_readings"]:
            update_record(record, readings=self._readings(record, snapshot), valid=snapshot.valid)
        update_record(
            record,
            pad_readings=self._pad_readings(record, snapshot),
            positions=engine.body_positions,
            quaternions=engine.body_quaternions,
            unit=(simulation.functions.unit or "N").encode(),
            wrenches=snapshot.wrenches,
            contacts=snapshot.contacts,
            feelers=snapshot.feelers,
            controls=engine.ctrl,
        )

    def _pad_readings(self, record: np.ndarray, snapshot: Snapshot) -> np.ndarray:
        """Return what each pad reads (s,), as in `ViewFrame.pad_readings`."""
        skin, unit = self.simulation.skin, self.simulation.functions.unit
        channels = int(record["channels"])
        readings = record["readings"][: channels * len(skin.positions)].reshape(-1, channels)
        parts = [slice(pad.start, pad.stop) for pad in skin.pads]
        if unit not in ("", "N"):
            magnitudes = np.linalg.norm(readings, axis=1)
            return np.array([magnitudes[part].max(initial=0.0) for part in parts])
        # Pads with different units are shown as forces.
        forces = self._forces.on_bodies(snapshot, readings) if unit else readings
        return np.array([np.linalg.norm(forces[part].sum(axis=0)) for part in parts])

    def _update_settings(self, record: np.ndarray) -> None:
        touch, response = (record[field].item().decode() for field in ("touch_function", "response_function"))
        skin = self.simulation.settings.skin
        before = switches(skin.sensor)
        enabled = dict(zip(before, record["enabled"].tolist(), strict=True))
        if (touch, response, enabled) != (skin.touch_function, skin.response_function, before):
            sensor = with_switches(skin.sensor, enabled)
            skin = dataclasses.replace(skin, touch_function=touch, response_function=response, sensor=sensor)
            self.simulation.update(dataclasses.replace(self._settings, skin=skin))

    def _readings(self, record: np.ndarray, snapshot: Snapshot) -> np.ndarray:
        """Return a snapshot's readings (taxels, channels), computed with the original simulation's tare."""
        simulation, channels = self.simulation, self.simulation.functions.channels
        zero = record["zero"][: len(simulation.skin.positions) * channels].reshape(-1, channels)
        simulation.signal_chain.zero = zero if record["tared"] else None
        return snapshot.viewed


WINDOW = 1.0
"""Wall time over which the real-time factor is measured [s]."""


class FrameBuilder:
    """Builds frames from the records in `tactile_sim.view.shared_frame`."""

    def __init__(
        self,
        scene: ViewScene,
        renderer: ImageRenderer | None,
        replica: Replica | None,
        scale: ColorScale | None = None,
        cameras: CameraViews | None = None,
    ):
        self._cameras = cameras
        self._scale = scale or ColorScale(scene.taxel_scale)
        self._scene = scene
        self._replica = replica
        self._renderer = renderer
        self._skin_bodies = np.asarray(scene.skin_bodies, int)
        self._past: deque[tuple[float, float]] = deque()
        """Wall time and simulation time of the frames within `WINDOW` [s]."""
        self._origin = 0
        """Step count minus the steps since the last reset. `Runner.interfere` can increase it by one."""

    def build(self, record: np.ndarray) -> ViewFrame:
        """Fill in the missing fields of a record and convert it to a frame."""
        if self._replica:
            self._replica.complete(record)
        quaternions = record["quaternions"]
        rotations = Rotation.from_quat(to_xyzw(quaternions)).as_matrix()
        contacts = record["contacts"][: int(record["contact_count"])]
        arrows, kinds, sources = force_arrows(
            contacts,
            record["positions"],
            rotations,
            self._skin_bodies,
            record["wrenches"],
            float(record["force_scale"]),
        )
        channels = int(record["channels"])
        values = record["readings"][: channels * len(self._scene.taxel_positions)]
        readings = np.linalg.norm(values.reshape(-1, channels), axis=1)
        discontinuous = self._is_discontinuous(record)
        feelers = record["feelers"]
        self._scale.update(readings, float(record["time"]), float(record["taxel_scale"]))
        return ViewFrame(
            time=float(record["time"]),
            body_positions=record["positions"],
            body_quaternions=quaternions,
            readings=readings,
            valid=record["valid"].astype(bool),
            unit=bytes(record["unit"]).rstrip(b"\0").decode(),
            taxel_scale=self._scale.end,
            forces=np.einsum("bij,bj->bi", rotations[self._skin_bodies], record["wrenches"][:, :3]),
            pad_readings=record["pad_readings"],
            contact_points=contacts[:, Contacts.POSITION : Contacts.POSITION + 3],
            contact_bodies=record["contact_bodies"][: len(contacts)],
            arrows=arrows,
            arrow_kinds=kinds,
            arrow_sources=sources,
            arrow_scale=float(record["force_scale"]),
            pull_force=float(np.linalg.norm(record["pull_force"])),
            free_lengths=feelers,
            images=(
                *(self._renderer.render(readings, self._scale, feelers) if self._renderer else ()),
                *(self._cameras.images(at_once=bool(record["paused"])) if self._cameras else ()),
            ),
            controls=record["controls"],
            enabled=record["enabled"],
            real_time_factor=self._real_time_factor(float(record["time"])),
            paused=bool(record["paused"]),
            discontinuous=discontinuous,
            fault=bytes(record["fault"]).rstrip(b"\0").decode(errors="ignore"),
        )

    def _is_discontinuous(self, record: np.ndarray) -> bool:
        """Return whether this is the first frame or follows a reset or an interference such as a throw."""
        before, self._origin = self._origin, int(record["step"] - record["taken"])
        return not self._past or before != self._origin

    def _real_time_factor(self, now: float) -> float:
        wall = time.monotonic()
        self._past.append((wall, now))
        while len(self._past) > 2 and wall - self._past[1][0] > WINDOW:
            self._past.popleft()
        began, then = self._past[0]
        return (now - then) / (wall - began) if wall > began else 0.0


FRAME_INTERVAL = 0.005
"""Time between two checks for a new frame while a browser is connected [s]."""
COUNT_INTERVAL = 0.05
"""Time between two checks for a new frame while no browser is connected [s]."""
VIEW_INTERVAL = 0.5
"""Shortest time between two reports of the camera and the color scale to the simulation [s]."""


class RequestSender:
    """Sends requests from browsers to the simulation, see `tactile_sim.simulation.actions`."""

    def __init__(self, connection: Connection):
        self._connection = connection

    def ask(self, action: str, *arguments: Any) -> None:
        """Request an action. The arguments may be numbers, strings and arrays."""
        values = [np.asarray(value).tolist() for value in arguments]
        self._connection.send(request=action, arguments=values)


def serve(connection: Connection, shared: SharedFrame, viewer: Viewer, builder: FrameBuilder) -> None:
    """Show frames, notices and the recording status until the simulation closes the connection.

    Changes of the camera and the color scale are reported to the simulation, which stores them in bags.
    """
    reported, due = None, 0.0
    while (message := connection.receive(FRAME_INTERVAL if shared.clients else COUNT_INTERVAL)) is not None:
        if "files" in message:
            arguments_file, memory_file = message["files"]
            with os.fdopen(arguments_file, "rb") as file:
                scene = pickle.load(file)
            shared.close()
            shared, builder = SharedFrame(scene, memory_file), FrameBuilder(scene, None, None, viewer.scale)
            viewer.set_bodies(scene)
        shared.clients, shared.drawn = viewer.clients, viewer.drawn
        if "notice" in message:
            viewer.notify(message["notice"])
        if "recording" in message:
            viewer.panel.outputs.show_recording(BagStatus(**message["recording"]))
        if (now := time.monotonic()) >= due and (view := viewer.live_view) != reported and view:
            connection.send(request="set_view", arguments=[view.text])
            reported, due = view, now + VIEW_INTERVAL
        if (record := shared.read()) is not None:
            viewer.show(builder.build(record))
        else:
            viewer.show_pending()


def main(arguments_file: str, memory_file: str, connection_file: str) -> int:
    """Run the view of one simulation until the simulation closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to clean up
    with os.fdopen(int(arguments_file), "rb") as file:
        scene, endpoint, renderer, settings, accepts_requests = pickle.load(file)
    replica = Replica(settings) if settings else None
    connection = Connection.of(int(connection_file))
    shared = SharedFrame(scene, int(memory_file), replica.simulation.engine.state_size if replica else 0)
    try:
        cameras = CameraViews(replica.simulation) if replica and replica.simulation.cameras else None
        viewer = Viewer(scene, endpoint, RequestSender(connection) if accepts_requests else None)
    except TactileSimError as error:
        connection.send(error=str(error))
        return 2
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from here on, closing the connection ends the process
    connection.send(url=viewer.url)
    try:
        serve(connection, shared, viewer, FrameBuilder(scene, renderer, replica, viewer.scale, cameras))
    finally:
        viewer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
