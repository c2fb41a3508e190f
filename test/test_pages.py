"""The pages in docs/ are true: their links lead somewhere, and what they show runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tactile_sim.cli import main

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def text(page: str) -> str:
    """A page."""
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """What stands in a page's fences of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text(page), re.DOTALL | re.MULTILINE)


def write_files(page: str, folder: Path) -> None:
    """Writes the files of a page: fences that come after a name such as `arm.yaml`:"""
    pattern = r"^`([\w.]+)`:(?:(?!```).)*?^```\w+\n(.*?)^```"
    for name, content in re.findall(pattern, text(page), re.DOTALL | re.MULTILINE):
        (folder / name).write_text(content)


def anchors(file: Path) -> set[str]:
    """Where links into a page may lead."""
    heads = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_the_index_names_every_page():
    named = set(re.findall(r"\]\(([\w]+\.md)\)", text("index.md")))
    assert named == {page.name for page in PAGES} - {"index.md"}


def test_the_map_of_the_house_names_every_folder():
    rows = re.findall(r"^\| (`.*/`) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    folders = {init.parent.name for init in (ROOT / "tactile_sim").glob("*/__init__.py")}
    assert set(re.findall(r"`(\w+)/`", " ".join(rows))) == folders


def test_a_skin_on_ones_own_robot(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_files("own_robot.md", tmp_path)
    commands = [
        line.split("#")[0].split()
        for block in blocks("own_robot.md", "bash")
        for line in block.splitlines()
        if line.startswith("tactile_sim")
    ]
    assert len(commands) == 6
    for command in commands:
        assert main(command[1:]) == 0
    said = capsys.readouterr().out
    assert all(f"{name}.yaml: fine" in said for name in ("gripper", "probe", "table"))
    (code,) = blocks("own_robot.md", "python")
    names: dict = {}
    exec(code, names)
    felt = [names["left"][1], names["right"][1]]
    # The fingers' inner faces are 39 mm from the middle, the cup's side 20 mm; the contact gives a little.
    np.testing.assert_allclose(felt, [100 * (0.04 - 0.019), -100 * (0.04 - 0.019)], rtol=0.05)
    pushed = names["simulation"].engine.data.actuator_force
    np.testing.assert_allclose(felt, [pushed[0], -pushed[1]], rtol=1e-3)


def test_a_controller_without_ros(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files("own_robot.md", tmp_path)
    *_, code = blocks("controllers.md", "python")
    names: dict = {}
    exec(code, names)
    assert 1.0 <= names["squeeze"] < 1.1


def test_the_start_in_python():
    (code,) = blocks("start.md", "python")
    names: dict = {}
    exec(code, names)
    np.testing.assert_allclose(
        names["simulation"].observe().forces_world.sum(axis=0), [0, 0, 9.81], atol=0.01
    )


def test_a_function_of_ones_own_is_known_by_its_name(tmp_path):
    write_files("own_function.md", tmp_path)
    code = (
        "from sliding import *; from tactile_sim import config; from tactile_sim.simulation import Simulation"
    )
    code += "; s = Simulation(config.load('rub.yaml')); s.step(60); t = s.observe().taxels"
    code += "; print(t.shape[1], (t >= 0).all(), main(['check', 'rub.yaml']))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[0].startswith("rub.yaml: fine")
    assert done.stdout.splitlines()[1] == "1 True 0"


def test_every_picture_of_the_pages_is_drawn_by_a_script_that_make_pictures_runs():
    shown = {
        Path(name).name
        for page in [*PAGES, ROOT / "README.md"]
        for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    (listed,) = re.findall(r"SCRIPTS=\((.*?)\)", (ROOT / "tools/pictures.bash").read_text(), re.DOTALL)
    assert shown
    assert all((ROOT / "tools" / f"{script}.py").exists() for script in listed.split())
    assert all((DOCS / "images" / name).exists() for name in shown)
