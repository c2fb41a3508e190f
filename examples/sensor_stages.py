"""Model imperfect sensors and compare their readings with the true ones."""

import numpy as np

from tactile_sim import Simulation

STAGES = {"noise": {"std": 0.02}, "delay": {"time": 0.05}}
skin = {"scales": {"cube": 0.02}, "touch_function": "normal", "sensor": {"cube": STAGES}}
simulation = Simulation({"scene": "touch_cube.xml", "seed": 1, "skin": skin})
true, measured = [], []
for _ in range(100):
    simulation.step(5)  # 10 ms: one period of rates.tactile
    snapshot = simulation.observe()
    true.append(snapshot.truth.sum())
    measured.append(snapshot.readings.sum())

first_true, first_measured = (np.argmax(np.array(series) > 2.0) for series in (true, measured))
print(f"delay {10 * (first_measured - first_true)} ms")
print(f"at rest: true {np.mean(true[-20:]):.2f} N, measured {np.mean(measured[-20:]):.2f} N")
