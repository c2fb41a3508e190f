"""The C++ library: a program without Python reads the same skin, see docs/cpp.md."""

import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
from support.errors import raises

import tactile_sim
from tactile_sim.commands import main
from tactile_sim.common.errors import ConfigError
from tactile_sim.common.files import find_shipped
from tactile_sim.engines.contacts import read_contacts
from tactile_sim.simulation.export import export

HERE = Path(__file__).parent
STEPS = 250


def built(source: Path, build: Path) -> Path:
    prefixes = ";".join([sys.prefix, *tactile_sim.__path__])
    options = [f"-DCMAKE_PREFIX_PATH={prefixes}", f"-DPython_EXECUTABLE={sys.executable}"]
    for command in (["cmake", "-S", source, "-B", build, *options], ["cmake", "--build", build]):
        made = run(*command)
        assert made.returncode == 0, made.stdout + made.stderr
    return build


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    return built(HERE.parent / "examples" / "skin_cpp", tmp_path_factory.mktemp("build")) / "skin"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("config", "keys"),
    [("touch_cube", "      response_function: elastic_layer\n"), ("gripper", ""), ("infant", "")],
)
def test_cpp_program_reads_the_same_forces(config, keys, program, tmp_path):
    path = tmp_path / f"{config}.yaml"
    text = find_shipped("config", path.name).read_text()
    path.write_text(text.replace("    skin:\n", f"    skin:\n{keys}"))
    assert main(["export", str(path), str(tmp_path)]) == 0
    ran = run(program, tmp_path / "scene.mjb", tmp_path / "skin.layout", STEPS)
    assert ran.returncode == 0, ran.stderr
    printed = [np.array(line.split()[4:-1], float) for line in ran.stdout.splitlines()]
    simulation = tactile_sim.load(path)
    skin, model = simulation.skin, simulation.engine.model
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, STEPS)
    contacts = read_contacts(model, data)
    assert len(contacts) > 0
    poses = data.xpos, data.xmat.reshape(-1, 3, 3)
    functions = zip(simulation.functions.quantities, simulation.functions.responses, strict=True)
    for pad, function, seen in zip(skin.pads, functions, printed, strict=True):
        readings = skin.readings_from_contacts(contacts, *poses, *function)[pad.start : pad.stop]
        np.testing.assert_allclose(seen, readings.sum(axis=0), rtol=1e-8, atol=1e-9)


def test_files_that_do_not_fit_end_with_one_line(program, tmp_path):
    for config in ("touch_cube", "gripper"):
        export(tactile_sim.load(config), tmp_path / config)
    cube, skin = tmp_path / "touch_cube" / "scene.mjb", tmp_path / "gripper" / "skin.layout"
    content = skin.read_bytes()
    (cut, other, missing) = (tmp_path / name for name in ("cut", "other", "missing"))
    cut.write_bytes(content[: len(content) // 2])
    other.write_bytes(b"no skin")
    for layout in (skin, cut, other, missing):
        ran = run(program, cube, layout)
        assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)


def test_a_changed_byte_gives_an_error_or_a_valid_skin(tmp_path):
    program = built(HERE / "cpp", tmp_path / "build") / "damaged_layout"
    export(tactile_sim.load("gripper"), tmp_path)
    ran = run(program, tmp_path / "scene.mjb", tmp_path / "skin.layout", tmp_path / "copy", 2000)
    assert ran.returncode == 0, ran.stderr
    valid, invalid = map(int, ran.stdout.split())
    assert valid + invalid == 2000
    assert min(valid, invalid) > 100


def test_user_defined_functions_are_not_exported(tmp_path, monkeypatch):
    function = tactile_sim.skin.TouchFunction(channels=1, unit="N", evaluate=lambda loads: loads.force[:, :1])
    monkeypatch.setitem(tactile_sim.skin.TOUCH_FUNCTIONS, "own", function)
    simulation = tactile_sim.Simulation("touch_cube")
    simulation.update(simulation.settings.replace("skin.touch_function", "own"))
    with raises(ConfigError, "cube", "own"):
        export(simulation, tmp_path)
