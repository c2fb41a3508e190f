"""The view without a browser; with one: test_browser."""

from __future__ import annotations

import socket
from dataclasses import replace

import numpy as np
import pytest

from tactile_sim import CommandError
from tactile_sim.view.address import Endpoint, announcement
from tactile_sim.view.legend import legend
from tactile_sim.view.lit_taxels import LEAST, MOST
from tactile_sim.view.primitives import box
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.viewpoint import DISTANCE, SURROUNDINGS, Viewpoint
from tactile_sim.view.world import Moment, Picture, Shape, World

CORNERS = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
WORLD = World(
    "a box",
    ("world", "box"),
    (Shape("box", 1, *box([0.2, 0.2, 0.2]), np.array([0.5, 0.5, 0.5, 1.0])),),
    skin_bodies=np.array([1]),
    taxel_counts=np.array([8]),
    taxel_positions=CORNERS,
    taxel_normals=CORNERS / np.linalg.norm(CORNERS, axis=1, keepdims=True),
    taxel_spacings=np.array([0.05]),
)


def moment(height, **fields):
    upright = np.array([[1.0, 0.0, 0.0, 0.0]] * 2)
    return Moment(0.0, np.array([[0.0] * 3, [0.0, 0.0, height]]), upright, **fields)


@pytest.fixture
def view():
    opened = []

    def open_one(world=WORLD, port=0, allow_other_port=False):
        opened.append(Viewer(world, Endpoint(port=port, allow_other_port=allow_other_port), None))
        return opened[-1]

    yield open_one
    for viewer in opened:
        viewer.close()


def test_a_busy_port_is_named_with_the_remedy_and_the_next_user_takes_a_free_one(view):
    first = view()
    port = int(first.url.rpartition(":")[2])
    with pytest.raises(CommandError, match=f"port {port} of 127.0.0.1 .*--port"):
        view(port=port)
    assert view().url != first.url


def test_where_another_port_will_do_the_next_free_one_is_taken_and_told(view):
    first = view()
    port = int(first.url.rpartition(":")[2])
    second = view(port=port, allow_other_port=True)
    assert int(second.url.rpartition(":")[2]) > port


def test_many_images_are_renewed_in_turn_and_all_of_them_while_time_stands(view):
    pictures = tuple(Picture(1, 200, 200) for _ in range(60))
    viewer = view(replace(WORLD, pictures=pictures))

    def shown():
        images = viewer.panel.images
        return sum(int(image.image.any()) for image in images)

    bright = tuple(np.random.default_rng(k).integers(1, 255, (200, 200), np.uint8) for k in range(60))
    viewer.panel.draw(moment(0.0, pictures=bright))
    assert 0 < shown() < 60
    viewer.panel.draw(moment(0.0, pictures=bright, paused=True))
    assert shown() == 60


def test_the_port_is_free_again_after_the_view_is_closed(view):
    first = view()
    port = int(first.url.rpartition(":")[2])
    first.close()
    assert view(port=port).url == first.url


def test_only_the_given_address_listens(view):
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


def test_without_a_browser_the_first_moment_alone_is_drawn(view):
    viewer = view()
    viewer.show(moment(1.0))
    viewer.show(moment(2.0))
    assert viewer.clients == 0
    assert viewer.server.scene.get_handle_by_name("/box").position.tolist() == [0.0, 0.0, 1.0]


def test_nothing_is_printed(view, capfd):
    view().close()
    assert capfd.readouterr() == ("", "")


def test_a_moment_that_is_not_finite_leaves_bodies_where_they_were(view):
    viewer = view()
    viewer.show(moment(np.nan, fault="the physics broke"))
    assert viewer.server.scene.get_handle_by_name("/box").position.tolist() == [0.0, 0.0, 0.0]


def test_bodies_of_one_name_but_for_a_slash_are_two(view):
    shapes = tuple(Shape("", k, *box([1, 1, 1]), np.ones(4)) for k in (1, 2))
    world = World("", ("world", "a/b", "a_b"), shapes)
    server = view(world).server
    assert server.scene.get_handle_by_name("/a_b_1") and server.scene.get_handle_by_name("/a_b_2")


def test_at_first_the_camera_looks_at_the_skin_from_where_all_of_it_is_seen(view):
    viewer = view()
    viewer.show(moment(3.0))
    camera = viewer.server.initial_camera
    assert camera.look_at == pytest.approx([0.0, 0.0, 3.0])
    radius = SURROUNDINGS * 0.1 * np.sqrt(3)
    assert np.linalg.norm(camera.position - camera.look_at) == pytest.approx(DISTANCE * radius)
    assert camera.position[2] > 3.0
    assert np.sin(camera.fov / 2) * DISTANCE > 0.99  # a sphere of this radius fits


def test_without_skin_what_moves_is_looked_at_and_without_that_all_but_the_ground():
    shapes = tuple(
        Shape("", body, vertices + place, faces, np.ones(4))
        for body, side, place in ((0, 20.0, 0.0), (0, 1.0, 5.0), (1, 0.2, 0.0))
        for vertices, faces in [box([side] * 3)]
    )
    assert Viewpoint.of(World("", ("world", "box"), shapes), [moment(4.0)]).center == pytest.approx([0, 0, 4])
    assert Viewpoint.of(World("", ("world",), shapes[:2]), [moment(4.0)]).center == pytest.approx([5, 5, 5])
    assert Viewpoint.of(World("", ("world",)), [moment(0.0)]).radius == 1.0


def test_the_legend_names_the_unit_and_the_end_of_the_scale():
    assert "force of a taxel [N]" in legend(20.0, "N")
    assert "≥ 20" in legend(20.0, "N")
    assert "reading of a taxel [m/s]" in legend(20.0, "m/s")


def test_of_the_feelers_those_that_are_covered_are_drawn_at_first(view):
    world = replace(
        WORLD,
        feeler_bodies=np.array([1, 1, 1]),
        feeler_positions=CORNERS[:3],
        feeler_normals=WORLD.taxel_normals[:3],
        feeler_lengths=np.array([0.1, 0.1, 0.1]),
    )
    viewer = view(world)
    viewer.show(moment(0.0, feelers=np.array([0.1, 0.1, 0.1])))
    lines = viewer.server.scene.get_handle_by_name("/box/feelers")
    assert not lines.visible
    viewer = view(world)
    viewer.show(moment(0.0, feelers=np.array([0.1, 0.04, 0.1])))  # without a browser, the first is drawn
    lines = viewer.server.scene.get_handle_by_name("/box/feelers")
    assert lines.visible
    assert lines.points == pytest.approx(np.array([[CORNERS[1], CORNERS[1] + 0.1 * WORLD.taxel_normals[1]]]))


def test_what_is_felt_more_is_drawn_larger_and_where_the_body_is(view):
    viewer = view()
    viewer.show(moment(2.0, taxels=np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.001001])))
    clouds = [viewer.server.scene.get_handle_by_name(f"/lit_{k}") for k in range(6)]
    weak, strong = (cloud for cloud in clouds if cloud.visible)
    assert strong.point_size / weak.point_size == pytest.approx(MOST / LEAST)
    for cloud, k in ((strong, 1), (weak, 7)):
        assert np.linalg.norm(cloud.points - (CORNERS[k] + [0.0, 0.0, 2.0])) < WORLD.taxel_spacings[0]
