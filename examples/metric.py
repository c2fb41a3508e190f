"""A metric for tactile_sim sweep: how well taxels reproduce the net force on their pads.

tactile_sim sweep hand --over skin.thickness=0.001:0.005:5 --over sensor.noise.std=0,0.01 \
    --metric examples/metric.py

The metric requires a touch function whose readings are forces, such as force_vector.
"""

import numpy as np


def metric(episodes, simulation):
    """Return the error of the net force, the largest net force and the largest reading of a taxel.

    Args:
        episodes: For each episode, the columns that tactile_sim collect recorded, keyed by name. Each column
            is an array (rows, ...).
        simulation: The simulation in which they were recorded, with its pads, taxels and settings.
    """
    errors, forces, peaks = [], [], []
    for columns in episodes:
        for k, pad in enumerate(simulation.skin.pads):
            taxels = columns[f"observation.tactile.{pad.name}"]  # (rows, taxels, channels)
            true = np.linalg.norm(columns["observation.wrench"][:, k, :3], axis=1)  # (rows,) [N]
            felt = np.linalg.norm(taxels.sum(axis=1), axis=1)
            errors.append(felt - true)
            forces.append(true)
            peaks.append(np.linalg.norm(taxels, axis=2).max())
    return {
        "rms_error": np.sqrt(np.mean(np.square(errors))),  # [N]
        "peak_force": np.max(forces),  # [N]
        "peak_taxel": np.max(peaks),  # [N]
    }
