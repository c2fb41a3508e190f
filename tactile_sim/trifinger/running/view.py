"""A robot that a program steps, shown in the browser."""

from __future__ import annotations

import logging
import weakref
from threading import Event, Thread
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger
    from tactile_sim.view.link import Link

INTERVAL = 0.05
"""Between two looks at the robot [s of wall time]."""
FORCE_SCALE = 0.05
"""Length of the arrows of contacts [m/N]."""
_LOG = logging.getLogger("tactile_sim.trifinger")


class FingerView:
    """The view of one robot in a process of its own, and a thread that looks at the robot for it.

    The thread sees how things stand also while the program does something else than to step.
    """

    def __init__(self, finger: SimFinger):
        """Prints where to look. Raises CommandError where the view cannot be served."""
        # Only here, so that programs that show nothing start quickly.
        from tactile_sim.names import Names
        from tactile_sim.view import live_world
        from tactile_sim.view.address import Endpoint
        from tactile_sim.view.link import Link

        model = finger.physics.model
        world = live_world.of_model(model, Names(model), finger.finger_type, finger.skin)
        link = Link(world, Endpoint(allow_other_port=True), asks=False)
        link.listen(lambda *_: None, lambda why: _LOG.warning("the web view broke down: %s", why))
        self.url = link.url
        """To open in a browser on this machine."""
        print(f"web view: {self.url}", flush=True)
        self._closed = Event()
        weakref.finalize(finger, self._closed.set)
        self._watcher = Thread(target=_watch, args=(weakref.ref(finger), link, self._closed), daemon=True)
        self._watcher.start()

    def close(self) -> None:
        """Ends the view."""
        self._closed.set()
        self._watcher.join()


def _watch(reference: weakref.ref[SimFinger], link: Link, closed: Event) -> None:
    """Shows a robot, as long as it is there, whenever it or who looks at it has changed."""
    clients, state = 0, np.empty(0)
    while not closed.wait(INTERVAL):
        finger = reference()
        if finger is None:
            break
        before, clients = clients, link.channel.clients
        with finger.stepping:
            qpos = finger.physics.data.qpos
            if clients and (clients != before or not np.array_equal(state, qpos)):
                state = qpos.copy()
                _show(finger, link)
        del finger
    link.close()


def _show(finger: SimFinger, link: Link) -> None:
    data, contacts = finger.physics.data, finger.contacts()
    rotations = data.xmat.reshape(-1, 3, 3)
    link.write(
        time=data.time,
        positions=data.xpos,
        quaternions=data.xquat,
        unit=b"N",
        readings=finger.feel(),
        wrenches=finger.skin.body_wrenches(contacts, data.xpos, rotations),
        contacts=contacts.values,
        force_scale=FORCE_SCALE,
    )
