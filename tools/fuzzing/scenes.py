"""Generate invalid scenes: MJCF and URDF with changed elements, attributes, text, references and meshes."""

from __future__ import annotations

import copy
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from random import Random

from fuzzing import configurations, values

MJCF = """<mujoco model="m">
  <compiler meshdir="meshes"/>
  <option timestep="0.002" gravity="0 0 -9.81"/>
  <size memory="10M"/>
  <default><default class="soft"><geom friction="1 .01 .01" rgba="1 0 0 1"/></default></default>
  <asset>
    <mesh name="stl" file="a.stl"/><mesh name="obj" file="b.obj" scale="1 1 1"/>
    <mesh name="own" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/>
    <texture name="t" type="2d" builtin="checker" width="16" height="16" rgb1="0 0 0" rgb2="1 1 1"/>
    <texture name="p" type="2d" file="map.png"/><material name="mat" texture="t"/>
    <hfield name="hills" nrow="3" ncol="3" size="1 1 .1 .1" elevation="0 1 0 1 2 1 0 1 0"/>
    <model name="other" file="other.xml"/>
  </asset>
  <include file="part.xml"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" material="mat"/><light pos="0 0 2"/>
    <camera name="eye" pos="0 0 3"/>
    <geom type="hfield" hfield="hills" pos="5 0 -1"/>
    <body name="cube" pos="0 0 .1"><freejoint name="free"/>
    <geom name="box" type="box" size=".05 .05 .05" class="soft"/>
      <site name="spot" size=".1"/><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/></body>
    <body name="arm" pos="1 0 .5" euler="10 20 30"><joint name="elbow" range="-1 1" damping=".1"/>
      <geom type="capsule" size=".05 .1"/><geom type="mesh" mesh="stl"/>
      <geom type="mesh" mesh="obj" contype="1"/>
      <body name="hand" pos="0 0 .2"><joint name="wrist" type="slide" axis="1 0 0"/>
      <geom type="mesh" mesh="own"/>
        <geom type="ellipsoid" size=".01 .02 .03"/><geom type="cylinder" fromto="0 0 0 0 0 .1" size=".02"/>
        </body></body>
    <replicate count="2" euler="0 0 90"><body name="r" pos="2 0 0"><geom size=".1"/></body></replicate>
    <frame pos="0 3 0"><body name="framed"><geom size=".1" mass="1"/></body></frame>
    <attach model="other" body="b" prefix="o_"/>
    <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" mass="1" pos="0 -3 1"/>
  </worldbody>
  <contact><pair geom1="box" geom2="floor"/><exclude body1="arm" body2="hand"/></contact>
  <tendon><spatial name="string"><site site="spot"/><site site="far"/></spatial></tendon>
  <equality><weld body1="arm" body2="framed" active="false"/></equality>
  <actuator><position name="servo" joint="elbow" kp="10"/><motor joint="wrist" ctrlrange="-1 1"/>
    <general joint="elbow" dyntype="integrator" gainprm="1"/></actuator>
  <sensor><touch name="press" site="spot"/><contact name="grip" geom1="box" data="found force" num="2"/>
    <rangefinder site="spot"/><jointpos joint="elbow"/><user dim="3"/>
    <camprojection site="spot" camera="eye"/></sensor>
  <keyframe><key name="home" time="0"/></keyframe>
</mujoco>"""
PART = '<mujoco><worldbody><site name="far" pos="0 0 1"/></worldbody></mujoco>'
OTHER = '<mujoco><worldbody><body name="b"><joint/><geom size=".1"/></body></worldbody></mujoco>'
URDF = """<robot name="r">
  <mujoco><compiler balanceinertia="true"/></mujoco>
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
  </inertial>
    <visual><geometry><mesh filename="meshes/a.stl"/></geometry><material name="red"/></visual>
    <collision><origin xyz="0 0 .1" rpy="0 0 0"/><geometry><box size=".1 .1 .1"/></geometry></collision>
    </link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
  </inertial>
    <collision><geometry><mesh filename="meshes/b.obj" scale="1 1 1"/></geometry></collision></link>
  <link name="tip"><collision><geometry><sphere radius=".05"/></geometry></collision>
    <collision><geometry><cylinder radius=".05" length=".1"/></geometry></collision></link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/><dynamics damping=".1"/></joint>
  <joint name="fixed" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0 0 .3" rpy="0 0 0"/>
  </joint>
  <joint name="mimic" type="prismatic"><parent link="arm"/><child link="end"/><mimic joint="elbow"/></joint>
  <link name="end"><collision><geometry><mesh filename="package://tactile_sim/scenes/assets/worm_lower.obj"/>
  </geometry>
    </collision></link>
</robot>"""
_NUMBERS = (
    "0", "-1", "1", "3", "1e-30", "1e-300", "1e6", "1e10", "1e20", "1e200", "1e308", "inf", "-inf", "nan",
    "1000", "2147483647", "2147483648", "-2147483649", "4294967296", "9999999999999999999", "1e400", "100000",
)  # fmt: skip
_OBJ_LINES = (
    "f 1 2 3000000000", "f -1 -2 -3", "f 0 0 0", "f 1 1 1", "f 1", "f 1/9 2/9 3/9", "v nan 0 0",
    "v 1e300 0 0", "vt", "o " + "x" * 100_000, "f " + "1 " * 10_000, "mtllib /dev/zero", "mtllib fifo",
    "l 1 2", "curv 1", "\\",
)  # fmt: skip
_REFERENCES = (
    "scene.xml",
    "../scene.xml",
    "part.xml",
    "other.xml",
    "../other.xml",
    "a.stl",
    "b.obj",
    "map.png",
    "my.yaml",
)
_WORDS = (
    "sphere", "mesh", "sdf", "hfield", "free", "ball", "slide", "user", "fixed", "auto", "true", "box",
    "plane", "trilinear", "cube", "hand", "stl", "own", "world", "elbow", "spot", "other", "soft", "main",
    "grid", "gmsh", "rope", "2d", "skybox",
)  # fmt: skip


