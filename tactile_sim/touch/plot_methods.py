"""Plots as methods of the touch classes, under MIMo's names. They import matplotlib when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class GeomPlots:
    """Plots of sensors on separate geoms."""

    def plot_sensors_geom(
        self, geom_id: int | None = None, geom_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """Plot the sensor positions of a geom, in the geom's frame.

        Args:
            geom_id: Id of the geom; takes precedence over ``geom_name``.
            geom_name: Name of the geom.

        Raises:
            SceneError: If the geom does not exist or has no sensors.
        """
        from tactile_sim import plots

        return plots.plot_sensors_geom(self, geom_id, geom_name)

    def plot_force_geom(
        self, geom_id: int | None = None, geom_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """Plot the readings of a geom, in the geom's frame.

        Args:
            geom_id: Id of the geom; takes precedence over ``geom_name``.
            geom_name: Name of the geom.

        Raises:
            SceneError: If the geom does not exist or has no sensors, or there are no readings yet.
        """
        from tactile_sim import plots

        return plots.plot_force_geom(self, geom_id, geom_name)

    def plot_force_body(
        self, body_id: int | None = None, body_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """Plot the readings of all geoms of a body, in the body's frame.

        Args:
            body_id: Id of the body; takes precedence over ``body_name``.
            body_name: Name of the body.

        Raises:
            SceneError: If the body does not exist or has no sensors, or there are no readings yet.
        """
        from tactile_sim import plots

        return plots.plot_force_body(self, body_id, body_name)


class BodyPlots:
    """Plots of sensors on whole bodies."""

    def plot_sensors_body(
        self, body_id: int | None = None, body_name: str | None = None, title: str = ""
    ) -> tuple[Figure, Axes]:
        """Plot the sensor positions of a body, in the body's frame.

        Args:
            body_id: Id of the body; takes precedence over ``body_name``.
            body_name: Name of the body.
            title: Title of the figure; the body's name by default.

        Raises:
            SceneError: If the body does not exist or has no sensors.
        """
        from tactile_sim import plots

        return plots.plot_sensors_body(self, body_id, body_name, title)

    def plot_force_body(
        self, body_id: int | None = None, body_name: str | None = None, title: str = ""
    ) -> tuple[Figure, Axes]:
        """Plot the readings of a body, in the body's frame.

        Args:
            body_id: Id of the body; takes precedence over ``body_name``.
            body_name: Name of the body.
            title: Title of the figure; the body's name by default.

        Raises:
            SceneError: If the body does not exist or has no sensors, or there are no readings yet.
        """
        from tactile_sim import plots

        return plots.plot_force_body(self, body_id, body_name, title)

    def plot_force_bodies(
        self,
        body_ids: list[int] | tuple[int, ...] = (),
        body_names: list[str] | tuple[str, ...] = (),
        title: str = "",
        focus: str = "world",
        show_contact_points: bool = True,
    ) -> tuple[Figure, Axes]:
        """Plot the readings of several bodies in their current poses.

        Args:
            body_ids: Ids of the bodies; take precedence over ``body_names``.
            body_names: Names of the bodies.
            title: Title of the figure; the bodies' names by default.
            focus: Frame of the plot: "world", or "first" for the frame of the first body.
            show_contact_points: Whether to draw the contact points on the bodies' surfaces.

        Raises:
            SceneError: If a body does not exist, none of them has sensors, or there are no readings yet.
            ConfigError: If ``focus`` is invalid.
        """
        from tactile_sim import plots

        return plots.plot_force_bodies(self, body_ids, body_names, title, focus, show_contact_points)

    def plot_force_body_subtree(
        self,
        body_id: int | None = None,
        body_name: str | None = None,
        title: str = "",
        show_contact_points: bool = False,
    ) -> tuple[Figure, Axes]:
        """Plot the readings of a body and its descendants, in the body's frame.

        Args:
            body_id: Id of the body; takes precedence over ``body_name``.
            body_name: Name of the body; the body itself does not need sensors.
            title: Title of the figure; by default the body's name followed by "and below".
            show_contact_points: Whether to draw the contact points on the bodies' surfaces.

        Raises:
            SceneError: If the body does not exist, the subtree has no sensors, or there are no readings
                yet.
        """
        from tactile_sim import plots

        return plots.plot_force_body_subtree(self, body_id, body_name, title, show_contact_points)

    def visualize_contacts_subtree(
        self,
        root_id: int | None = None,
        root_name: str | None = None,
        show_contact_points: bool = False,
        focus_body: str | None = None,
        camera_offset: np.ndarray | None = None,
    ) -> tuple[Figure, Axes]:
        """Render a body and its descendants; colour and size of the sensors show the readings.

        Readings on surfaces that face away from the camera are visible through the bodies.

        Args:
            root_id: Id of the root body; takes precedence over ``root_name``.
            root_name: Name of the root body.
            show_contact_points: Whether to draw the contact points.
            focus_body: Name of a body whose origin is the centre of the image and the origin of the axes,
                which are parallel to the world's. By default, positions are in the world frame.
            camera_offset: Shift (3,) of the camera along the world axes [m].

        Raises:
            SceneError: If a body does not exist, the subtree has no sensors, or there are no readings yet.
            ConfigError: If ``camera_offset`` has the wrong shape.
        """
        from tactile_sim import plots

        return plots.visualize_contacts_subtree(
            self, root_id, root_name, show_contact_points, focus_body, camera_offset
        )
