"""A signal chain for many environments."""

from __future__ import annotations

import numpy as np
import pytest
from support.signal_chain import ALL, PALM, RANDOM, TAXELS, sensor

SEEDS = [3, 4, 5]
NONE = np.empty((0, TAXELS, 3))


def lines(size):
    """Round a size up to cache lines [bytes]."""
    return -(-size // 64) * 64


def memory(program):
    """Return the memory of all stages in one environment [bytes], except that of a tare that is not taken."""
    return program.bytes_per_environment - lines(1)


@pytest.mark.parametrize(
    "changed",
    [
        RANDOM,
        {},
        {
            "quantisation": {"step": 0.5, "bits": 15, "signed": True},
            "dead_taxels": {"taxels": [3], "value": -4.0},
        },
        {"quantisation": {"step": 1.0, "bits": 16}, "dead_taxels": {"taxels": [3], "value": 0.1}},
        {"quantisation": {"step": 1.0, "bits": 16, "enabled": False}},
        {"hysteresis": {"fraction": 0.1, "enabled": False}},
        {"viscoelasticity": {"strength": 0.5, "time_constant": 0.05, "enabled": False}},
    ],
    ids=lambda changed: "-".join(changed) or "all",
)
def test_environments_equal_single_chains_and_reset_alone(readings, changed):
    stages = ALL | changed
    chain, singles = sensor(**stages), [sensor(seed, **stages) for seed in SEEDS]
    program, workspace, envs = chain.program(SEEDS, 3), chain.workspace(3), np.arange(3)
    steps, output = np.zeros(3, np.int64), np.empty((3, TAXELS, 3))
    for k in range(90):
        truth = np.stack([readings[(k + shift) % len(readings)] for shift in range(3)])
        program.make_room(steps)
        program.run(workspace, envs[k % 2 :], steps, truth, output, keep=True)
        for env in envs[k % 2 :]:
            np.testing.assert_array_equal(output[env], singles[env].read(int(steps[env]), truth[env]))
        steps += 1 + k % 3
        if k in (20, 40):
            program.restart(envs[1:2])
            singles[1].restart()
            steps[1] = 0
    assert len({reading.tobytes() for reading in output}) == 3


def test_environments_loaded_at_different_taxels_equal_single_chains():
    names = "cross_talk", "hysteresis", "viscoelasticity", "slow_adaptation", "fast_adaptation"
    stages = {name: ALL[name] for name in names}
    chain, singles = sensor(**stages), [sensor(seed, **stages) for seed in SEEDS]
    program, workspace, envs = chain.program(SEEDS, 3), chain.workspace(3), np.arange(3)
    output = np.empty((3, TAXELS, 3))
    for step in range(40):
        truth = np.zeros_like(output)
        truth[envs, 50 * envs + 7 * (step // 3)] = 1.0 + envs[:, None] + step % 3
        program.run(workspace, envs, np.full(3, step), truth, output, keep=True)
        for env, single in enumerate(singles):
            np.testing.assert_array_equal(output[env], single.read(step, truth[env]))
    assert 0 < output.any(axis=(0, 2)).sum() < TAXELS


def test_memory_stores_inputs_once_and_outputs_of_a_converter_in_two_bytes():
    values = 3 * (PALM.stop - PALM.start)
    filters = {name: ALL[name] for name in ("hysteresis", "viscoelasticity", "slow_adaptation")}
    for first, size in ((0, 3 * lines(4 * values)), (1, lines(8 * values) + lines(4 * values))):
        program = sensor(**dict(list(filters.items())[first:])).program(SEEDS, 3)
        assert memory(program) == size
    for bits, size in ((16, 2 * values), (17, 4 * values)):
        stages = {"quantisation": {"step": 0.1, "bits": bits}, "dropout": {"hold": 0.1, "zero": 0.1}}
        assert memory(sensor(**stages).program(SEEDS, 3)) == lines(size)


@pytest.mark.parametrize("delay", [{"time": 0.03}, {"time": 0.0, "jitter": 0.05}])
def test_memory_of_a_delay_grows_once(readings, delay):
    chain = sensor(delay=delay)
    program, workspace = chain.program(SEEDS, 3), chain.workspace(3)
    sizes, truth = [], np.repeat(readings[:1], 3, axis=0)
    for k in range(400):
        if k % 100 == 0:
            program.restart(np.arange(3))
        steps = np.full(3, k % 100)
        program.make_room(steps)
        program.run(workspace, np.arange(3), steps, truth, NONE, keep=True)
        sizes.append(memory(program))
    assert sizes[0] < sizes[99] == sizes[-1]


def test_memory_holds_readings_under_way_and_a_tare_only_after_it_was_taken(readings):
    chain = sensor(delay={"time": 0.02, "jitter": 0.005})
    program, workspace = chain.program(SEEDS, 3, rate=100.0), chain.workspace(3)
    palm = PALM.stop - PALM.start
    # The newest reading, two that may be in transit, and the newest that has certainly arrived. Each has an
    # arrival time as int64, validity as bytes, and values.
    size = lines(16 + 4 * 8 + 4 * palm + 4 * 12 * palm)
    singles, output = [sensor(seed, delay={"time": 0.02, "jitter": 0.005}) for seed in SEEDS], None
    for k in range(60):
        steps, truth = np.full(3, 5 * k), np.repeat(readings[k % len(readings)][None], 3, axis=0)
        output = np.empty_like(truth)
        program.make_room(steps)
        program.run(workspace, np.arange(3), steps, truth, output, keep=True)
        for env, single in enumerate(singles):
            np.testing.assert_array_equal(output[env], single.read(5 * k, truth[env]))
        assert memory(program) == size
    program.tare(np.array([1]), output[1:2])
    assert memory(program) == size + lines(4 + 12 * TAXELS) - lines(1)
    tared = np.empty_like(output)
    program.run(workspace, np.arange(3), steps, truth, tared, keep=False)
    np.testing.assert_array_equal(tared, output * np.array([1.0, 0.0, 1.0])[:, None, None])
