"""Test invalid arguments of plot functions, and which modules these functions import."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import pytest
from support.errors import raises
from support.plots import made

from tactile_sim import ConfigError, SceneError
from tactile_sim.mimo import plots
from tactile_sim.mimo.touch import DiscreteTouch, TrimeshTouch

import matplotlib.pyplot as plt  # isort: skip  # after plotting has selected the backend


@pytest.mark.parametrize(
    "kind, plot, arguments, facts",
    [
        (TrimeshTouch, "plot_force_body", {"body_name": "arn"}, ["'arn'", "'arm'"]),
        (TrimeshTouch, "plot_force_body", {"body_id": 99}, ["body", "99"]),
        (TrimeshTouch, "plot_force_body", {"body_id": "arm"}, ["body_id", "'arm'"]),
        (TrimeshTouch, "plot_sensors_body", {}, ["body_id", "body_name"]),
        (TrimeshTouch, "plot_sensors_body", {"body_name": "bare"}, ["'bare'", "arm"]),
        (TrimeshTouch, "plot_force_body_subtree", {"body_name": "bare"}, ["'bare'"]),
        (TrimeshTouch, "plot_sensors_geom", {"geom_name": "upper"}, ["TrimeshTouch"]),
        (TrimeshTouch, "plot_force_bodies", {}, ["body_ids", "body_names"]),
        (TrimeshTouch, "visualize_contacts_subtree", {"root_name": "arm", "focus_body": "tap"}, ["'tip'"]),
        (DiscreteTouch, "plot_force_geom", {"geom_name": "floor"}, ["'floor'"]),
        (DiscreteTouch, "plot_sensors_geom", {"geom_name": "upepr"}, ["'upper'"]),
    ],
)
def test_unknown_part_is_rejected(env, kind, plot, arguments, facts):
    with raises(SceneError, *facts):
        getattr(plots, plot)(made(env, kind), **arguments)
    assert plt.get_fignums() == []


def test_invalid_focus_and_camera_offset_are_rejected(env):
    with raises(ConfigError, "focus", "'wolrd'", "'world'"):
        plots.plot_force_bodies(made(env), body_names=["arm"], focus="wolrd")
    with raises(ConfigError, "body_names", "'arm'"):
        plots.plot_force_bodies(made(env), body_names="arm")
    with raises(ConfigError, "camera_offset", "(2,)"):
        plots.visualize_contacts_subtree(made(env), root_name="arm", camera_offset=[0, 1])


def test_plot_requires_mj_forward(env):
    touch = made(env)
    touch.m_data = mujoco.MjData(env.model)
    with raises(SceneError, "mj_forward"):
        plots.plot_force_bodies(touch, body_names=["arm"])


def test_touch_does_not_import_matplotlib_and_plots_keep_the_backend():
    code = """if True:
        import sys
        import tactile_sim.mimo.touch
        assert "matplotlib" not in sys.modules
        import matplotlib
        matplotlib.use("svg")
        import tactile_sim.mimo.plots
        assert matplotlib.get_backend() == "svg"
    """
    subprocess.run([sys.executable, "-c", code], check=True)
