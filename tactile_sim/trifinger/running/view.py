"""Show a robot in a browser while a user's program steps it."""

from __future__ import annotations

import logging
import weakref
from threading import Event, Thread
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger
    from tactile_sim.view.content import ViewScene
    from tactile_sim.view.publisher import ViewProcess

INTERVAL = 0.05
"""Wall time between checks of the robot's state [s]."""
FORCE_SCALE = 0.05
"""Length of force arrows per newton [m/N]."""
_LOG = logging.getLogger("tactile_sim.trifinger")


class FingerView:
    """Browser view of a robot, served by a separate process.

    A thread sends the robot's state to this process even while the user's program takes no steps.

    Attributes:
        url: URL of the view, for a browser on this machine.
    """

    def __init__(self, finger: SimFinger):
        """Start the view and print its URL.

        Raises:
            CommandError: The view cannot be served.
        """
        # Imported here so that programs without a view start quickly.
        from tactile_sim.view.address import Endpoint
        from tactile_sim.view.publisher import ViewProcess

        process = ViewProcess(_scene(finger), Endpoint(allow_other_port=True), accepts_requests=False)
        process.listen(lambda *_: None, lambda reason: _LOG.warning("the web view failed: %s", reason))
        self._process = process
        self.url = process.url
        print(f"web view: {self.url}", flush=True)
        self._closed = Event()
        weakref.finalize(finger, self._closed.set)
        self._thread = Thread(target=_publish, args=(weakref.ref(finger), process, self._closed), daemon=True)
        self._thread.start()

    def follow_edit(self, finger: SimFinger) -> bool:
        """Show the edited scene of the robot, if its skin has not changed. Otherwise, stop publishing.

        The caller must hold ``finger.stepping``.

        Returns:
            Whether the view shows the edited scene. If not, it must be closed and replaced.
        """
        from tactile_sim.view.content import has_same_skin

        scene = _scene(finger)
        if same := has_same_skin(self._process.scene, scene):
            self._process.set_bodies(scene)
            _write(finger, self._process)
        else:
            self._closed.set()
        return same

    def close(self) -> None:
        """Close the view."""
        self._closed.set()
        self._thread.join()


def _publish(reference: weakref.ref[SimFinger], process: ViewProcess, closed: Event) -> None:
    """Publish the robot's state to browsers whenever the state or the number of browsers has changed.

    The loop ends when the view is closed or the robot is garbage collected.
    """
    clients, state = 0, np.empty(0)
    while not closed.wait(INTERVAL):
        finger = reference()
        if finger is None:
            break
        before, clients = clients, process.shared.clients
        with finger.stepping:
            if closed.is_set():
                break
            qpos = finger.physics.data.qpos
            if clients and (clients != before or not np.array_equal(state, qpos)):
                state = qpos.copy()
                _write(finger, process)
        del finger
    process.close()


def _scene(finger: SimFinger) -> ViewScene:
    from tactile_sim.names import Names
    from tactile_sim.view.model_scene import scene_of_model

    model = finger.physics.model
    return scene_of_model(model, Names(model), finger.finger_type, finger.skin)


def _write(finger: SimFinger, process: ViewProcess) -> None:
    data, contacts = finger.physics.data, finger.contacts()
    rotations = data.xmat.reshape(-1, 3, 3)
    process.write(
        time=data.time,
        positions=data.xpos,
        quaternions=data.xquat,
        unit=b"N",
        readings=finger.readings(),
        valid=np.empty(0),  # all of them
        wrenches=finger.skin.body_wrenches(contacts, data.xpos, rotations),
        contacts=contacts,
        force_scale=FORCE_SCALE,
    )
