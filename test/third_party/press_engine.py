"""An example of an engine defined in another package: a ball that rests on a scale."""

from dataclasses import dataclass

import mujoco
import numpy as np

from tactile_sim.common.schema import Number, parameter
from tactile_sim.control.commander import Commander
from tactile_sim.engines import EnginePlugin, EngineTopic, MujocoEngine

SCENE = """
<mujoco>
  <worldbody>
    <body name="scale" pos="0 0 0.05"><geom name="scale" type="box" size="0.05 0.05 0.05"/></body>
    <body name="ball" pos="0 0 0.13"><joint name="lift" type="slide" axis="0 0 1" damping="5"/>
      <geom name="ball" size="0.03" mass="{mass}"/></body>
  </worldbody>
</mujoco>
"""


@dataclass(frozen=True)
class Settings:
    """``press.*``: mass of the ball."""

    mass: float = parameter(Number(above=0, unit="kg"), "mass of the ball [kg]", 1.0)


class PressEngine(MujocoEngine):
    """The MuJoCo engine under a different name."""

    name = "press"


class PressCommander(Commander):
    """The commander for this engine; it has the same behaviour as the default commander."""


class Push:
    """A motion that presses the ball with 2 N until a command arrives."""

    interval = 0.0

    def act(self, engine):
        """Press the ball down with 2 N; the simulation calls this before each step."""
        engine.qfrc_applied[:] = -2.0

    def restart(self):
        """Do nothing, because the motion has no state."""


class PressPlugin(EnginePlugin):
    """A plugin that registers the engine."""

    Settings = Settings

    def make_engine(self, spec, model, options, bodies):
        """Return an engine that simulates the compiled scene."""
        return PressEngine(model)

    def scene_name(self, options):
        """Return the name of the only scene; the configuration needs no ``scene``."""
        return "press"

    def make_scene(self, name, options, where):
        """Return the scene with the configured mass, or with 1 kg without a configuration."""
        return mujoco.MjSpec.from_string(SCENE.format(mass=options.mass if options else 1.0))

    def default_scales(self, options):
        """Return taxel spacings by body, so that the body ``scale`` has skin."""
        return {"scale": 0.02}

    def make_commander(self, engine, names, gains, where):
        """Return the commander for the ball's joint."""
        return PressCommander(engine.model, names)

    def make_motion(self, engine, options):
        """Return the motion that runs until a command arrives."""
        return Push()

    def topics(self, engine):
        """Return a topic with the ball's height [m], in single precision to test its conversion."""
        position = engine.qpos
        return [
            EngineTopic(
                "joint_states",
                "sensor_msgs/msg/JointState",
                "press/height",
                "position",
                lambda: position.astype(np.float32),
                {"name": ["ball"]},
            )
        ]
