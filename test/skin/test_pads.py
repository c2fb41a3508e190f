"""Pads: taxels have the positions, order and axes of a real sensor."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.pads import PAD_GEOM, PITCH, simulation

from tactile_sim import ConfigError, presets
from tactile_sim.config.settings import RECORDS
from tactile_sim.skin.pads.projection import closest_points
from tactile_sim.skin.placement.shapes import Shape


def test_uspa44_has_16_taxels_at_its_pitch_with_ids_and_axes_in_order():
    made = simulation(
        f'<body name="tip">{PAD_GEOM}</body>', {"tip": {"body": "tip", "preset": "xela_uspa44"}}
    )
    skin, (pad,) = made.skin, made.skin.pads
    assert len(skin.positions) == 16
    grid = skin.positions.reshape(4, 4, 3)
    np.testing.assert_allclose(
        np.diff(grid, axis=1), np.broadcast_to([PITCH[0], 0, 0], (4, 3, 3)), atol=1e-12
    )
    np.testing.assert_allclose(
        np.diff(grid, axis=0), np.broadcast_to([0, PITCH[1], 0], (3, 4, 3)), atol=1e-12
    )
    np.testing.assert_allclose(skin.positions.mean(axis=0), 0, atol=1e-12)
    assert skin.ids.tolist() == list(range(16))
    np.testing.assert_array_equal(4 * pad.rows + pad.columns, skin.ids)
    np.testing.assert_array_equal(skin.axes, np.tile(np.eye(3), (16, 1, 1)))
    assert made.schedule.pad_stream("tip") == "tactile/tip" and made.schedule.pad_rates == {
        "tactile/tip": 500.0
    }
    assert made.signal_chain.staged.all()


SURFACES = {
    "sphere": ('type="sphere" size=".03"', lambda p: p / 0.03),
    "capsule": ('type="capsule" size=".02 .05" euler="90 0 0"', lambda p: p * [1, 0, 1] / 0.02),
    "ellipsoid": ('type="ellipsoid" size=".05 .04 .03"', lambda p: p / np.square([0.05, 0.04, 0.03])),
    "box": ('type="box" size=".05 .05 .02"', lambda p: np.tile([0.0, 0, 1], (len(p), 1))),
}


@pytest.mark.parametrize("shape", SURFACES)
@pytest.mark.parametrize("keys", [{}, {"normal": [0.0, 0.1, 1.0], "turn": 30.0}], ids=["surface", "normal"])
def test_surface_moves_a_preset_onto_a_geom(shape, keys):
    """All taxels lie on the surface with its normals, at the grid's pitch across the pad's normal."""
    geom, gradient = SURFACES[shape]
    pad = {"body": "b", "preset": "xela_uspa44", "position": [0.002, 0.001, 0.1], "surface": True, **keys}
    skin = simulation(f'<body name="b"><geom {geom}/></body>', {"tip": pad}).skin
    wanted = gradient(skin.positions)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(skin.axes[:, 2], wanted, atol=1e-4)
    np.testing.assert_allclose(skin.positions, skin.surface_positions, atol=1e-6)
    np.testing.assert_allclose(
        skin.axes @ skin.axes.transpose(0, 2, 1), np.tile(np.eye(3), (16, 1, 1)), atol=1e-9
    )
    if keys:
        along = np.array(keys["normal"]) / np.linalg.norm(keys["normal"])
        flat = skin.positions - np.outer(skin.positions @ along, along)
        grid = flat.reshape(4, 4, 3)
        np.testing.assert_allclose(np.linalg.norm(np.diff(grid, axis=1), axis=2), PITCH[0], atol=1e-9)
        x = np.diff(grid, axis=1)[0, 0] / PITCH[0]
        tangent = np.array([1.0, 0, 0]) - along[0] * along
        assert np.degrees(np.arccos(x @ tangent / np.linalg.norm(tangent))) == pytest.approx(30.0, abs=1e-6)
        assert np.cross(tangent, x) @ along > 0  # counterclockwise seen from outside


def test_mirrored_pad_is_the_mirror_image():
    body = '<body name="{0}"><geom type="sphere" size=".03"/></body>'
    keys = {"preset": "adi_dex01", "surface": True}
    made = simulation(
        body.format("right") + body.format("left"),
        {
            "r": {"body": "right", "position": [0.01, 0.0, 0.03], **keys},
            "l": {"body": "left", "position": [-0.01, 0.0, 0.03], "mirror": True, **keys},
        },
    )
    right, left = made.skin.pads
    flip = np.diag([-1.0, 1.0, 1.0])
    p, axes, ids = made.skin.positions, made.skin.axes, made.skin.ids
    one, other = slice(right.start, right.stop), slice(left.start, left.stop)
    np.testing.assert_allclose(p[other], p[one] @ flip, atol=1e-9)
    np.testing.assert_allclose(axes[other, 1:], axes[one, 1:] @ flip, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(axes), 1.0)
    np.testing.assert_array_equal(ids[other], ids[one])


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ({"normal": [0.0, 0.0, 1.0], "orientation": [0.0, 0.0, 0.0, 1.0]}, "normal"),
        ({"normal": [0.0, 0.0, 0.0]}, "normal"),
        ({"turn": 30.0}, "turn"),
        ({"surface": True, "normal": [1.0, 0.0, 0.0], "position": [0.0, 0.0, 0.02]}, "surface"),
        ({"surface": True, "position": [0.0, 0.0, 20.0]}, "position"),  # in mm
        ({"surface": "yes"}, "surface"),
        ({"surface": True, "body": "bare"}, ""),
        ({"surface": True, "body": "nobody"}, "body"),
    ],
)
def test_impossible_places_are_refused(keys, place):
    with pytest.raises(ConfigError, match=rf"skin\.pads\.tip.?{place}"):
        simulation(
            '<body name="b"><geom type="sphere" size=".02"/></body>'
            '<body name="bare"><geom type="sphere" size=".02" contype="0" conaffinity="0"/></body>',
            {"tip": {"body": "b", "preset": "xela_uspa44", **keys}},
        )


def test_sites_give_positions_axes_and_body():
    sites = (
        '<site name="taxel_b" pos="0 .01 0" zaxis="0 0 1"/>'
        '<site name="taxel_a" pos=".01 0 0" euler="0 0 90"/>'
    )
    made = simulation(
        f'<body name="b"><geom type="box" size=".05 .05 .01" pos="0 0 -.01"/>{sites}</body>',
        {"ring": {"sites": ["taxel_*"]}},
    )
    assert made.skin.pads[0].body_id == 1
    np.testing.assert_allclose(made.skin.positions, [[0, 0.01, 0], [0.01, 0, 0]])
    np.testing.assert_allclose(made.skin.axes[1], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-12)
    assert made.skin.spacings[0] == pytest.approx(0.01 * np.sqrt(2))


def test_geoms_and_regions_cover_part_of_a_body():
    body = (
        '<body name="b"><geom name="bone" type="sphere" size=".02"/>'
        '<geom name="rubber_1" type="sphere" size=".01" pos="0 0 .03"/></body>'
    )
    made = simulation(
        body,
        {
            "tip": {"geoms": ["rubber_*"], "spacing": 0.002},
            "down": {"body": "b", "spacing": 0.002, "region": {"normal": [0, 0, -1], "within": 60}},
            "corner": {"body": "b", "spacing": 0.002, "region": {"box": [0, 0, 0, 0.02, 0.02, 0.02]}},
        },
    )
    corner, down, tip = (made.skin.positions[pad.start : pad.stop] for pad in made.skin.pads)
    np.testing.assert_allclose(np.linalg.norm(tip - [0, 0, 0.03], axis=1), 0.01, rtol=1e-6)
    pad = made.skin.pads[1]
    assert len(down) and (made.skin.normals[pad.start : pad.stop, 2] <= -0.5).all()
    assert (corner >= 0).all() and len(corner)


def test_layout_files_of_all_formats_give_the_same_taxels(tmp_path):
    positions, normals = np.array([[0, 0, 0.0], [0.004, 0, 0], [0, 0.004, 0]]), np.tile([0, 0, 2.0], (3, 1))
    arrays = {
        "positions": positions,
        "normals": normals,
        "tangents": np.tile([0, 1.0, 1.0], (3, 1)),
        "ids": [7, 3, 5],
        "rows": [0, 0, 2],
        "columns": [0, 4, 0],
    }
    np.savez(tmp_path / "l.npz", **arrays)
    lines = ["id, x,y,z,nx,ny,nz,tx,ty,tz,row,column"]
    lines += [
        ",".join(
            map(
                str,
                [
                    arrays["ids"][k],
                    *positions[k],
                    *normals[k],
                    0,
                    1,
                    1,
                    arrays["rows"][k],
                    arrays["columns"][k],
                ],
            )
        )
        for k in range(3)
    ]
    (tmp_path / "l.csv").write_text("# a comment\n" + "\n".join(lines))
    (tmp_path / "l.yaml").write_text(
        "\n".join(f"{key}: {np.asarray(value).tolist()}" for key, value in arrays.items())
    )
    for name in ("l.csv", "l.npz", "l.yaml"):
        made = simulation(
            '<body name="b"><geom type="box" size=".05 .05 .01" pos="0 0 -.01"/></body>',
            {"p": {"body": "b", "layout": str(tmp_path / name)}},
        )
        np.testing.assert_allclose(made.skin.positions, positions)
        assert made.skin.ids.tolist() == [7, 3, 5]
        np.testing.assert_allclose(made.skin.axes[0], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-12)
        assert made.skin.pads[0].rows.tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    "kind",
    [
        'type="sphere" size=".03"',
        'type="capsule" size=".02 .04"',
        'type="cylinder" size=".02 .03"',
        'type="box" size=".01 .02 .03"',
        'type="ellipsoid" size=".01 .02 .03"',
    ],
)
def test_closest_points_are_on_the_surface_along_its_normal(kind):
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><geom {kind} pos=".1 0 0" euler="10 20 30"/></body></worldbody></mujoco>'
    )
    shape = Shape.of_geom(model, 0)
    points = np.random.default_rng(0).normal(size=(200, 3)) * 0.03 + [0.1, 0, 0]
    found = closest_points(shape, points)
    np.testing.assert_allclose(shape.depth(found), 0, atol=1e-9)
    others = closest_points(shape, np.random.default_rng(1).normal(size=(4000, 3)) * 0.1 + [0.1, 0, 0])
    least = np.linalg.norm(points[:, None] - others, axis=2).min(axis=1)
    distance = np.linalg.norm(points - found, axis=1)
    assert (distance <= least + 1e-9).all()
    assert (least - distance < 0.006).all()


@pytest.mark.parametrize("name", presets.names())
def test_presets_are_complete_and_fit_a_body(name):
    preset = presets.load(name)
    assert {"layout", "axes", "ids", "range", "rate", "latency"} <= set(preset.figures)
    for figure in preset.figures.values():
        assert figure.grade in presets.GRADES and bool(figure.source) == (figure.grade != "estimated")
    geom = {
        "xela_uscu": '<geom type="capsule" size=".0144 .05" pos="0 -.05 0" euler="90 0 0"/>',
        "adi_dex01": '<geom type="ellipsoid" size=".01635 .011205 .019"/>',
    }.get(name, '<geom type="box" size=".1 .1 .01" pos="0 0 -.01"/>')
    made = simulation(f'<body name="b">{geom}</body>', {"p": {"body": "b", "preset": name}})
    counts = {
        "xela_uscu": 30,
        "adi_dex01": 738,
        "xhand1_tip": 120,
        "resistive_16x16": 256,
        "inspire_rh56dftp_palm": 112,
    }
    assert len(made.skin.positions) == counts.get(name, len(made.skin.positions))
    np.testing.assert_allclose(made.skin.positions, made.skin.surface_positions, atol=2e-7)
    assert made.skin.pads[0].ignores_outside
    assert all(
        flat in RECORDS["skin.pads"]
        for key, value in preset.pad.items()
        for flat in ([f"{key}.{leaf}" for leaf in value] if isinstance(value, dict) else [key])
    )


def test_keys_of_a_pad_override_those_of_its_preset():
    body = f'<body name="tip">{PAD_GEOM}</body>'
    made = simulation(
        body,
        {
            "tip": {
                "body": "tip",
                "preset": "xela_uspa44",
                "grid": {"rows": 2, "columns": 3},
                "rate": 50,
                "outside": "nearest",
            }
        },
        sensor={"tip": {"saturation": {"level": 2.0}}},
    )
    assert made.skin.positions[1] - made.skin.positions[0] == pytest.approx([PITCH[0], 0, 0])
    assert len(made.skin.positions) == 6 and made.schedule.pad_rates == {"tactile/tip": 50.0}
    assert not made.skin.pads[0].ignores_outside
    for reading, expected in ((10.0, 2.0), (0.0123, 0.012)):  # the quantisation from the preset remains
        out = made.signal_chain.peek(0, np.tile([0, 0, reading], (6, 1)))
        np.testing.assert_allclose(out[:, 2], expected, atol=1e-12)


def test_pads_keep_the_scales_of_other_bodies():
    made = simulation(
        f'<body name="tip">{PAD_GEOM}</body><body name="b"><geom size=".05"/></body>',
        {"front": {"body": "tip", "preset": "xela_uspa44"}},
        scales={"b": 0.02},
    )
    assert [pad.name for pad in made.skin.pads] == ["front", "b"]
    assert made.skin.pads[1].is_whole


def test_a_skin_of_separate_geoms_cannot_have_pads():
    with pytest.raises(ConfigError, match="kind"):
        simulation(
            f'<body name="tip">{PAD_GEOM}</body>',
            {"p": {"body": "tip", "preset": "xela_uspa44"}},
            kind="geom",
        )
