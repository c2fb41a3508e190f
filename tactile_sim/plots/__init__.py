"""Plot the sensor positions and readings of a touch object.

Each function accepts a `tactile_sim.touch` object, or any object with the same attributes, and returns the
figure and the axes. Use ``matplotlib.pyplot.show()`` or ``fig.savefig(path)`` to show or save the figure.
Readings are from the last ``get_touch_obs()``, and poses from the current state of the simulation.
"""

from tactile_sim.plots.figures import (
    plot_force_bodies,
    plot_force_body,
    plot_force_body_subtree,
    plot_force_geom,
    plot_sensors_body,
    plot_sensors_geom,
)
from tactile_sim.plots.subtree import visualize_contacts_subtree

__all__ = [
    "plot_force_bodies",
    "plot_force_body",
    "plot_force_body_subtree",
    "plot_force_geom",
    "plot_sensors_body",
    "plot_sensors_geom",
    "visualize_contacts_subtree",
]
