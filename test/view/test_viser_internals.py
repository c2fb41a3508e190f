"""The view uses private names of viser; a new version of viser must be checked against them."""

import viser
from viser.infra._async_message_buffer import AsyncMessageBuffer

from tactile_sim.view.viser_internals import input_of, serving, uuid_of


def test_private_names_are_those_of_viser_1_1(open_view):
    """After an update of viser, check the other tests of test/view and the scripts in static/."""
    assert viser.__version__.startswith("1.1.")
    server = open_view().server
    text = server.gui.add_text("label", "")
    assert input_of(server, uuid_of(text)) is text
    assert "message_event" in AsyncMessageBuffer.__dataclass_fields__


def test_replaced_functions_of_websockets_are_restored():
    from websockets.asyncio import server

    plain = server.serve
    with serving(dict):
        assert server.serve is not plain
    assert server.serve is plain
