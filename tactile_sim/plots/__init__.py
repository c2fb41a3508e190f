"""Plots of a touch object: where its sensors lie, and what they feel.

Each function takes a `tactile_sim.touch` object, or anything with the same attributes, and returns the figure
and the axes. Nothing is shown or written: that is for ``matplotlib.pyplot.show()`` or ``fig.savefig(path)``.
What is felt is what the last ``get_touch_obs()`` sensed; poses are those that the simulation has now.
"""

from tactile_sim.plots.figures import (
    plot_force_bodies,
    plot_force_body,
    plot_force_body_subtree,
    plot_force_geom,
    plot_sensors_body,
    plot_sensors_geom,
)
from tactile_sim.plots.picture import visualize_contacts_subtree

__all__ = [
    "plot_force_bodies",
    "plot_force_body",
    "plot_force_body_subtree",
    "plot_force_geom",
    "plot_sensors_body",
    "plot_sensors_geom",
    "visualize_contacts_subtree",
]
