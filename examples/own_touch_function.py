"""A custom touch function: the power that friction dissipates as heat at each taxel."""

from tactile_sim import TOUCH_FUNCTIONS, Simulation, TouchFunction

friction, slip = TOUCH_FUNCTIONS["friction"], TOUCH_FUNCTIONS["slip"]


def heat(loads):
    """Return the frictional heat of m loads (m, 1) [W]: friction force times slip velocity."""
    return abs((friction.evaluate(loads) * slip.evaluate(loads)).sum(axis=1, keepdims=True))


TOUCH_FUNCTIONS["heat"] = TouchFunction(channels=1, unit="W", evaluate=heat)

skin = {"scales": {"cube": 0.01}, "touch_function": "heat"}
simulation = Simulation({"scene": "touch_cube.xml", "skin": skin})
most = 0.0
for _ in range(100):
    simulation.step(5)
    most = max(most, simulation.observe().readings.sum())
print(f"at most {most:.2f} W while the cube lands")
