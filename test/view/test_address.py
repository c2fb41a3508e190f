"""The address of a view: host, port and URL."""

from __future__ import annotations

import socket

import pytest

from tactile_sim import CommandError
from tactile_sim.view.address import Endpoint, announcement


def test_busy_port_is_an_error_that_names_it_and_the_option(open_view):
    first = open_view()
    port = int(first.url.rpartition(":")[2])
    with pytest.raises(CommandError, match=f"port {port} of 127.0.0.1 .*--port"):
        open_view(port=port)
    assert open_view().url != first.url


def test_next_free_port_is_used_if_allowed(open_view):
    first = open_view()
    port = int(first.url.rpartition(":")[2])
    second = open_view(port=port, allow_other_port=True)
    assert int(second.url.rpartition(":")[2]) > port


def test_close_frees_the_port(open_view):
    first = open_view()
    port = int(first.url.rpartition(":")[2])
    first.close()
    assert open_view(port=port).url == first.url


def test_view_listens_only_at_its_host(open_view):
    port = int(open_view().url.rpartition(":")[2])
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), timeout=5):
        pass


@pytest.mark.parametrize(
    ("endpoint", "named"),
    [
        (Endpoint(port=70000), "70000"),
        (Endpoint("no.such.host.invalid", 0), "no.such.host.invalid"),
        (Endpoint("192.0.2.1", 0), "192.0.2.1"),  # an address that RFC 5737 reserves, so no machine has it
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
