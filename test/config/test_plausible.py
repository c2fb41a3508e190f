"""Warnings of `tactile_sim check` about values with a wrong unit."""

from __future__ import annotations

import pytest
import yaml
from support.command_line import commands_without_ros

from tactile_sim import config
from tactile_sim.common.files import shipped_names
from tactile_sim.config.review import implausible_values

WRONG = {
    "skin.sensor.*.gain.scatter": (50.0, ""),  # percent
    "skin.state.*.on_force": (500.0, " N"),  # mN
    "control.*.kp": (5e7, " N m/rad or N/m"),
    "grippers.hand.goal_tolerance": (1000.0, " m or rad"),
    "markers.contact_radius": (2000.0, " m"),
    "skin.scales.palm": (20.0, " m"),
    "skin.stiffness": (2.0, " Pa"),
    "skin.sensor.*.delay.time": (5.0, " s"),
}


@pytest.fixture(scope="module")
def warnings(tmp_path_factory):
    """Return the warnings of `check` for a wrong and a right value of each key."""
    folder = tmp_path_factory.mktemp("plausible")
    right = {"skin.stiffness": 2e5, "control.*.kp": 5.0, "skin.scales.palm": 0.02}
    right |= dict.fromkeys(WRONG.keys() - right.keys(), 0.01)
    files = []
    for name, values in (("wrong", {key: value for key, (value, _) in WRONG.items()}), ("right", right)):
        keys = {
            "scene": "hand.xml",
            "grippers.hand.joints": JOINTS,
            "skin.state.*.off_force": 0.005,
            **values,
        }
        files.append(folder / f"{name}.yaml")
        files[-1].write_text(yaml.safe_dump({"/**": {"ros__parameters": nested(keys)}}))
    results = commands_without_ros(*(["check", str(file)] for file in files))
    assert [code for code, *_ in results] == [0] * len(results), results
    return [
        [line for line in out.splitlines() if line.startswith("warning: ") and "usual range" in line]
        for _, out, _ in results
    ]


JOINTS = ["index_1"]


def nested(keys: dict) -> dict:
    """Return keys with dots as nested mappings."""
    tree: dict = {}
    for name, value in keys.items():
        *groups, leaf = name.split(".")
        place = tree
        for group in groups:
            place = place.setdefault(group, {})
        place[leaf] = value
    return tree


def test_implausible_values_are_named_with_their_units(warnings):
    wrong, *_ = warnings
    assert len(wrong) == len(WRONG)
    for name, (value, unit) in WRONG.items():
        [line] = [line for line in wrong if line.startswith(f"warning: {name}: ")]
        assert f" {value:g}{unit} " in line


def test_plausible_values_have_no_warning(warnings):
    assert not warnings[1]


@pytest.mark.parametrize("name", sorted(shipped_names("config")))
def test_shipped_configurations_are_plausible(name):
    assert not [*implausible_values(config.load(name))]
