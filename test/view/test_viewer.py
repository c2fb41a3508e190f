"""The scene and the panel of a view without a browser; test_browser tests them in a browser."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from support.waiting import wait_until

from tactile_sim.engines import Contacts
from tactile_sim.figures.arrows import FRICTION, NORMAL, TANGENT1, TANGENT2, force_arrows
from tactile_sim.figures.colors import NO_CONTACT, colors
from tactile_sim.view.camera import DISTANCE, MARGIN, Viewpoint
from tactile_sim.view.color_scale import DECAY, LEAST, ColorScale
from tactile_sim.view.content import ImageInfo, Shape, ViewFrame, ViewScene, box
from tactile_sim.view.markers import LENGTHS
from tactile_sim.view.scene import _is_ground, dark_color

CORNERS = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
SCENE = ViewScene(
    "a box",
    ("world", "box"),
    (Shape("box", 1, *box([0.2, 0.2, 0.2]), np.array([0.5, 0.5, 0.5, 1.0])),),
    skin_bodies=np.array([1]),
    taxel_counts=np.array([8]),
    pads=("box",),
    taxel_ids=np.arange(8),
    taxel_positions=CORNERS,
    taxel_normals=CORNERS / np.linalg.norm(CORNERS, axis=1, keepdims=True),
    taxel_spacings=np.array([0.05]),
)


def frame(height, **fields):
    upright = np.array([[1.0, 0.0, 0.0, 0.0]] * 2)
    return ViewFrame(0.0, np.array([[0.0] * 3, [0.0, 0.0, height]]), upright, **fields)


def test_taxels_are_named_by_pad_and_id_and_invalid_ones_are_gray(open_view):
    scene = dataclasses.replace(SCENE, pads=("tip",), taxel_ids=np.arange(8) + 40)
    viewer = open_view(scene)
    valid = np.arange(8) != 3
    shown = frame(0.0, readings=np.ones(8), valid=valid, taxel_scale=2.0)
    viewer.show(shown)
    probe, [dots] = viewer.panel.probe, viewer._scene.skin._dots
    assert (probe.name(2), probe.value(2)) == ("tip #42", "1 N")
    assert "invalid" in probe.value(3)
    assert (np.ptp(np.asarray(dots.colors), axis=1) == 0).tolist() == (~valid).tolist()


def test_images_are_updated_in_turn_and_all_at_once_while_paused(open_view):
    viewer = open_view(replace(SCENE, images=tuple(ImageInfo(1, 200, 200) for _ in range(60))))

    def updated():
        images = viewer.panel.images.handles
        return sum(int(image.image.any()) for image in images)

    bright = tuple(np.random.default_rng(k).integers(1, 255, (200, 200), np.uint8) for k in range(60))
    viewer.panel.draw(frame(0.0, images=bright))
    assert 0 < updated() < 60
    viewer.panel.draw(frame(0.0, images=bright, paused=True))
    assert updated() == 60


def test_only_the_first_frame_is_drawn_without_browsers(open_view):
    viewer = open_view(SCENE)
    viewer.show(frame(1.0))
    viewer.show(frame(2.0))
    assert viewer.clients == 0
    assert viewer.server.scene.get_handle_by_name("/box").position.tolist() == [0.0, 0.0, 1.0]


def test_view_prints_nothing(open_view, capfd):
    open_view(SCENE).close()
    assert capfd.readouterr() == ("", "")


def test_pointer_finds_the_reading_that_it_sees(open_view):
    viewer = open_view(SCENE)
    readings = np.zeros(8)
    origin, direction = np.array([0.1, -1.0, 0.1]), np.array([0.0, 1.0, 0.0])
    front, back = (int(np.abs(CORNERS - [0.1, y, 0.1]).sum(axis=1).argmin()) for y in (-0.1, 0.1))
    find = viewer.panel.probe.find
    viewer.show(frame(0.0, readings=readings))
    assert find(origin, direction) == front
    readings[back] = 1.0  # it shines through the box
    viewer.show(frame(0.0, readings=readings.copy()))
    assert find(origin, direction) == back
    assert find(origin, direction, shining=False) == front
    readings[front] = 0.5
    viewer.show(frame(0.0, readings=readings.copy()))
    assert find(origin, direction) == front


def test_pinned_taxels_are_marked_in_the_scene(open_view):
    viewer = open_view(dataclasses.replace(SCENE, taxel_ids=np.arange(8) + 40))
    viewer.show(frame(1.0, readings=np.ones(8)))
    viewer.panel.probe.pin(3)

    def mark():
        return viewer.server.scene.get_handle_by_name("/pinned_taxel_3")

    assert mark().text == "#43"
    assert mark().position == pytest.approx(CORNERS[3] + [0, 0, 1])
    viewer.panel.probe.draw(frame(2.0, readings=np.ones(8)))
    viewer.panel.probe.draw(frame(np.nan, readings=np.ones(8)))
    assert mark().position == pytest.approx(CORNERS[3] + [0, 0, 2])
    viewer.panel.probe.set_shown(np.array([False]))
    assert not mark().visible
    viewer.panel.probe.pin(3)
    assert mark() is None


def test_only_fixed_sheets_and_large_shapes_are_ground():
    sheet, block = box([0.5, 0.5, 0.001]), box([0.5, 0.5, 0.1])
    assert _is_ground(Shape("table", 0, *sheet, np.ones(4)))
    assert not _is_ground(Shape("sticker of a cube", 1, *sheet, np.ones(4)))
    assert not _is_ground(Shape("block", 0, *block, np.ones(4)))
    assert _is_ground(Shape("room", 1, *box([20.0, 20.0, 3.0]), np.ones(4)))
    black = np.array(dark_color(np.zeros(3), False, True))
    assert black.min() > 0.15 > max(dark_color(np.zeros(3), False, False))


def test_nan_poses_are_ignored(open_view):
    viewer = open_view(SCENE)
    viewer.show(frame(np.nan, fault="diverged"))
    assert viewer.server.scene.get_handle_by_name("/box").position.tolist() == [0.0, 0.0, 0.0]


def test_body_names_that_differ_in_a_slash_have_separate_nodes(open_view):
    shapes = tuple(Shape("", k, *box([1, 1, 1]), np.ones(4)) for k in (1, 2))
    server = open_view(ViewScene("", ("world", "a/b", "a_b"), shapes)).server
    assert server.scene.get_handle_by_name("/a_b_1") and server.scene.get_handle_by_name("/a_b_2")


def test_initial_camera_shows_the_whole_skin(open_view):
    viewer = open_view(SCENE)
    viewer.show(frame(3.0))
    camera = viewer.server.initial_camera
    assert camera.look_at == pytest.approx([0.0, 0.0, 3.0])
    radius = MARGIN * 0.1 * np.sqrt(3)
    assert np.linalg.norm(camera.position - camera.look_at) == pytest.approx(DISTANCE * radius)
    assert camera.position[2] > 3.0
    assert np.sin(camera.fov / 2) * DISTANCE > 0.99  # a sphere of this radius fits


def test_initial_camera_without_skin_shows_moving_shapes_or_else_all_but_the_ground():
    shapes = tuple(
        Shape("", body, vertices + place, faces, np.ones(4))
        for body, side, place in ((0, 20.0, 0.0), (0, 1.0, 5.0), (1, 0.2, 0.0))
        for vertices, faces in [box([side] * 3)]
    )
    movable, fixed = ViewScene("", ("world", "box"), shapes), ViewScene("", ("world",), shapes[:2])
    assert Viewpoint.of(movable, [frame(4.0)]).center == pytest.approx([0, 0, 4])
    assert Viewpoint.of(fixed, [frame(4.0)]).center == pytest.approx([5, 5, 5])
    assert Viewpoint.of(ViewScene("", ("world",)), [frame(0.0)]).radius == 1.0


def test_camera_of_the_scene_replaces_the_direction_of_its_name(open_view):
    viewer = open_view(replace(SCENE, cameras=(("top", np.array([0.0, 0.0, 2.0]), np.zeros(3)),)))
    viewer.show(frame(0.0))
    inputs = viewer.server.gui._gui_input_handle_from_uuid.values()
    names = [name for handle in inputs for name in getattr(handle, "options", ())]
    assert names.count("top") == names.count("side") == 1


def test_only_covered_feelers_are_drawn_by_default(open_view):
    scene = replace(
        SCENE,
        feeler_bodies=np.array([1, 1, 1]),
        feeler_positions=CORNERS[:3],
        feeler_normals=SCENE.taxel_normals[:3],
        feeler_lengths=np.array([0.1, 0.1, 0.1]),
    )
    viewer = open_view(scene)
    viewer.show(frame(0.0, free_lengths=np.array([0.1, 0.1, 0.1])))
    lines = viewer.server.scene.get_handle_by_name("/box/feelers")
    assert not lines.visible
    viewer = open_view(scene)
    viewer.show(frame(0.0, free_lengths=np.array([0.1, 0.04, 0.1])))
    lines = viewer.server.scene.get_handle_by_name("/box/feelers")
    assert lines.visible
    assert lines.points == pytest.approx(np.array([[CORNERS[1], CORNERS[1] + 0.1 * SCENE.taxel_normals[1]]]))


def test_surface_and_dots_share_their_vertices_and_bodies_without_triangles_have_dots(open_view):
    triangles = np.array([[0, 1, 2], [1, 3, 2]])
    server = open_view(replace(SCENE, taxel_triangles=triangles)).server
    surface, dots = map(server.scene.get_handle_by_name, ("/box/skin", "/box/skin/dots"))
    assert len(surface.vertices) == len(dots.points) == len(CORNERS)
    assert surface.faces.tolist() == triangles.tolist()
    assert (surface.visible, dots.visible) == (True, False)
    assert open_view(SCENE).server.scene.get_handle_by_name("/box/skin/dots").visible


def test_readings_without_contact_are_dark_and_larger_ones_brighter(open_view):
    viewer = open_view(replace(SCENE, taxel_triangles=np.array([[0, 1, 2]])))
    readings = np.array([0.0, 0.1, 0.5, 1.0, np.nan, -1.0, 1e-6, 5.0])
    viewer.show(frame(0.0, readings=readings, taxel_scale=1.0))
    drawn = viewer.server.scene.get_handle_by_name("/box/skin/dots").colors.astype(int)
    assert (drawn[[0, 4, 5, 6]] == NO_CONTACT).all()
    assert (np.diff(drawn[:4] @ [0.21, 0.72, 0.07]) > [150.0, 40.0, 25.0]).all()
    assert drawn[7].tolist() == drawn[3].tolist()
    logarithmic = colors(np.array([0.0, 0.01, 0.1, 1.0]), 1.0).astype(int)
    assert (np.diff(logarithmic @ [0.21, 0.72, 0.07]) > 50.0).all()


def test_scale_follows_the_largest_reading_and_falls_slowly():
    scale = ColorScale(1.0)
    assert scale.update(np.array([0.0, 3.0]), 0.0) == 5.0
    assert scale.update(np.zeros(2), DECAY * np.log(3.0 / 1.9)) == 2.0
    assert scale.update(np.zeros(2), 1e3) == pytest.approx(LEAST)
    scale.update(np.array([300.0]), 1e3)
    assert scale.update(np.array([0.5]), 1e3 + 1.0) == 10.0  # an impact; the load that remains stays visible
    assert scale.update(np.array([3.0]), 1e3, configured=7.0) == 7.0
    scale.chosen = 0.3
    assert scale.update(np.array([3.0]), 1e3, configured=7.0) == 0.3


def test_arrows_of_any_length_have_visible_shafts(open_view):
    viewer = open_view(SCENE)
    lengths = np.geomspace(0.005, 0.5, 5)
    ends = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, length]] for length in lengths])
    viewer.show(frame(0.0, arrows=ends, arrow_kinds=np.full(5, NORMAL)))
    nodes = [viewer.server.scene.get_handle_by_name(f"/forces_{k}") for k in range(len(LENGTHS))]
    shown = [(node, points) for node in nodes if node.visible for points in node.points]
    assert {round(float(points[1, 2]), 4) for _, points in shown} == {round(x, 4) for x in lengths}
    for node, points in shown:
        assert node.head_length < 0.5 * points[1, 2] or points[1, 2] < 0.01


def test_friction_is_one_arrow_unless_split_into_tangents():
    contact = np.zeros((1, Contacts.WIDTH))
    contact[0, Contacts.FRAME : Contacts.FRAME + 9] = np.eye(3).ravel()
    contact[0, Contacts.WRENCH : Contacts.WRENCH + 3] = 5.0, 3.0, 4.0
    still = np.zeros((1, 3)), np.eye(3)[None], np.array([0]), np.zeros((1, 6))
    ends, kinds, _ = force_arrows(contact, *still, 0.1)
    assert kinds.tolist() == [NORMAL, FRICTION]
    assert ends[:, 1] == pytest.approx(np.array([[0.5, 0.0, 0.0], [0.0, 0.3, 0.4]]))
    assert force_arrows(contact, *still, 0.1, True)[1].tolist() == [NORMAL, TANGENT1, TANGENT2]


def test_map_shows_the_readings_of_several_pads(open_view):
    two = replace(
        SCENE,
        skin_bodies=np.array([1, 1]),
        taxel_counts=np.array([4, 4]),
        pads=("left", "right"),
        taxel_spacings=np.array([0.05, 0.05]),
    )
    viewer = open_view(two)
    chart = viewer.panel.map
    viewer.panel.draw(frame(0.0, readings=np.zeros(8), taxel_scale=1.0))
    dark = chart.pixels.copy()
    viewer.panel.draw(frame(0.0, readings=np.eye(8)[5], taxel_scale=1.0, paused=True))
    lit = (chart.pixels != dark).any(axis=2)
    assert lit.any() and lit.mean() < 0.2

    def is_dark() -> bool:
        viewer.panel.draw_pending()
        return np.array_equal(chart.pixels, dark)

    viewer.panel.draw(frame(0.1, readings=np.zeros(8), taxel_scale=1.0))
    wait_until(is_dark)  # also without another frame
    assert open_view(SCENE).panel.map is None  # a single pad
