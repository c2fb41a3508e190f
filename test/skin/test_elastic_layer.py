"""The response function `elastic_layer`, compared with another solution of the layer and with Hertz."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.distance import cdist
from scipy.special import j0, j1
from support.pressing import G, block, on_plate

from tactile_sim import ConfigError
from tactile_sim.skin import Loads, Skin
from tactile_sim.skin.layer_tables import transfer

MODULUS, POISSON = 2e5, 0.45
"""Plane-strain modulus [Pa] and Poisson's ratio of the layer."""
BALL = 'size=".03"'


def layer_states(wave, poisson, depth, bonded):
    """Return deflection and stress under a wave of pressure as `transfer` does, for one wave.

    The Hankel transforms of two displacements and two stresses satisfy four linear differential equations
    in z (equilibrium and Hooke's law in cylindrical coordinates); thickness and plane-strain modulus are 1.
    """
    young = 1 - poisson**2
    shear, lame = young / 2 / (1 + poisson), young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    p, k = lame + 2 * shear, wave
    rates = np.array(  # of radial and axial displacement, axial and shear stress
        [
            [0, k, 0, 1 / shear],
            [-lame * k / p, 0, 1 / p, 0],
            [0, 0, 0, -k],
            [k * k * (p - lame**2 / p), 0, k * lame / p, 0],
        ]
    )
    across = expm(rates)
    fixed = [0, 1] if bonded else [1, 3]
    surface = np.linalg.solve(across[np.ix_(fixed, [0, 1])], across[fixed, 2])
    state = expm(rates * depth) @ [*surface, -1.0, 0.0]
    return surface[1], -state[2]


@pytest.mark.parametrize("bonded", [True, False])
@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.49])
def test_waves_of_pressure_deflect_and_stress_a_layer(poisson, bonded):
    waves = np.array([0.05, 0.5, 1.0, 2.0, 5.0, 10.0])
    for depth in (0.0, 0.1, 0.5, 1.0):
        expected = np.transpose([layer_states(k, poisson, depth, bonded) for k in waves])
        np.testing.assert_allclose(transfer(waves, poisson, depth, bonded), expected, rtol=1e-4, atol=1e-5)


def test_long_and_short_waves_have_their_closed_forms():
    """A thin layer is confined, or has a free base; an incompressible bonded one does not deflect at all."""
    for poisson in (0.0, 0.3, 0.5):
        confined = (1 - 2 * poisson) / (1 - poisson) ** 2
        deflection, stress = transfer(np.array([0.0, 100.0]), poisson, 0.5, True)
        np.testing.assert_allclose(deflection, [confined, 2 / 100], rtol=1e-5, atol=2e-6)
        np.testing.assert_allclose(stress, [1, 0], atol=1e-5)
        assert transfer(np.array([0.0]), poisson, 0.5, False)[0] == pytest.approx(1.0, rel=1e-5)


def kernel(values, distance, radius=0.0):
    """Return the field at a distance from 1 N on a disc, from its Hankel transform; lengths in thicknesses.

    ``values`` is a function of the wave number, and the largest wave number.
    """
    waves = np.linspace(1e-6, values[1], 12000)
    spread = 2 * j1(waves * radius) / (waves * radius) if radius else 1.0
    integrand = values[0](waves) * waves * spread
    table = np.geomspace(1e-4, 12.0, 400)
    field = [np.trapezoid(integrand * j0(r * waves), waves) / (2 * np.pi) for r in table]
    return np.interp(distance, table, field)


def pressed_plate(geom, force, spacing, half, height, euler=(1, 0, 0, 0), **layer):
    """Return a plate, and the normal forces on its taxels under a geom that a force presses on its middle."""
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><geom type="box" size="{half} {half} .01" pos="0 0 -.01"/></body>'
        f"<body><geom {geom}/></body></worldbody></mujoco>"
    )
    skin = Skin(model, {1: spacing}, **{"stiffness": MODULUS, "poisson_ratio": POISSON, **layer})
    load = Loads.empty(1)
    load.body[:] = load.patch[:] = 0
    load.normal[:], load.rotation[:] = [0, 0, -1], np.eye(3)
    load.force[:] = load.force_world[:] = [0, 0, -force]
    load.other[:], load.other_body[:], load.other_position[:] = 1, 2, [0, 0, height]
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, np.array(euler, float))
    load.other_rotation[:] = rotation.reshape(3, 3)
    return skin, load, skin.readings_from_loads(load, "normal", "elastic_layer")[:, 0]


QUARTER = np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0
SHAPES = {
    "point": lambda z: (f'size="{0.5 * z}"', 0.5 * z, (1, 0, 0, 0)),
    "line": lambda z: (f'type="capsule" size="{0.1 * z} {1.5 * z}"', 0.1 * z, QUARTER),
    "disc": lambda z: (f'type="cylinder" size="{z} {z}"', z, (1, 0, 0, 0)),
}


