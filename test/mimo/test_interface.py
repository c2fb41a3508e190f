"""Every public name in the documentation of MIMo's library exists here with the same arguments."""

from __future__ import annotations

import inspect
import math

import pytest
from support.touch import BALL, env_of, free, touching

from tactile_sim.mimo import plots
from tactile_sim.mimo.touch import DiscreteTouch, Touch, TrimeshTouch

ONE_CONTACT = "contact_id {0}"
BOTH = {
    "add_body": "body_id body_name scale",
    "has_sensors": "{0}",
    "get_sensor_count": "{0}",
    "get_contact_position_world": "contact_id",
    "get_contact_position_relative": ONE_CONTACT,
    "get_raw_force": ONE_CONTACT,
    "get_contact_normal": ONE_CONTACT,
    "force_vector": ONE_CONTACT,
    "force_vector_global": ONE_CONTACT,
    "get_contacts": "",
    "get_empty_sensor_dict": "size",
    "flatten_sensor_dict": "sensor_dict",
    "get_touch_obs": "",
    "spread_linear": f"{ONE_CONTACT} force",
    "nearest": f"{ONE_CONTACT} force",
}
METHODS = {
    DiscreteTouch: BOTH
    | {
        "add_geom": "geom_id geom_name scale",
        "get_total_sensor_count": "",
        "get_nearest_sensor": "contact_id geom_id",
        "get_k_nearest_sensors": "contact_id geom_id k",
        "get_sensors_within_distance": "contact_id geom_id distance",
        "normal": ONE_CONTACT,
        "plot_sensors_geom": "geom_id geom_name",
        "plot_force_geom": "geom_id geom_name",
        "plot_force_body": "body_id body_name",
    },
    TrimeshTouch: BOTH
    | {
        "sensing_bodies": "",
        "get_nearest_sensor": "contact_pos body_id",
        "get_k_nearest_sensors": "contact_pos body_id k k_margin",
        "get_sensors_within_distance": "contact_pos body_id distance_limit distance_margin",
        "normal_force": ONE_CONTACT,
        "plot_sensors_body": "body_id body_name title",
        "plot_force_body": "body_id body_name title",
        "plot_force_bodies": "body_ids body_names title focus show_contact_points",
        "plot_force_body_subtree": "body_id body_name title show_contact_points",
        "visualize_contacts_subtree": "root_id root_name show_contact_points focus_body camera_offset",
    },
}
ATTRIBUTES = {
    DiscreteTouch: "sensing_geoms",
    TrimeshTouch: "meshes active_vertices contact_tuples _submeshes _active_subvertices _vertex_to_sensor_idx"
    " _neighbour_cache",
}
OF_ALL = (
    "env sensor_scales touch_type touch_function touch_size response_type response_function sensor_positions"
    " sensor_outputs m_data m_model plotting_limits"
)
CASES = [(cls, name, arguments) for cls, methods in METHODS.items() for name, arguments in methods.items()]


@pytest.fixture(scope="module")
def env():
    return env_of(free("ball", BALL), steps=1)


@pytest.mark.parametrize("cls, name, arguments", CASES)
def test_methods_have_the_arguments_of_mimo(cls, name, arguments):
    own = "geom_id" if cls is DiscreteTouch else "body_id"
    parameters = list(inspect.signature(getattr(cls, name)).parameters.values())[1:]
    assert [parameter.name for parameter in parameters] == arguments.format(own).split()
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    if name.startswith("add"):
        assert list(defaults.values()) == [None, None, math.inf]


@pytest.mark.parametrize("cls", METHODS)
def test_attributes_of_mimo_exist(cls, env):
    touch = touching(cls, env, {"ball": 0.05})
    for name in f"{OF_ALL} {ATTRIBUTES[cls]}".split():
        assert getattr(touch, name) is not None
    assert isinstance(touch, Touch) and Touch.VALID_TOUCH_TYPES == {} and Touch.VALID_RESPONSE_FUNCTIONS == []
    assert {"force_vector": 3, "force_vector_global": 3}.items() <= cls.VALID_TOUCH_TYPES.items()
    assert cls.VALID_RESPONSE_FUNCTIONS[:2] == ["nearest", "spread_linear"]


PLOTS = [case for case in CASES if case[1].startswith(("plot", "visual"))]


@pytest.mark.parametrize("cls, name, arguments", PLOTS)
def test_plot_methods_call_the_plots_package(cls, name, arguments, env, monkeypatch):
    monkeypatch.setattr(plots, name, lambda *given: given)
    touch = touching(cls, env, {"ball": 0.05})
    given = {argument: object() for argument in arguments.split()}
    assert getattr(touch, name)(**given) == (touch, *given.values())
