"""Packages that use engines access them only through the engine protocol, never through MjData."""

from __future__ import annotations

import ast
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tactile_sim import CommandError
from tactile_sim.simulation import Simulation

PACKAGE = Path(__file__).resolve().parent.parent / "tactile_sim"
EXCEPTIONS = (
    "engines/",  # implements the protocol
    "trifinger/",  # FingerPhysics is internal to an engine; trifinger_simulation's API uses MjData
    "touch/",  # MIMo's API accepts a user's environment with MjData
)


def sources():
    """Yield the relative path and the syntax tree of each module that must not use MjData."""
    for file in PACKAGE.rglob("*.py"):
        name = file.relative_to(PACKAGE).as_posix()
        if not name.startswith(EXCEPTIONS):
            yield name, ast.parse(file.read_text(encoding="utf-8"))


def is_engine(node: ast.expr, aliases: set[str]) -> bool:
    """Return whether an expression is an engine, judging by its name or by an assignment."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name.strip("_") in ("engine", "worlds") or name in aliases


def aliases_of_engines(tree: ast.AST) -> set[str]:
    """Return the variables of a module to which an engine is assigned."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                targets, values = [target], [node.value]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    targets, values = target.elts, node.value.elts
                found |= {
                    each.id
                    for each, value in zip(targets, values, strict=False)
                    if isinstance(each, ast.Name) and is_engine(value, set())
                }
    return found


def test_no_package_above_engines_reads_the_data_of_an_engine():
    reads = []
    for name, tree in sources():
        aliases = aliases_of_engines(tree)
        reads += [
            f"{name}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr == "data" and is_engine(node.value, aliases)
        ]
    assert not reads


def test_only_feelers_of_a_model_without_an_engine_take_mjdata():
    takes = [
        f"{name}:{function.name}"
        for name, tree in sources()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for argument in ast.walk(function.args)
        if isinstance(argument, ast.arg) and argument.annotation
        if "MjData" in ast.unparse(argument.annotation)
    ]
    assert takes == ["feelers/feelers.py:read"]


class WithoutData:
    """An engine whose data cannot be read, like that of an engine on a GPU."""

    def __init__(self, engine):
        self._engine = engine

    def __getattr__(self, name):
        assert name != "data"
        return getattr(self._engine, name)


@pytest.mark.parametrize("name", ["touch_cube", "hand", "trifinger"])
def test_a_simulation_needs_no_mjdata(name):
    simulation, body = Simulation(name), {"touch_cube": "cube", "hand": "globe", "trifinger": "cube"}[name]
    simulation.engine = engine = WithoutData(simulation.engine)
    simulation.reset()
    simulation.step(20)
    state, free = np.empty(engine.state_size), simulation.names.body_id(body)
    engine.get_state(state)
    pose = engine.body_states([free])[0]
    simulation.push(free, np.array([0.0, 0.0, 1.0]))
    simulation.interaction.pull(free, np.zeros(3), pose[:3] + 0.1, 1.0)
    simulation.step(5)
    simulation.interaction.release()
    if joints := simulation.commander.joint_names:
        joint = joints[0]
        simulation.set_joints({joint: 0.1}, {joint: 0.0})
        simulation.command_joints({joint: 0.2})
        simulation.command_controls(np.zeros(engine.model.nu))
    if simulation.interaction.can_throw:
        simulation.throw()
    simulation.step(5)
    skin_body = int(simulation.skin_bodies[0])
    skin = simulation.skin
    simulation.interaction.press(skin_body, skin.positions[0], -skin.normals[0], 0.1)
    simulation.take_tare()
    simulation.step(5)
    seen = simulation.observe()
    assert seen.joint_states[0].shape == (len(simulation.commander.joint_names),)
    assert np.isfinite(seen.readings).all() and np.isfinite(seen.feelers).all()
    simulation.interaction.release()
    engine.set_state(state)
    np.testing.assert_array_equal(engine.body_states([free])[0], pose)


def test_an_engine_without_forces_on_bodies_rejects_pull_and_press():
    pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")
    spec = mujoco.MjSpec.from_string("""<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
        <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
        </worldbody></mujoco>""")
    simulation = Simulation(spec, {"engine": "motrix", "skin": {"scales": {"box": 0.05}}})
    point = np.array([0.0, 0.0, 0.1])
    with pytest.raises(CommandError):
        simulation.interaction.pull(1, point, point, 1.0)
    with pytest.raises(CommandError):
        simulation.interaction.press(1, point, np.array([0.0, 0.0, -1.0]), 1.0)
    assert not simulation.interaction.active
