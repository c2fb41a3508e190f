"""``check`` warns of orientations that are the identity in the order w x y z."""

from __future__ import annotations

import pytest

from tactile_sim import config
from tactile_sim.commands import main
from tactile_sim.common.files import shipped_names
from tactile_sim.config.review import swapped_quaternions

BODY = '<mujoco><worldbody><body name="tip"><geom type="box" size=".02 .02 .01"/></body></worldbody></mujoco>'
TEXT = """
/**:
  ros__parameters:
    robots: {{arm: {{file: arm.xml, orientation: {robot}}}}}
    objects: {{ball: {{shape: sphere, size: [0.02], position: [1.0, 0.0, 0.0], orientation: {ball}}}}}
    skin: {{pads: {{p: {{body: tip, grid: {{rows: 2, columns: 2, pitch: [0.004, 0.004]}},
      position: [0.0, 0.0, 0.01], orientation: {pad}}}}}}}
"""


@pytest.mark.parametrize(
    ("robot", "ball", "pad", "keys"),
    [
        (
            [1.0, 0.0, 0.0, 0.0],
            [-1.0, 0.0, 0.0, 0.0],
            [2.0, 0.0, 0.0, 0.0],
            ["robots.arm", "objects.ball", "p"],
        ),
        ([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], []),
        ([3.1416, 0.0, 0.0], [0.7, 0.0, 0.0, 0.7], [0.7, 0.0, 0.0, 0.7], []),
    ],
)
def test_check_warns_of_the_identity_in_the_other_order(robot, ball, pad, keys, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.xml").write_text(BODY)
    (tmp_path / "my.yaml").write_text(TEXT.format(robot=robot, ball=ball, pad=pad))
    assert main(["check", "my.yaml"]) == 0
    lines = [line for line in capfd.readouterr().out.splitlines() if "order is" in line]
    named = [line.split(": ")[1].removesuffix(".orientation").removeprefix("skin.pads.") for line in lines]
    assert sorted(named) == sorted(keys)


@pytest.mark.parametrize("name", shipped_names("config"))
def test_shipped_configurations_have_no_such_orientation(name):
    assert not list(swapped_quaternions(config.load(name)))