@pytest.mark.parametrize("relative", [0.1, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_stress_at_depth_is_that_of_the_layer(shape, relative):
    depth = 0.002
    geom, height, quat = SHAPES[shape](depth)
    place = {"spacing": 0.25 * depth, "half": 6 * depth, "height": height, "euler": quat}
    thickness = depth / relative
    skin, _, surface = pressed_plate(geom, 1e-4, thickness=thickness, **place)
    _, _, below = pressed_plate(geom, 1e-4, thickness=thickness, sensor_depth=depth, **place)
    top, on = skin.normals[:, 2] > 0.9, surface > 0
    distance = cdist(skin.positions[top], skin.positions[on]) / thickness
    field = (
        kernel((lambda k: transfer(k, POISSON, relative, True)[1], 16 / relative), distance) / thickness**2
    )
    expected = field @ surface[on]
    assert below.sum() == pytest.approx(1e-4, rel=1e-12)
    np.testing.assert_allclose(below[top] / skin.areas[top], expected, rtol=0, atol=0.04 * expected.max())


def test_layer_fits_the_ball_under_it():
    """The deflection under a ball of radius R is lower by r^2 / 2 R at a distance r from the center."""
    spacing, thickness, force, radius = 5e-4, 4e-3, 0.5, 0.03
    skin, _, forces = pressed_plate(BALL, force, spacing, 0.012, radius, thickness=thickness)
    on = forces > 0
    distance = cdist(skin.positions[on], skin.positions[on]) / thickness
    disc = spacing / np.sqrt(np.pi) / thickness
    field = kernel((lambda k: transfer(k, POISSON, 0.5, True)[0], 120.0), distance, disc)
    deflection = field @ forces[on] / (MODULUS * thickness)
    r = np.linalg.norm(skin.positions[on, :2], axis=1)
    inner = r < 0.8 * r.max()
    shape = deflection[inner] + r[inner] ** 2 / (2 * radius)
    assert r.max() ** 2 / (2 * radius) > 0.5 * shape.mean()  # the ball is pressed in deeply
    assert np.ptp(shape) < 0.02 * shape.mean()


@pytest.mark.parametrize("poisson", [0.0, 0.45])
@pytest.mark.parametrize("radius", [0.003, 0.005])
def test_thick_layer_is_a_half_space(poisson, radius):
    """Hertz: a^3 = 3 F R / 4 E and p0 = 3 F / 2 pi a^2; the mean square of the distance is 2 a^2 / 5."""
    force = 4 * MODULUS * radius**3 / (3 * 0.03)
    skin, _, forces = pressed_plate(BALL, force, 5e-4, 0.01, 0.03, thickness=0.05, poisson_ratio=poisson)
    square = (forces * (skin.positions[:, :2] ** 2).sum(axis=1)).sum() / force
    assert np.sqrt(2.5 * square) == pytest.approx(radius, rel=0.03)
    assert (forces / skin.areas).max() == pytest.approx(1.5 * force / (np.pi * radius**2), rel=0.03)


def test_thin_layer_is_an_elastic_foundation():
    layer = {"thickness": 1e-3, "poisson_ratio": 0.0, "sensor_depth": 1e-5}
    skin, load, forces = pressed_plate(BALL, 10.0, 5e-4, 0.015, 0.03, **layer)
    expected = skin.readings_from_loads(load, "normal", "elastic_foundation")[:, 0]
    assert 1 - 0.5 * np.abs(forces - expected).sum() / 10.0 > 0.98


def test_deeper_taxels_read_a_wider_contact():
    widths = []
    for depth in (0.0, 0.004, 0.008):
        skin, _, forces = pressed_plate(
            'size=".005"', 1.0, 1e-3, 0.03, 0.005, thickness=0.008, sensor_depth=depth
        )
        half = forces / skin.areas > 0.5 * (forces / skin.areas).max()
        widths.append(2 * np.sqrt(skin.areas[half].sum() / np.pi))
    assert widths[0] < widths[1] < widths[2]


@pytest.mark.parametrize("depth", [0.0, 2e-3])
@pytest.mark.parametrize(
    "body",
    [
        block(weight_at=".004 0 0"),
        block(weight_at=".01 0 0"),
        '<body pos="0 0 .01" euler="90 0 0"><freejoint/>'
        '<geom type="cylinder" size=".01 .02" mass="1"/></body>',
    ],
)
def test_taxels_have_the_wrench_of_the_engine(body, depth):
    simulation = on_plate(body, 0.002, response_function="elastic_layer", sensor_depth=depth)
    simulation.engine.data.qvel[:2] = 0.02
    snapshot, engine, skin = simulation.observe(), simulation.engine, simulation.skin
    loads = skin.loads(snapshot.all_contacts, engine.body_positions, engine.body_rotations)
    spread, shares = skin.shares(loads, "elastic_layer")
    places = skin.positions[shares.taxel]
    expected = snapshot.wrenches[0]
    np.testing.assert_allclose(spread.force.sum(axis=0), expected[:3], rtol=0, atol=1e-9 * G)
    np.testing.assert_allclose(
        np.cross(places, spread.force).sum(axis=0), expected[3:], rtol=0, atol=1e-6 * G * 0.02
    )


@pytest.mark.parametrize("thickness", [{"plate": 2e-3, "block": 2e-3}, {"plate": 2e-3, "block": 8e-3}])
def test_two_layers_have_the_same_pressure(thickness):
    body = block(weight_at=".004 0 0").replace("<body ", '<body name="block" ')
    scales = {"plate": 0.002, "block": 0.002}
    simulation = on_plate(body, scales=scales, response_function="elastic_layer", thickness=thickness)
    readings, skin = simulation.observe().readings[:, 0], simulation.skin
    plate, bottom = (
        readings[part.start : part.stop] / skin.areas[part.start : part.stop] for part in skin.pads
    )
    assert plate.max() == pytest.approx(bottom.max(), rel=0.01)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("poisson_ratio", -0.1),
        ("poisson_ratio", 0.51),
        ("poisson_ratio", np.nan),
        ("sensor_depth", -1e-3),
        ("sensor_depth", 3e-3),
        ("core", "glued"),
    ],
)
def test_invalid_layer_is_rejected_by_key(key, value):
    with pytest.raises(ConfigError, match=key):
        on_plate(block(), response_function="elastic_layer", steps=0, **{key: value})
