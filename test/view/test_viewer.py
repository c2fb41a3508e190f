"""The view without a browser; test_browser tests it in a browser."""

from __future__ import annotations

import socket
from dataclasses import replace

import numpy as np
import pytest

from tactile_sim import CommandError
from tactile_sim.view.content import ImageInfo, Shape, ViewFrame, ViewScene
from tactile_sim.view.panel.legend import legend
from tactile_sim.view.scene.active_taxels import MAX_RADIUS, MIN_RADIUS, SIZES
from tactile_sim.view.scene.primitives import box
from tactile_sim.view.scene.viewpoint import DISTANCE, MARGIN, Viewpoint
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint, announcement

CORNERS = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
SCENE = ViewScene(
    "a box",
    ("world", "box"),
    (Shape("box", 1, *box([0.2, 0.2, 0.2]), np.array([0.5, 0.5, 0.5, 1.0])),),
    skin_bodies=np.array([1]),
    taxel_counts=np.array([8]),
    taxel_positions=CORNERS,
    taxel_normals=CORNERS / np.linalg.norm(CORNERS, axis=1, keepdims=True),
    taxel_spacings=np.array([0.05]),
)


def frame(height, **fields):
    upright = np.array([[1.0, 0.0, 0.0, 0.0]] * 2)
    return ViewFrame(0.0, np.array([[0.0] * 3, [0.0, 0.0, height]]), upright, **fields)


@pytest.fixture
def view():
    opened = []

    def open_one(scene=SCENE, port=0, allow_other_port=False):
        opened.append(Viewer(scene, Endpoint(port=port, allow_other_port=allow_other_port), None))
        return opened[-1]

    yield open_one
    for viewer in opened:
        viewer.close()


def test_busy_port_is_an_error_that_names_it_and_the_option(view):
    first = view()
    port = int(first.url.rpartition(":")[2])
    with pytest.raises(CommandError, match=f"port {port} of 127.0.0.1 .*--port"):
        view(port=port)
    assert view().url != first.url


def test_next_free_port_is_used_if_allowed(view):
    first = view()
    port = int(first.url.rpartition(":")[2])
    second = view(port=port, allow_other_port=True)
    assert int(second.url.rpartition(":")[2]) > port


def test_images_are_updated_in_turn_and_all_at_once_while_paused(view):
    viewer = view(replace(SCENE, images=tuple(ImageInfo(1, 200, 200) for _ in range(60))))

    def updated():
        images = viewer.panel.images
        return sum(int(image.image.any()) for image in images)

    bright = tuple(np.random.default_rng(k).integers(1, 255, (200, 200), np.uint8) for k in range(60))
    viewer.panel.draw(frame(0.0, images=bright))
    assert 0 < updated() < 60
    viewer.panel.draw(frame(0.0, images=bright, paused=True))
    assert updated() == 60


def test_close_frees_the_port(view):
    first = view()
    port = int(first.url.rpartition(":")[2])
    first.close()
    assert view(port=port).url == first.url


def test_view_listens_only_at_its_host(view):
    port = int(view().url.rpartition(":")[2])
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), timeout=5):
        pass


@pytest.mark.parametrize(
    ("endpoint", "named"),
    [
        (Endpoint(port=70000), "70000"),
        (Endpoint("no.such.host.invalid", 0), "no.such.host.invalid"),
        (Endpoint("192.0.2.1", 0), "192.0.2.1"),  # RFC 5737: no machine has this address
        (Endpoint(port=0, token="a b"), "'a b'"),
    ],
)
def test_invalid_endpoint_is_an_error_that_names_the_value(endpoint, named):
    with pytest.raises(CommandError, match=named):
        endpoint.check()


@pytest.mark.parametrize(
    ("host", "reached"),
    [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]"), ("robot", "robot")],
)
def test_url_leads_to_the_view_from_this_machine(host, reached):
    assert Endpoint(host).url(8080) == f"http://{reached}:8080"
    assert Endpoint(host, token="t").url(8080) == f"http://{reached}:8080/?token=t"


def test_announcement_of_a_public_view_has_an_address_for_other_machines():
    assert announcement("127.0.0.1", "http://127.0.0.1:8080") == "web view: http://127.0.0.1:8080"
    line = announcement("0.0.0.0", "http://127.0.0.1:8080/?token=t")
    assert line.startswith("web view: http://127.0.0.1:8080/?token=t ")
    outward = line.rpartition("http://")[2].removesuffix(":8080/?token=t)")
    with socket.socket() as probe:
        probe.bind((outward, 0))  # an address of this machine


def test_only_the_first_frame_is_drawn_without_browsers(view):
    viewer = view()
    viewer.show(frame(1.0))
    viewer.show(frame(2.0))
    assert viewer.clients == 0
    assert viewer.server.scene.get_handle_by_name("/box").position.tolist() == [0.0, 0.0, 1.0]


def test_view_prints_nothing(view, capfd):
    view().close()
    assert capfd.readouterr() == ("", "")


def test_nan_poses_are_ignored(view):
    viewer = view()
    viewer.show(frame(np.nan, fault="diverged"))
    assert viewer.server.scene.get_handle_by_name("/box").position.tolist() == [0.0, 0.0, 0.0]


def test_body_names_that_differ_in_a_slash_have_separate_nodes(view):
    shapes = tuple(Shape("", k, *box([1, 1, 1]), np.ones(4)) for k in (1, 2))
    server = view(ViewScene("", ("world", "a/b", "a_b"), shapes)).server
    assert server.scene.get_handle_by_name("/a_b_1") and server.scene.get_handle_by_name("/a_b_2")


def test_initial_camera_shows_the_whole_skin(view):
    viewer = view()
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


def test_legend_has_the_unit_and_the_end_of_the_scale():
    assert "[N]" in legend(20.0, "N")
    assert "≥ 20" in legend(20.0, "N")
    assert "[m/s]" in legend(20.0, "m/s")


def test_only_covered_feelers_are_drawn_by_default(view):
    scene = replace(
        SCENE,
        feeler_bodies=np.array([1, 1, 1]),
        feeler_positions=CORNERS[:3],
        feeler_normals=SCENE.taxel_normals[:3],
        feeler_lengths=np.array([0.1, 0.1, 0.1]),
    )
    viewer = view(scene)
    viewer.show(frame(0.0, free_lengths=np.array([0.1, 0.1, 0.1])))
    lines = viewer.server.scene.get_handle_by_name("/box/feelers")
    assert not lines.visible
    viewer = view(scene)
    viewer.show(frame(0.0, free_lengths=np.array([0.1, 0.04, 0.1])))
    lines = viewer.server.scene.get_handle_by_name("/box/feelers")
    assert lines.visible
    assert lines.points == pytest.approx(np.array([[CORNERS[1], CORNERS[1] + 0.1 * SCENE.taxel_normals[1]]]))


def test_larger_readings_are_drawn_larger_and_at_the_body(view):
    viewer = view()
    viewer.show(frame(2.0, readings=np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.001001])))
    clouds = [viewer.server.scene.get_handle_by_name(f"/active_taxels_{k}") for k in range(SIZES)]
    weak, strong = (cloud for cloud in clouds if cloud.visible)
    assert strong.point_size / weak.point_size == pytest.approx(MAX_RADIUS / MIN_RADIUS)
    for cloud, k in ((strong, 1), (weak, 7)):
        assert np.linalg.norm(cloud.points - (CORNERS[k] + [0.0, 0.0, 2.0])) < SCENE.taxel_spacings[0]
