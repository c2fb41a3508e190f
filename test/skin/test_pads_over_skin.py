"""Pads take precedence over the skin of their body, and the border between both is seamless."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from support.pads import contacts_at, poses, simulation

PLATE = '<body name="plate"><geom type="box" size=".03 .03 .005" pos="0 0 -.005"/></body>'
HALVES = (
    '<body name="plate"><geom type="box" size=".03 .015 .005" pos="0 .015 -.005"/>'
    '<geom type="box" size=".03 .015 .005" pos="0 -.015 -.005"/></body>'
)
"""The same plate as two geoms, as the fingers of many grippers."""
GRID = {"rows": 4, "columns": 4, "pitch": [0.005, 0.005]}  # 20 x 20 mm
HALF = 0.01


def on_plate(object_geom: str, plate: str = PLATE, **keys):
    """Return a plate with skin and a pad of 20 x 20 mm in its middle, and an object of 0.5 kg."""
    xml = f'{plate}<body name="object" pos="0 0 .1"><freejoint/><geom mass=".5" {object_geom}/></body>'
    pads = keys.pop("pads", {"pad": {"body": "plate", "grid": GRID, "outside": "ignore"}})
    return simulation(xml, pads, **{"scales": {"plate": 0.004}} | keys)


def forces(made):
    """Return the normal forces (skin, pad) and the engine's net force on the plate [N]."""
    snapshot = made.observe()
    felt = -snapshot.ideal_readings("force_vector")[:, 2]
    return np.array([felt[pad.start : pad.stop].sum() for pad in made.skin.pads]), -snapshot.wrenches[0, 2]


@pytest.mark.parametrize("plate", [PLATE, HALVES])
def test_pad_reads_the_whole_weight_of_a_block_on_it(plate):
    made = on_plate('type="box" size=".008 .008 .008"', plate)
    made.set_body_state("object", [0, 0, 0.008], [1, 0, 0, 0], np.zeros(3), np.zeros(3))
    made.step(1000)
    assert [pad.name for pad in made.skin.pads] == ["plate", "pad"]
    np.testing.assert_allclose(forces(made)[0], [0.0, 0.5 * 9.81], atol=1e-3)


@pytest.mark.parametrize(
    ("response", "geom", "height", "half", "largest"),
    [
        ("elastic_foundation", 'type="box" size=".008 .008 .008"', 0.008, 0.008, 0.12),
        ("elastic_foundation", 'type="sphere" size=".1"', 0.1, None, 0.06),
        ("spread_linear", 'type="sphere" size=".1"', 0.1, None, 0.12),
    ],
)
def test_border_of_a_pad_is_seamless(response, geom, height, half, largest):
    made = on_plate(geom, response_function=response)
    xs = np.arange(-0.022, 0.0221, 0.0005)
    shares = []
    for x in xs:
        made.reset()
        made.set_body_state("object", [x, 0.0, height - 2e-4], [1, 0, 0, 0], np.zeros(3), np.zeros(3))
        made.step(1)
        each, total = forces(made)
        assert each.sum() == pytest.approx(total, rel=1e-9)
        shares.append(each[1] / total)
    assert shares[0] == shares[-1] == 0.0 and max(shares) == pytest.approx(1.0)
    assert np.abs(np.diff(shares)).max() < largest  # for a step of an eighth of the spacing
    if half is not None:  # the share of the block's face that is over the pad
        over = np.clip(np.minimum(xs + half, HALF) - np.maximum(xs - half, -HALF), 0, None) / (2 * half)
        np.testing.assert_allclose(shares, over, atol=0.05)