def make(random: Random, folder: Path) -> list[str]:
    """Write a random scene and its configuration into a folder and return the command's arguments."""
    urdf = random.random() < 0.25
    _meshes(random, folder)
    texts = {
        "part.xml": PART,
        "other.xml": OTHER,
        "scene.urdf" if urdf else "scene.xml": URDF if urdf else MJCF,
    }
    changed = random.choice([list(texts)[-1]] * 6 + list(texts))
    for name, text in texts.items():
        data = text.encode()
        if name == changed and random.random() < 0.65:
            data = _changed(random, text)
        elif name == changed:
            data = values.damaged(random, data)
        (folder / name).write_bytes(data)
    if random.random() < 0.15:
        for kind in ("fifo", "loop", "dangling", "folder", "sparse", "empty", "noise"):
            values.special_file(random, folder / kind, kind)
    if random.random() < 0.05:
        values.special_file(random, folder / random.choice(list(texts)), random.choice(values.SPECIAL))
    scene = list(texts)[-1]
    bodies = ["arm", "tip", "*"] if urdf else ["cube", "arm", "hand", "framed", "*"]
    spacing = random.choice(["0.03", "0.03", "0.5", "0.005"])
    lines = [f"scene: {scene}", f'skin: {{scales: {{"{random.choice(bodies)}": {spacing}}}}}']
    if random.random() < 0.2:
        lines.append("feelers: {cube: {spacing: 0.05}}")
    if random.random() < 0.1:
        lines.append("engine: motrix")
    (folder / "my.yaml").write_text("/**:\n  ros__parameters:\n" + "".join(f"    {line}\n" for line in lines))
    return [random.choice(["check", "check", "check", "info"]), "my.yaml"]


