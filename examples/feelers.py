"""Read feelers, which detect obstacles before they touch the skin."""

import tactile_sim

simulation = tactile_sim.load("touch_cube")
feelers = simulation.feelers
for _ in range(100):
    simulation.step()
    free = simulation.observe().feelers  # free length of each feeler (feelers,) [m]
    if (free < feelers.lengths).any():
        break
touched = len(simulation.observe().contacts.values) > 0
print(f"after {simulation.time:.3f} s {(free < feelers.lengths).sum()} feelers are covered")
print("touched" if touched else "nothing touches yet")
