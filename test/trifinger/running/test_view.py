"""The web view of a robot that a program steps."""

import gc
import re
import urllib.request

from tactile_sim.trifinger import SimFinger


def served(url):
    """Return whether a page is served at a URL."""
    try:
        with urllib.request.urlopen(url, timeout=10) as page:
            return page.status == 200
    except OSError:
        return False


def test_view_is_served_until_the_robot_is_closed(capsys):
    finger = SimFinger("fingeredu", enable_visualization=True)
    url = re.fullmatch(r"web view: (http://127\.0\.0\.1:\d+)\n", capsys.readouterr().out)[1]
    assert served(url)
    finger.append_desired_action(finger.Action(torque=[0.1, 0.1, 0.1]))
    finger.close()
    assert not served(url)
    finger.close()  # closing twice is allowed
    finger.append_desired_action(finger.Action())


def test_view_ends_when_the_robot_is_deleted_also_after_an_edited_scene(capsys):
    finger = SimFinger("fingeredu", enable_visualization=True)
    finger.edit_scene(lambda spec: spec.worldbody.add_geom(name="ball", size=(0.01, 0, 0), pos=(0, 0, 0.4)))
    url = capsys.readouterr().out.split()[-1]
    thread = finger._view._thread
    assert served(url)
    del finger
    gc.collect()
    thread.join(timeout=10)
    assert not served(url)


def test_robot_without_a_view_can_be_closed():
    SimFinger("fingeredu").close()
