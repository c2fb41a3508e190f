"""A robot that a program steps, in the browser."""

import gc
import re
import urllib.request

from tactile_sim.trifinger import SimFinger


def served(address):
    """Whether a page is at an address."""
    try:
        with urllib.request.urlopen(address, timeout=10) as page:
            return page.status == 200
    except OSError:
        return False


def test_a_robot_is_shown_where_it_says_until_it_is_gone(capsys):
    finger = SimFinger("fingeredu", enable_visualization=True)
    address = re.fullmatch(r"web view: (http://127\.0\.0\.1:\d+)\n", capsys.readouterr().out)[1]
    assert served(address)
    finger.append_desired_action(finger.Action(torque=[0.1, 0.1, 0.1]))
    finger.close()
    assert not served(address)
    finger.close()  # once more is no fault
    finger.append_desired_action(finger.Action())


def test_the_view_ends_with_the_robot_and_shows_what_was_added(capsys):
    finger = SimFinger("fingeredu", enable_visualization=True)
    finger.edit_scene(lambda spec: spec.worldbody.add_geom(name="ball", size=(0.01, 0, 0), pos=(0, 0, 0.4)))
    address = capsys.readouterr().out.split()[-1]
    watcher = finger._view._watcher
    assert served(address)
    del finger
    gc.collect()
    watcher.join(timeout=10)
    assert not served(address)


def test_where_nothing_is_shown_nothing_is_closed():
    SimFinger("fingeredu").close()
