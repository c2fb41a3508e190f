"""Write a simulation's scene and skin to files for other programs, which core/src/layout.cpp reads."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import ConfigError
from tactile_sim.simulation import Simulation
from tactile_sim.skin.checks import checked_factor, find_touch, number_of
from tactile_sim.skin.responses import LAWS, RESPONSE_FUNCTIONS, THICK

MAGIC = b"tactile_sim skin 1\n"
SCENE, SKIN, SENSORS = "scene.mjb", "skin.layout", "skin.xml"
"""Names of the files."""


def load_mujoco_plugin() -> Path:
    """Register the sensor plugin ``tactile.skin`` with MuJoCo; return the path of its library."""
    library = Path(_core.__file__).parent / "lib" / "libtactile_plugin.so"
    mujoco.mj_loadPluginLibrary(str(library))
    return library


def export(simulation: Simulation, folder: Path) -> None:
    """Write the compiled scene and the skin to files in a folder, which is created if necessary.

    Args:
        simulation: The simulation.
        folder: Folder of the files ``scene.mjb``, for the same version of MuJoCo, ``skin.layout``, and
            ``skin.xml``, which adds a sensor of the plugin ``tactile.skin`` for each pad to an MJCF.

    Raises:
        ConfigError: A pad is on a flex, or its touch or response function is user-defined.
        OSError: A file cannot be written.
    """
    model, arrays = simulation.engine.model, skin_arrays(simulation)
    folder.mkdir(parents=True, exist_ok=True)
    mujoco.mj_saveModel(model, str(folder / SCENE))
    with (folder / SKIN).open("wb") as file:
        file.write(MAGIC)
        for name, content in arrays.items():
            data = content.encode() if isinstance(content, str) else np.ascontiguousarray(content).tobytes()
            file.write(f"{name} {len(data)}\n".encode() + data)
    (folder / SENSORS).write_text(sensors(simulation, (folder / SKIN).resolve()), encoding="utf-8")


def sensors(simulation: Simulation, layout: Path) -> str:
    """Return an MJCF with one sensor for each pad, to be included in the MJCF of the scene."""
    names = "".join(
        f'    <plugin name={quoteattr(f"tactile/{pad.name}")} instance="skin"/>\n'
        for pad in simulation.skin.pads
    )
    return f"""<mujoco>
  <extension>
    <plugin plugin="tactile.skin">
      <instance name="skin"><config key="layout" value={quoteattr(str(layout))}/></instance>
    </plugin>
  </extension>
  <sensor>
{names}  </sensor>
</mujoco>
"""


def skin_arrays(simulation: Simulation) -> dict[str, np.ndarray | str]:
    """Return the arrays and texts of a skin's file by name. `export` lists the errors."""
    skin, model, functions = simulation.skin, simulation.engine.model, simulation.functions
    if simulation.flex_pads:
        on_flexes = ", ".join(pad.name for pad in skin.pads if pad.flex >= 0)
        raise ConfigError(f"skin.pads: pads on flexes cannot be exported, got {on_flexes}")
    names = [model.body(body).name for body in range(model.nbody)]
    pads: list[str] = []
    keys: list[tuple[str, bytes]] = []
    factors: list[np.ndarray] = []
    for pad, touch, response in zip(skin.pads, functions.quantities, functions.responses, strict=True):
        function, quantity = find_touch(touch)
        law = number_of(RESPONSE_FUNCTIONS[response], LAWS)
        if law == THICK:
            skin.tabulate_layers()
        if quantity is None or law is None:
            name = touch if quantity is None else response
            raise ConfigError(f"pad {pad.name}: user-defined functions cannot be exported, got {name!r}")
        line = f"{quantity} {law} {int(function.mean)} {int(function.frame == 'taxel')}"
        factor = checked_factor(skin, function.factor) if function.factor else np.empty(0)
        key = line, factor.tobytes()
        if key not in keys:
            keys.append(key)
            factors.append(factor)
        pads.append(
            f"{pad.name}\t{names[pad.body_id]}\t{touch}\t{function.unit}\t"
            f"{pad.start} {pad.stop} {function.channels} {keys.index(key)}"
        )
    taxels, solids = skin.quadrature, skin.solids
    return {
        "bodies": "\n".join(names) + "\n",
        "pads": "\n".join(pads),
        "functions": "\n".join(line for line, _ in keys),
        **{f"factors{k}": factor for k, factor in enumerate(factors)},
        "positions": skin.surface_positions,
        "normals": skin.normals,
        "axes": skin.axes,
        "extents": skin.extents,
        "begin": skin.neighbors[0],
        "neighbors": skin.neighbors[1],
        "along_surface": np.array([skin.along_surface], np.uint8),
        "patches": skin.native.patches,
        "patch_bodies": skin.patch_bodies,
        "geoms": skin._geoms,
        "slots": skin._slot,
        "bodies_with_skin": np.array([len(skin.body_ids)]),
        "elastic_taxels": taxels.taxels,
        "place": taxels.place,
        "points": taxels.points,
        "beside": taxels.beside,
        "nodes": taxels.nodes,
        "node_normals": taxels.node_normals,
        "roots": taxels.roots,
        "solids": solids.table,
        "corners": solids.corners,
        "mesh_nodes": solids.nodes,
        **({"layers": skin.layers} if len(skin.layers) else {}),
    }
