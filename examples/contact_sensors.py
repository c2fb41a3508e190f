"""Add named contact sensors to a scene, equivalent to MuJoCo's <contact> sensors."""

from tactile_sim import engines

engine = engines.load(
    "touch_cube",
    contact_sensors={
        "on_table": {"body1": "table", "body2": "cube", "data": ["force"], "reduce": "netforce"},
        "deepest": {"body1": "table", "body2": "cube", "data": ["dist", "pos"], "reduce": "mindist"},
    },
)
engine.step(500)
print(f"net force {engine.get_contact_force_magnitude('on_table')[0]:.2f} N")
deepest = engine.get_contact_sensor("deepest")
print(f"deepest contact {deepest.dist[0, 0] * 1e6:.0f} um at {deepest.pos[0, 0].round(3)}")
