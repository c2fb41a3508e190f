"""What plots are asked for and cannot draw is told; and what they import."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import pytest
from plotting import made

from tactile_sim import ConfigError, SceneError, plots
from tactile_sim.touch import DiscreteTouch, TrimeshTouch

import matplotlib.pyplot as plt  # isort: skip  # after plotting has chosen the backend


@pytest.mark.parametrize(
    "kind, plot, arguments, told",
    [
        (TrimeshTouch, "plot_force_body", {"body_name": "arn"}, "no body named 'arn'; did you mean 'arm'"),
        (TrimeshTouch, "plot_force_body", {"body_id": 99}, "no body 99"),
        (TrimeshTouch, "plot_sensors_body", {}, "which body"),
        (TrimeshTouch, "plot_sensors_body", {"body_name": "bare"}, "'bare' has no sensors; there are: arm"),
        (TrimeshTouch, "plot_force_body_subtree", {"body_name": "bare"}, "'bare' has no sensors"),
        (TrimeshTouch, "plot_sensors_geom", {"geom_name": "upper"}, "TrimeshTouch are on bodies"),
        (TrimeshTouch, "plot_force_bodies", {}, "body_ids or body_names"),
        (TrimeshTouch, "visualize_contacts_subtree", {"root_name": "arm", "focus_body": "tap"}, "mean 'tip'"),
        (DiscreteTouch, "plot_force_geom", {"geom_name": "floor"}, "'floor' has no sensors; there are"),
        (DiscreteTouch, "plot_sensors_geom", {"geom_name": "upepr"}, "did you mean 'upper'"),
    ],
)
def test_what_does_not_exist_is_told(env, kind, plot, arguments, told):
    with pytest.raises(SceneError, match=told):
        getattr(plots, plot)(made(env, kind), **arguments)
    assert plt.get_fignums() == []


def test_what_cannot_be_an_argument_is_told(env):
    with pytest.raises(ConfigError, match=r"focus: there is no 'wolrd'; did you mean 'world'\?"):
        plots.plot_force_bodies(made(env), body_names=["arm"], focus="wolrd")
    with pytest.raises(ConfigError, match=r"camera_offset: three numbers .* shape \(2,\)"):
        plots.visualize_contacts_subtree(made(env), root_name="arm", camera_offset=[0, 1])


def test_before_the_first_forward_there_are_no_poses_to_plot(env):
    touch = made(env)
    touch.m_data = mujoco.MjData(env.model)
    with pytest.raises(SceneError, match="mj_forward"):
        plots.plot_force_bodies(touch, body_names=["arm"])


def test_only_plotting_imports_matplotlib_and_no_backend_is_chosen_for_the_user():
    code = """if True:
        import sys
        import tactile_sim.touch
        assert "matplotlib" not in sys.modules
        import matplotlib
        matplotlib.use("svg")
        import tactile_sim.plots
        assert matplotlib.get_backend() == "svg"
    """
    subprocess.run([sys.executable, "-c", code], check=True)
