"""Generate docs/api.md (the public Python names) and docs/reference.rst (docstrings): python tools/api.py."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import tactile_sim

DOCS = Path(__file__).resolve().parent.parent / "docs"
MEMBERS = {
    "Simulation": """step observe reset ctrl command_joints command_controls command_gripper
        command_trajectory set_joints set_body_state set_mocap_pose set_equality push throw take_tare update
        open_cameras time stamp""",
    "Snapshot": """stamp readings truth valid reading ideal_readings contacts all_contacts wrenches
        contact_state pad_table joint_states sensor_data feelers taxel_positions_world""",
    "Skin": """readings_from_contacts loads shares readings_from_loads body_wrenches nearest_taxels
        k_nearest_taxels taxels_within taxels_near_loads spread""",
    "SignalChain": "read peek tare restart valid history",
    "Batch": "step reset observe ctrl command_joints qpos qvel take_tare time device_array",
    "Observation": """readings truth reduced contacts wrenches contact_sensor joint_states sensor_data
        feelers""",
    "engines.Engine": """step reset time contacts get_contact_sensor get_contact_force_magnitude
        get_sensor_data get_sensor_value""",
    "feelers.Feelers": "read",
    "learning.TaskEnv": "reset step render",
    "learning.TaskVectorEnv": "reset step render",
}
"""Public members of classes, in the order of the page. Other members may change without notice."""
HEAD = """# Python API

`from tactile_sim import ...` gives the names below; other names may change without notice. `help(name)` and
the [reference](reference.rst), in the site of `make docs`, give arguments, shapes, units and errors.
`tactile_sim.msg` and `tactile_sim.srv` are the [messages and services](messages.md).

"""


def public() -> Iterator[tuple[Any, str, list[str]]]:
    """Yield the package and its public modules, each with the prefix of its names and the names in order."""
    shared = {name: getattr(tactile_sim, name) for name in tactile_sim.__all__}
    modules = [name for name, value in shared.items() if inspect.ismodule(value)]
    for prefix in ["", *(f"{name}." for name in modules)]:
        module = import_module(f"tactile_sim.{prefix}".rstrip("."))
        known = shared if prefix else ["__version__", *modules]
        names = [name for name in module.__all__ if name not in known]
        first = [name for name in MEMBERS if name in names] if not prefix else []
        yield module, prefix, [*first, *(name for name in names if name not in first)]


def page() -> str:
    """Return the page of names."""
    text = HEAD
    for module, prefix, names in public():
        if prefix:
            text += f"\n## {prefix[:-1]}\n\n{summary(module)}\n\n"
        if names:
            text += "| name | |\n|---|---|\n"
        for name in names:
            value = getattr(module, name)
            text += f"| **`{name}{signature(value)}`** | {summary(value)} |\n"
            for member in MEMBERS.get(prefix + name, "").split():
                found = inspect.getattr_static(value, member)
                text += f"| `.{member}{signature(found)}` | {summary(found)} |\n"
    return text


def reference() -> str:
    """Return the page of docstrings."""
    text = "Python reference\n================\n"
    for module, prefix, names in public():
        if prefix:
            text += f"\n{prefix[:-1]}\n{'-' * (len(prefix) - 1)}\n"
        for name in names:
            value, path = getattr(module, name), f"{module.__name__}.{name}"
            if inspect.isclass(value):
                members = ", ".join(MEMBERS.get(prefix + name, "").split())
                text += f"\n.. autoclass:: {path}\n" + f"   :members: {members}\n" * bool(members)
            elif inspect.isfunction(value):
                text += f"\n.. autofunction:: {path}\n"
    return text


def signature(value: Any) -> str:
    """Return the names of the arguments of a function; those with a default are followed by ``=``."""
    if not inspect.isfunction(value):
        return ""
    shown: list[str] = []
    for parameter in inspect.signature(value).parameters.values():
        star = "*" * (parameter.kind == parameter.VAR_POSITIONAL) + "**" * (
            parameter.kind == parameter.VAR_KEYWORD
        )
        if parameter.kind == parameter.KEYWORD_ONLY and not any(known.startswith("*") for known in shown):
            shown.append("*")
        shown.append(star + parameter.name + "=" * (parameter.default is not parameter.empty))
    return f"({', '.join(name for name in shown if name != 'self')})"


def summary(value: Any) -> str:
    """Return the first sentence of a docstring, or the keys of a mapping."""
    if isinstance(value, Mapping):
        return f"Mapping with the keys {', '.join(f'`{key}`' for key in value)}."
    if not (inspect.isroutine(value) or isinstance(value, type | property) or inspect.ismodule(value)):
        return ""
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()).replace("|", "\\|")
    text = re.split(r"(?<=[^.].\.) (?=[A-Z])", text)[0]
    return re.sub(r"(?::\w+:)?`+([^`]*)`+", r"`\1`", text)


PAGES = {DOCS / "api.md": page, DOCS / "reference.rst": reference}

if __name__ == "__main__":
    for file, make in PAGES.items():
        file.write_text(make(), encoding="utf-8")
