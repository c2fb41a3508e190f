"""From ideal to real sensor: what becomes of the touch on a skin before it is told. See docs/sensor.md."""

from tactile_sim.sensor.sensor import STAGES, Sensor

__all__ = ["STAGES", "Sensor"]
