"""Read the contacts and the tactile skin of a robot."""

from __future__ import annotations

from collections.abc import Mapping
from threading import RLock

import numpy as np

from tactile_sim.engines.contacts import Contacts, read_contacts
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Skin
from tactile_sim.skin.taxels import choose
from tactile_sim.trifinger.physics.fingers import FingerPhysics
from tactile_sim.trifinger.robot.skin import check_spacings, make_skin


class TactileFinger:
    """Base class of `SimFinger` that adds contacts and a skin, which trifinger_simulation does not have."""

    def __init__(self, physics: FingerPhysics, spacings: Mapping[str, float]):
        """Prepare the skin, which is created at first use.

        Args:
            physics: Physics of the robot.
            spacings: Taxel spacing [m] by the link's name without the finger's suffix.

        Raises:
            InvalidValueError: A link or a spacing is invalid.
        """
        self.physics = physics
        """Physics of the robot, with MuJoCo's ``spec``, ``model`` and ``data``."""
        self.stepping = RLock()
        """Lock to hold while the state is changed or read, because other threads access it."""
        self._spacings = check_spacings(spacings)
        self._skin: Skin | None = None

    def contacts(self) -> Contacts:
        """Return all contacts that carried a force in the last step."""
        return read_contacts(self.physics.model, self.physics.data)

    def tip_forces(self) -> np.ndarray:
        """Return the net contact force (n_fingers, 3) on each tip in the last step, in the world [N]."""
        contacts, tips = self.contacts(), self.physics.tips
        on_tip = (contacts.bodies[:, 1] == tips[:, None]).astype(float)
        on_tip -= contacts.bodies[:, 0] == tips[:, None]
        return on_tip @ contacts.wrench_world[:, :3]

    @property
    def skin(self) -> Skin:
        """Skin on the selected links, by default tips and lower links; it is created at first use."""
        if self._skin is None:
            self._skin = make_skin(self.physics.model, len(self.physics.tips), self._spacings)
        return self._skin

    def readings(
        self, touch_function: str = "force_vector", response_function: str = "elastic_foundation"
    ) -> np.ndarray:
        """Return the readings of the skin in the last step.

        Args:
            touch_function: Name of a touch function of `tactile_sim.skin`.
            response_function: Name of a response function of `tactile_sim.skin`.

        Returns:
            (taxels, channels) readings; by default forces in the frames of the links [N].

        Raises:
            ConfigError: A function is unknown.
        """
        touch = choose("touch_function", touch_function, TOUCH_FUNCTIONS)
        response = choose("response_function", response_function, RESPONSE_FUNCTIONS)
        data = self.physics.data
        with self.stepping:  # the skin is not thread-safe
            return self.skin.readings_from_contacts(
                self.contacts(), data.xpos, data.xmat.reshape(-1, 3, 3), touch, response
            )

    def forget_skin(self) -> None:
        """Discard the skin after a scene edit; it is created again at its next use."""
        self._skin = None
