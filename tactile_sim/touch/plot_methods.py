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
        """Plot the sensor positions of a geom; see `tactile_sim.plots`."""
        from tactile_sim import plots

        return plots.plot_sensors_geom(self, geom_id, geom_name)

    def plot_force_geom(
        self, geom_id: int | None = None, geom_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """Plot the readings of a geom."""
        from tactile_sim import plots

        return plots.plot_force_geom(self, geom_id, geom_name)

    def plot_force_body(
        self, body_id: int | None = None, body_name: str | None = None
    ) -> tuple[Figure, Axes]:
        """Plot the readings of all geoms of a body."""
        from tactile_sim import plots

        return plots.plot_force_body(self, body_id, body_name)


class BodyPlots:
    """Plots of sensors on whole bodies."""

    def plot_sensors_body(
        self, body_id: int | None = None, body_name: str | None = None, title: str = ""
    ) -> tuple[Figure, Axes]:
        """Plot the sensor positions of a body; see `tactile_sim.plots`."""
        from tactile_sim import plots

        return plots.plot_sensors_body(self, body_id, body_name, title)

    def plot_force_body(
        self, body_id: int | None = None, body_name: str | None = None, title: str = ""
    ) -> tuple[Figure, Axes]:
        """Plot the readings of a body."""
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
        """Plot the readings of several bodies in the frame ``focus``: "world" or "first" (the first body)."""
        from tactile_sim import plots

        return plots.plot_force_bodies(self, body_ids, body_names, title, focus, show_contact_points)

    def plot_force_body_subtree(
        self,
        body_id: int | None = None,
        body_name: str | None = None,
        title: str = "",
        show_contact_points: bool = False,
    ) -> tuple[Figure, Axes]:
        """Plot the readings of a body and its descendants, in the body's frame."""
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
        """Render a body and its descendants; readings set the colour and size of the sensors."""
        from tactile_sim import plots

        return plots.visualize_contacts_subtree(
            self, root_id, root_name, show_contact_points, focus_body, camera_offset
        )