def _changed(random: Random, text: str) -> bytes:
    """Return the XML text with some elements and attributes changed."""
    root = ElementTree.fromstring(text)
    for _ in range(random.choice([1, 1, 1, 2, 3, 6])):
        elements = list(root.iter())
        element = random.choice(elements)
        kind = random.random()
        if kind < 0.6 and element.attrib:
            _change_attribute(random, element)
        elif kind < 0.7:
            element.set(
                random.choice(["name", "class", "file", "type", "pos", "size", "mass", "user"]),
                _attribute(random),
            )
        elif kind < 0.8 and len(element):
            element.remove(random.choice(list(element)))
        elif kind < 0.95:
            other = random.choice(elements)
            copies = random.choice([1, 1, 1, 3, 100]) if len(elements) < 300 else 1
            if element is not root and len(list(element.iter())) < 100:
                other.extend([copy.deepcopy(element) for _ in range(copies)])
        else:
            element.tag = random.choice(
                [other.tag for other in elements] + ["nothing", "xacro:if", "include", "model"]
            )
    data = ElementTree.tostring(root, encoding="unicode") if random.random() > 0.02 else text
    if random.random() < 0.02:
        depth = random.choice([100, 5000, 100_000])
        data = data.replace("<body", "<body>" * depth + "<body", 1).replace(
            "</body>", "</body>" * (depth + 1), 1
        )
    if random.random() < 0.03:
        data = (
            '<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
            + data.replace("cube", "&b;")
        )
    return data.encode("utf-8", "surrogatepass")


def _change_attribute(random: Random, element: ElementTree.Element) -> None:
    """Change the value of a random attribute, often only one of the words in it."""
    name = random.choice(list(element.attrib))
    words = element.attrib[name].split()
    if words and random.random() < 0.5:
        words[random.randrange(len(words))] = random.choice(_NUMBERS if words[0][-1:].isdigit() else _WORDS)
        element.attrib[name] = " ".join(words)
    elif "file" in name and random.random() < 0.8:
        element.attrib[name] = random.choice([*_REFERENCES, *values.ADDRESSES])
    else:
        element.attrib[name] = _attribute(random)
    element.attrib[name] = "".join(c for c in element.attrib[name] if c.isprintable())


def _attribute(random: Random) -> str:
    kind = random.random()
    if kind < 0.4:
        return " ".join(random.choice(_NUMBERS) for _ in range(random.choice([1, 2, 3, 4, 7, 1000])))
    return (
        random.choice(_WORDS) if kind < 0.7 else values.text(random).replace("\0", "").replace("\ud800", "")
    )


def _meshes(random: Random, folder: Path) -> None:
    """Write the meshes and the image that the scenes refer to, some of them damaged."""
    (folder / "meshes").mkdir()
    corners = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    numbers = [
        float(n)
        for face in faces
        for corner in (-1, *face)
        for n in (corners[corner] if corner >= 0 else (0, 0, 0))
    ]
    obj = [f"v {x} {y} {z}" for x, y, z in corners] + [f"vt {x} {y}" for x, y, _ in corners]
    obj += [f"f {a + 1}/{a + 1} {b + 1}/{b + 1} {c + 1}/{c + 1}" for a, b, c in faces]
    count = len(faces)
    if random.random() < 0.2:
        extreme = float(random.choice(_NUMBERS[:-3]))
        numbers[random.randrange(len(numbers))] = (
            max(-3e38, min(3e38, extreme)) if abs(extreme) < 1e300 else extreme
        )
        obj[random.randrange(len(obj))] = random.choice(_OBJ_LINES)
        count = random.choice([count, 0, 5, 199_999, 2**31, 2**32 - 1])
    body = struct.pack(f"<{len(numbers)}f", *(n if abs(n) < 3e38 else n * 0 for n in numbers))
    triangles = b"".join(body[k : k + 48] + b"\0\0" for k in range(0, len(body), 48))
    files = {
        "meshes/a.stl": bytes(80) + struct.pack("<I", count) + triangles,
        "meshes/b.obj": "\n".join(obj).encode(),
        "map.png": _png(),
    }
    for name, data in files.items():
        (folder / name).write_bytes(values.damaged(random, data) if random.random() < 0.05 else data)
        if random.random() < 0.01:
            values.special_file(random, folder / name, random.choice(values.SPECIAL))


def _png() -> bytes:
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.frombytes("RGB", (8, 8), bytes(range(192))).save(file, "png")
    return file.getvalue()


warm_up: Callable[[Callable[[list[str]], int]], None] = configurations.warm_up
