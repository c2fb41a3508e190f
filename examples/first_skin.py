"""Read a skin: a cube at rest on a table feels its own weight."""

import numpy as np

import tactile_sim

simulation = tactile_sim.load("touch_cube")
simulation.step(500)  # 1 s: the cube has come to rest
snapshot = simulation.observe()

forces = snapshot.readings  # forces on the taxels (taxels, 3), in the frame of their body [N]
print(f"{len(forces)} taxels, {np.count_nonzero(forces.any(axis=1))} touched")
print(f"weight {snapshot.forces_world[:, 2].sum():.3f} N")  # 1 kg: 9.81 N
