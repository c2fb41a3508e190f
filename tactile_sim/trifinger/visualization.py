"""A robot that a program steps, shown in the browser."""

from __future__ import annotations

import weakref
from threading import Event, Thread
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tactile_sim.trifinger.sim_finger import SimFinger
    from tactile_sim.view.model_view import ModelView

INTERVAL = 0.05
"""Between two looks at the robot [s of wall time]."""


class FingerView:
    """The view of one robot in a process of its own, and a thread that looks at the robot for it.

    The thread sees how things stand also while the program does something else than to step.
    """

    def __init__(self, finger: SimFinger):
        """Prints where to look. Raises CommandError where the view cannot be served."""
        # Only here, so that programs that show nothing start quickly.
        from tactile_sim.view.model_view import ModelView

        view = ModelView(finger.physics.model, finger.finger_type, finger.skin)
        self.address = view.address
        """What to type into a browser."""
        print(f"web view: {self.address}", flush=True)
        self._closed = Event()
        self._watcher = Thread(target=self._watch, args=(weakref.ref(finger), view), daemon=True)
        self._watcher.start()
        self._finalizer = weakref.finalize(finger, self._closed.set)

    def close(self) -> None:
        """Ends the view."""
        self._closed.set()
        self._watcher.join()

    def _watch(self, reference: weakref.ref[SimFinger], view: ModelView) -> None:
        state, readings = np.empty(0), np.empty(0)
        while not self._closed.wait(INTERVAL):
            finger = reference()
            if finger is None:
                break
            with finger.stepping:
                data = finger.physics.data
                if not np.array_equal(state, data.qpos):
                    state, readings = data.qpos.copy(), finger.feel()
                view.show(data, readings)
            del finger
        view.close()
