"""The services of ``simulation_interfaces``, called from a second process."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")
pytest.importorskip(
    "simulation_interfaces",
    reason="simulation_interfaces is not installed: apt has it for a ROS installation",
)

from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from simulation_interfaces import srv  # noqa: E402
from simulation_interfaces.msg import (  # noqa: E402
    Bounds,
    EntityCategory,
    EntityFilters,
    EntityState,
    Result,
    SimulationState,
    SimulatorFeatures,
    TagsFilter,
)
from std_msgs.msg import Header  # noqa: E402
from support.ros import PATIENCE, Ros, wait_for  # noqa: E402

from tactile_sim.ros import cdr  # noqa: E402

SCENE = """
<mujoco><option timestep="0.002" integrator="Euler"/><worldbody>
  <body name="table"><geom type="box" size="2 2 .05" pos="0 0 -.05"/></body>
  <body name="box" pos="0 0 2"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="arm" pos="1 0 1"><joint name="hinge" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02"/></body>
</worldbody></mujoco>"""
UPRIGHT = Quaternion(w=1.0)


def serving(folder):
    """Start a paused node; return the `Ros` that communicates with it, and the node's process."""
    made = Ros(folder)
    scene = made.folder / "scene.xml"
    scene.write_text(SCENE)
    return made, made.run(scene=str(scene), skin={"scales": {"box": 0.05}}, start_paused=True)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Yield the `Ros` of a node that all tests share."""
    made, _ = serving(tmp_path_factory.mktemp("served"))
    yield made
    made.close()


@pytest.fixture
def ros(served):
    """Pause and reset the shared node, and return its `Ros`."""
    set_state(served, SimulationState.STATE_PAUSED)
    served.call(srv.ResetSimulation, "reset_simulation")
    return served


def step(ros, count):
    return ros.call(srv.StepSimulation, "step_simulation", steps=count).result


def set_state(ros, state):
    wanted = SimulationState(state=state)
    return ros.call(srv.SetSimulationState, "set_simulation_state", state=wanted).result


def get_state(ros):
    return ros.call(srv.GetSimulationState, "get_simulation_state").state.state


def get_entity_state(ros, entity):
    answer = ros.call(srv.GetEntityState, "get_entity_state", entity=entity)
    assert answer.result.result == Result.RESULT_OK, answer.result
    return answer.state


def set_entity_state(ros, entity, state, **flags):
    known = srv.SetEntityState.Request.get_fields_and_field_types()
    flags = {"set_pose": True, "set_twist": True} | flags
    fields = {name: value for name, value in flags.items() if name in known}
    return ros.call(srv.SetEntityState, "set_entity_state", entity=entity, state=state, **fields).result


def time_of(stamp):
    return cdr.nanoseconds(stamp.sec, stamp.nanosec) * 1e-9


def seconds(state):
    return time_of(state.header.stamp)


def test_steps_advance_clock_only_while_paused(ros):
    clocks = ros.listen(Clock, "/clock")
    end = seconds(get_entity_state(ros, "box")) + 250 * 0.002
    for count in (1, 249):
        assert step(ros, count).result == Result.RESULT_OK
    wait_for(lambda: clocks and time_of(clocks[-1].clock) == pytest.approx(end, abs=1e-9))
    assert step(ros, 0).result == Result.RESULT_OPERATION_FAILED
    assert set_state(ros, SimulationState.STATE_PLAYING).result == Result.RESULT_OK
    rejected = step(ros, 1)
    assert rejected.result == Result.RESULT_OPERATION_FAILED
    assert "pause" in rejected.error_message


def test_body_set_to_one_metre_falls_freely(ros):
    pose = Pose(position=Point(x=0.3, z=1.0), orientation=UPRIGHT)
    twist = Twist(linear=Vector3(y=0.5), angular=Vector3(z=2.0))
    assert set_entity_state(ros, "box", EntityState(pose=pose, twist=twist)).result == Result.RESULT_OK
    before = get_entity_state(ros, "box")
    assert before.header.frame_id == "world"
    assert before.pose == pose
    assert before.twist == twist
    assert step(ros, 100).result == Result.RESULT_OK
    after = get_entity_state(ros, "box")
    t, dt = seconds(after) - seconds(before), 0.002
    assert t == pytest.approx(0.2)
    # With semi-implicit Euler, the speed is exact and the distance is larger by g t dt / 2.
    assert after.twist.linear.z == pytest.approx(-9.81 * t)
    assert after.pose.position.z == pytest.approx(1.0 - 9.81 / 2 * t * (t + dt))
    assert after.pose.position.y == pytest.approx(0.5 * t)
    assert after.twist.angular.z == pytest.approx(2.0)


def test_reset_restores_bodies_and_time_continues(ros):
    step(ros, 50)
    assert get_entity_state(ros, "box").pose.position.z < 2.0
    reset = ros.call(srv.ResetSimulation, "reset_simulation")
    assert reset.result.result == Result.RESULT_OK
    state = get_entity_state(ros, "box")
    assert state.pose.position.z == 2.0
    assert state.twist == Twist()
    assert seconds(state) >= 0.1
    scopes = srv.ResetSimulation.Request
    for scope in (scopes.SCOPE_TIME, scopes.SCOPE_SPAWNED, scopes.SCOPE_TIME | scopes.SCOPE_STATE):
        rejected = ros.call(srv.ResetSimulation, "reset_simulation", scope=scope).result
        assert rejected.result == Result.RESULT_FEATURE_UNSUPPORTED
        assert str(scope) in rejected.error_message
    for scope in (scopes.SCOPE_STATE, scopes.SCOPE_ALL):
        done = ros.call(srv.ResetSimulation, "reset_simulation", scope=scope).result
        assert done.result == Result.RESULT_OK


def test_states_are_set_and_reported(ros):
    states, codes = SimulationState, srv.SetSimulationState.Response
    assert set_state(ros, states.STATE_PLAYING).result == Result.RESULT_OK
    assert get_state(ros) == states.STATE_PLAYING
    assert set_state(ros, states.STATE_PLAYING).result == codes.ALREADY_IN_TARGET_STATE
    assert set_state(ros, states.STATE_PAUSED).result == Result.RESULT_OK
    assert get_state(ros) == states.STATE_PAUSED
    paused_at = seconds(get_entity_state(ros, "box"))
    assert seconds(get_entity_state(ros, "box")) == paused_at
    assert set_state(ros, states.STATE_STOPPED).result == Result.RESULT_OK
    assert get_state(ros) == states.STATE_STOPPED
    assert get_entity_state(ros, "box").pose.position.z == 2.0
    assert set_state(ros, states.STATE_STOPPED).result == codes.ALREADY_IN_TARGET_STATE
    assert step(ros, 1).result == Result.RESULT_OK
    assert get_state(ros) == states.STATE_PAUSED
    for state in (states.STATE_NO_WORLD, states.STATE_LOADING_WORLD, 77):
        assert set_state(ros, state).result == Result.RESULT_FEATURE_UNSUPPORTED


def test_entities_are_bodies_with_category_and_info(ros):

    def found(**filters):
        answer = ros.call(srv.GetEntities, "get_entities", filters=EntityFilters(**filters))
        return answer.result.result, list(answer.entities)

    assert found() == (Result.RESULT_OK, ["table", "box", "arm"])
    assert found(filter="^(box|arm)$") == (Result.RESULT_OK, ["box", "arm"])
    dynamic = EntityCategory(category=EntityCategory.CATEGORY_DYNAMIC_OBJECT)
    fixed = EntityCategory(category=EntityCategory.CATEGORY_STATIC_OBJECT)
    assert found(categories=[dynamic]) == (Result.RESULT_OK, ["box"])
    assert found(categories=[dynamic, fixed], filter="b") == (Result.RESULT_OK, ["table", "box"])
    assert found(filter="(") == (Result.RESULT_OPERATION_FAILED, [])
    assert found(tags=TagsFilter(tags=["red"])) == (Result.RESULT_FEATURE_UNSUPPORTED, [])
    assert found(bounds=Bounds(type=Bounds.TYPE_SPHERE)) == (Result.RESULT_FEATURE_UNSUPPORTED, [])

    answer = ros.call(srv.GetEntitiesStates, "get_entities_states", filters=EntityFilters(filter="box|arm"))
    assert answer.entities == ["box", "arm"]
    assert [state.pose.position.z for state in answer.states] == [2.0, 1.0]

    info = ros.call(srv.GetEntityInfo, "get_entity_info", entity="box")
    assert info.result.result == Result.RESULT_OK
    assert info.info.category == dynamic
    assert info.info.description.startswith("free, 2 kg, ")
    assert info.info.description.endswith(" taxels")


def test_invalid_requests_get_result_codes(ros):
    good = EntityState(pose=Pose(position=Point(z=1.0), orientation=UPRIGHT))
    for entity in ("bax", "world", ""):
        answer = ros.call(srv.GetEntityState, "get_entity_state", entity=entity)
        assert answer.result.result == Result.RESULT_NOT_FOUND
        assert (
            ros.call(srv.GetEntityInfo, "get_entity_info", entity=entity).result.result
            == answer.result.result
        )
        assert set_entity_state(ros, entity, good).result == Result.RESULT_NOT_FOUND
    assert "'box'" in set_entity_state(ros, "bax", good).error_message
    for entity in ("arm", "table"):
        rejected = set_entity_state(ros, entity, good)
        assert rejected.result == Result.RESULT_OPERATION_FAILED
        assert "free" in rejected.error_message
    invalid = srv.SetEntityState.Response.INVALID_POSE
    no_rotation = EntityState(pose=Pose(orientation=Quaternion(w=0.0)))
    nan_position = EntityState(pose=Pose(position=Point(x=float("nan")), orientation=UPRIGHT))
    assert set_entity_state(ros, "box", no_rotation).result == invalid
    assert set_entity_state(ros, "box", nan_position).result == invalid
    infinite = EntityState(pose=good.pose, twist=Twist(linear=Vector3(x=float("inf"))))
    assert set_entity_state(ros, "box", infinite).result == Result.RESULT_OPERATION_FAILED
    other_frame = EntityState(header=Header(frame_id="arm"), pose=good.pose)
    assert set_entity_state(ros, "box", other_frame).result == Result.RESULT_OPERATION_FAILED
    assert get_entity_state(ros, "box").pose.position.z == 2.0


def test_flags_select_pose_or_twist(ros):
    if "set_pose" not in srv.SetEntityState.Request.get_fields_and_field_types():
        pytest.skip("simulation_interfaces is older than 2.1, which brings the flags")
    state = EntityState(
        pose=Pose(position=Point(z=1.0), orientation=UPRIGHT), twist=Twist(linear=Vector3(x=3.0))
    )
    set_entity_state(ros, "box", state, set_twist=False)
    assert get_entity_state(ros, "box").pose.position.z == 1.0
    assert get_entity_state(ros, "box").twist == Twist()
    state.pose.position.z = 5.0
    set_entity_state(ros, "box", state, set_pose=False)
    assert get_entity_state(ros, "box").pose.position.z == 1.0
    assert get_entity_state(ros, "box").twist == state.twist


def test_features_equal_offered_services(ros):
    features = ros.call(srv.GetSimulatorFeatures, "get_simulator_features").features
    of, listed = SimulatorFeatures, set(features.features)
    assert {of.STEP_SIMULATION_SINGLE, of.STEP_SIMULATION_MULTIPLE, of.ENTITY_STATE_SETTING} <= listed
    assert not {of.SPAWNING, of.DELETING, of.SIMULATION_RESET_TIME, of.STEP_SIMULATION_ACTION} & listed
    served = {
        name.removeprefix("/")
        for name, types in ros.node.get_service_names_and_types()
        if types[0].startswith("simulation_interfaces/")
    }
    assert len(served) == 10
    assert not {"spawn_entity", "load_world", "get_entity_bounds"} & served


def test_queries_do_not_change_motion(ros):
    def fall(queries):
        ros.call(srv.ResetSimulation, "reset_simulation")
        for _ in range(4):
            step(ros, 90)
            for _ in range(queries):
                get_entity_state(ros, "box")
        return get_entity_state(ros, "box").pose, get_entity_state(ros, "box").twist

    assert fall(0) == fall(3)


def test_quitting_state_ends_node(tmp_path):
    ros, process = serving(tmp_path)
    assert set_state(ros, SimulationState.STATE_QUITTING).result == Result.RESULT_OK
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert output.count("STATE_QUITTING") == 1 and "set_simulation_state" in output
    ros.close()