def test_no_taxel_remains_under_a_pad_and_those_on_the_other_side_stay():
    plate = '<body name="plate"><geom type="box" size=".03 .03 .001" pos="0 0 -.001"/></body>'
    made, bare = (
        simulation(plate, pads, scales={"plate": 0.004}).skin
        for pads in ({"pad": {"body": "plate", "preset": "xela_uspa44"}}, {})
    )
    skin, pad = made.pads
    half = 2 * np.array([0.00425, 0.0047])
    positions, normals = made.positions[: skin.stop], made.normals[: skin.stop]
    assert not ((np.abs(positions[:, :2]) < half).all(axis=1) & (normals[:, 2] > 0.5)).any()
    assert (normals[:, 2] < 0).sum() == (bare.normals[:, 2] < 0).sum()
    assert made.areas.sum() == pytest.approx(bare.areas.sum(), rel=2e-3)
    assert made.areas[pad.start :].sum() == pytest.approx(4 * half.prod(), rel=1e-9)
    assert not pad.ignores_outside and not skin.is_whole


@pytest.mark.parametrize("scale", [0.002, 0.005])
def test_skin_and_regions_of_other_spacings_share_a_sphere(scale):
    region = {"body": "ball", "spacing": 0.003, "region": {"normal": [0.0, 0.6, 0.8], "within": 50.0}}
    body = '<body name="ball"><geom type="sphere" size=".02"/></body>'
    made = simulation(body, {"cap": region}, scales={"ball": scale}).skin
    cosine = made.normals @ [0.0, 0.6, 0.8]
    assert cosine[made.pads[1].start :].min() > np.cos(np.radians(50))
    assert cosine[: made.pads[0].stop].max() < np.cos(np.radians(50 - 5))  # half a spacing is 4.3 degrees
    assert made.areas.sum() == pytest.approx(4 * np.pi * 0.02**2, rel=0.01)


def test_pad_on_one_geom_leaves_the_skin_of_the_other_geoms():
    fork = (
        '<body name="fork"><geom name="upper" type="box" size=".03 .03 .001"/>'
        '<geom name="lower" type="box" size=".03 .03 .001" pos="0 0 -.005"/></body>'
    )
    pads = {"pad": {"body": "fork", "grid": GRID, "position": [0.0, 0.0, 0.001]}}
    made, bare = (simulation(fork, each, scales={"fork": 0.004}).skin for each in (pads, {}))
    of_lower = (skin.positions[:, 2] < -0.003 for skin in (made, bare))
    assert len({of.sum() for of in of_lower}) == 1


def test_pad_on_the_entire_body_replaces_its_skin():
    body = '<body name="tip"><geom type="capsule" size=".01 .02"/></body>'
    made = simulation(body, {"p": {"body": "tip", "spacing": 0.002}}, scales={"*": 0.005})
    assert [pad.name for pad in made.skin.pads] == ["p"]


def test_load_beside_a_pad_is_on_the_skin():
    made = on_plate('type="sphere" size=".01"', scales={"plate": 0.02})
    points, down = [[HALF + 0.004, 0, 0], [0.029, 0.029, 0]], [[0, 0, -1.0]] * 2
    for response in ("nearest", "spread_linear", "hertz", "elastic_foundation"):
        contacts = contacts_at(points, down)
        felt = made.skin.readings_from_contacts(contacts, *poses(made), "normal", response)
        counts, _ = made.skin.outside(contacts, *poses(made), response)
        assert felt.sum() == pytest.approx(2.0) and counts.sum() == 0


@pytest.mark.parametrize(("columns", "percent"), [(0, "100 %"), (1, "75 %"), (3, "25 %"), (4, None)])
def test_overlapping_pads_are_reported_with_names_and_percent(columns, percent, caplog):
    pads = {
        "first": {"body": "plate", "grid": GRID},
        "second": {"body": "plate", "grid": GRID, "position": [0.005 * columns, 0.0, 0.0]},
        "below": {
            "body": "plate",
            "grid": GRID,
            "position": [0.0, 0.0, -0.01],
            "orientation": [1.0, 0.0, 0.0, 0.0],
        },
    }
    with caplog.at_level(logging.WARNING, "tactile_sim"):
        simulation(PLATE, pads)
    found = [record.getMessage() for record in caplog.records if "%" in record.getMessage()]
    assert len(found) == (percent is not None)
    assert all(fact in line for line in found for fact in ("first", "second", percent))
    assert not any("below" in line for line in found)
