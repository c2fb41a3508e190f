"""Model imperfect sensors, with a stage of your own, and compare their readings with the true ones."""

from dataclasses import dataclass

import numpy as np

from tactile_sim import Number, Simulation, Stage, add_stage, ranged


@dataclass(frozen=True)
class Hum(Stage):
    """A sine is added to all readings."""

    amplitude: float = ranged(Number(least=0), "Amplitude [units].")
    period: float = ranged(Number(above=0), "Period in steps.")

    def compute(self, values, memory, now):
        return values + self.amplitude * np.sin(2 * np.pi * now.step / self.period)


add_stage(Hum, before="noise")
STAGES = {"hum": {"amplitude": 0.0005, "period": 40.0}, "noise": {"std": 0.02}, "delay": {"time": 0.05}}
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
