"""Engines by name, from this package and, through entry points, from other packages."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tactile_sim import ConfigError, config, engines
from tactile_sim.common.errors import EngineError
from tactile_sim.engines.registry import ENGINES, engine_names, engine_plugin

PROGRAM = """
import json
from tactile_sim import config, engines
from tactile_sim.common.errors import TactileSimError
from tactile_sim.simulation import Simulation

settings = config.from_mapping({"engine": "press", "press": {"mass": 0.5}})
simulation = Simulation(settings)
simulation.step(3000)
force = simulation.observe().wrenches[0, :3].tolist()

def error(function, *arguments):
    try:
        function(*arguments)
    except TactileSimError as error:
        return type(error).__name__, str(error)

loaded = engines.load("press", engine="press")
print(json.dumps({
    "engine": type(simulation.engine).__name__,
    "commander": type(simulation.commander).__name__,
    "motion": type(simulation.motion).__name__,
    "skin": [simulation.names.bodies[body] for body in simulation.skin_bodies],
    "force": force,
    "mass": settings.parameters()["press.mass"],
    "loaded": loaded.name,
    "mujoco": type(engines.load("touch_cube")).__name__,
    "errors": [
        error(config.from_mapping, {"engine": "pres"}),
        error(config.from_mapping, {"engine": "press", "press": {"mass": 0}}),
        error(config.from_mapping, {"engine": "press", "press": {"mas": 1}}),
        error(config.from_mapping, {"engine": "press", "scene": "hand"}),
        error(config.from_mapping, {"engine": "broken"}),
        error(config.from_mapping, {"engine": "empty"}),
        error(engines.load, "press", "press", 2),
    ],
}))
"""


def run(environment, folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=folder, capture_output=True, text=True
    )


def test_engine_of_another_package_runs(third_party, tmp_path):
    process = run(third_party, tmp_path, "-c", PROGRAM)
    assert process.returncode == 0, process.stderr
    told = json.loads(process.stdout)
    assert (told["engine"], told["commander"], told["motion"]) == ("PressEngine", "PressCommander", "Push")
    assert told["skin"] == ["scale"]
    # The weight of the ball and the force of its built-in motion.
    assert told["force"] == pytest.approx([0, 0, -(0.5 * 9.81 + 2)], abs=1e-3)
    assert (told["mass"], told["loaded"], told["mujoco"]) == (0.5, "press", "MujocoEngine")
    kinds, texts = zip(*told["errors"], strict=True)
    assert kinds == ("ConfigError",) * 4 + ("EngineError",) * 3
    facts = (
        ("'pres'", "'press'"),
        ("press.mass", "0"),
        ("press.mas", "'press.mass'"),
        ("scene", "press"),
        ("'broken'", "no_such_module"),
        ("'empty'", "press_engine:Settings"),
        ("'press'", "num_envs", "2"),
    )
    for words, text in zip(facts, texts, strict=True):
        assert all(word in text for word in words), text
        assert "\n" not in text


def test_engine_of_another_package_works_with_the_commands(third_party, tmp_path):
    (tmp_path / "press.yaml").write_text("/**: {ros__parameters: {engine: press, press: {mass: 0.5}}}\n")
    info = run(third_party, tmp_path, "-m", "tactile_sim", "info", "press.yaml")
    assert info.returncode == 0, info.stderr
    assert "scale" in info.stdout
    (tmp_path / "bad.yaml").write_text("/**: {ros__parameters: {engine: pres}}\n")
    check = run(third_party, tmp_path, "-m", "tactile_sim", "check", "bad.yaml")
    assert (check.returncode, check.stderr.count("\n")) == (2, 1)
    assert "'press'" in check.stderr


def test_shipped_engines_are_found():
    assert engine_names()[:3] == list(ENGINES) == ["mujoco", "motrix", "trifinger"]
    assert all(isinstance(engine_plugin(name), engines.EnginePlugin) for name in ENGINES)


@pytest.mark.parametrize("name", ["mujoko", "", None, ["mujoco"], np.nan])
def test_unknown_engine_is_one_error_with_the_nearest_name(name):
    with pytest.raises(EngineError) as error:
        engines.load("touch_cube", engine=name)
    assert "mujoco" in str(error.value)


def test_keys_of_an_engine_need_the_engine():
    with pytest.raises(ConfigError) as error:
        config.from_mapping({"scene": "hand", "trifinger": {"type": "fingeredu"}})
    assert "trifinger.type" in str(error.value)
    assert "'engine: trifinger'" in str(error.value)
    settings = config.from_mapping({"scene": "hand"})
    assert not [key for key in settings.parameters() if key.startswith("trifinger")]
