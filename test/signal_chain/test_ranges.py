"""Parameters with a range [low, high]: drawn from the seed, and drawn again at each reset."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from support.errors import raises
from support.signal_chain import ALL, PALM, RANDOM, SKIN, TIMESTEP, held, sensor

from tactile_sim import ConfigError, config
from tactile_sim.signal_chain import STAGES, SignalChain


def episodes(made, count):
    """Return the outputs of ``count`` episodes of 8 steps each."""
    outputs = []
    for _ in range(count):
        outputs.append([made.read(step, held(1.0)) for step in range(8)])
        made.restart()
    return np.array(outputs)


def test_same_seed_draws_the_same_episodes():
    first = episodes(sensor(3, **RANDOM), 4)
    np.testing.assert_array_equal(episodes(sensor(3, **RANDOM), 4), first)
    assert not np.array_equal(episodes(sensor(4, **RANDOM), 1)[0], first[0])
    for k in range(3):
        assert not np.array_equal(first[k], first[k + 1])
    made = sensor(4, **RANDOM)
    episodes(made, 2)
    made.restart(seed=3)
    np.testing.assert_array_equal(episodes(made, 4), first)


def test_draws_are_uniform_in_their_range():
    made = sensor(gain={"value": [0.85, 1.15]})
    drawn = []
    for _ in range(400):
        values = made.read(0, held(1.0, 1))[PALM]
        assert np.ptp(values) == 0
        drawn.append(values[0, 0])
        made.restart()
    assert 0.85 <= min(drawn) < 0.86 < 1.14 < max(drawn) <= 1.15
    assert np.mean(drawn) == pytest.approx(1.0, abs=4 * 0.3 / np.sqrt(12 * 400))


def test_a_stage_with_a_range_is_drawn_again_as_a_whole_and_others_are_not():
    made = sensor(gain={"scatter": [0.1, 0.1]}, offset={"scatter": 0.1}, dead_taxels={"fraction": [0.1, 0.1]})

    def features():
        one, zero = made.read(0, held(1.0, 1))[PALM, 0], made.read(0, held(0.0, 1))[PALM, 0]
        made.restart()
        return made.valid[PALM].copy(), one - zero, zero

    (valid, gain, offset), (valid2, gain2, offset2) = features(), features()
    assert not np.array_equal(valid, valid2)
    both = (valid & valid2) == 1
    assert not np.array_equal(gain[both], gain2[both])
    np.testing.assert_array_equal(offset[both], offset2[both])


def test_every_number_of_every_stage_may_be_a_range():
    for stage, block in ALL.items():
        numbers = {name: value for name, value in block.items() if isinstance(value, float)}
        ranges = {name: [value, value] for name, value in numbers.items() if name != "limit"}
        assert ranges or stage in ("history",)
        fixed, drawn = sensor(**{stage: block}), sensor(**{stage: block | ranges})
        if stage in ("gain", "offset", "dead_taxels"):
            continue  # their taxels are drawn again, which is another test
        for step in range(30):
            np.testing.assert_array_equal(drawn.read(step, held(1.0)), fixed.read(step, held(1.0)))
    assert set(ALL) == set(STAGES)


def test_10000_resets_do_not_grow():
    stages = {"gain": {"value": [0.9, 1.1], "scatter": 0.1}, "delay": {"time": [0.0, 0.01]}}
    made = SignalChain(SKIN, {"tip": stages}, TIMESTEP)

    def resets(number):
        for _ in range(number):
            made.read(0, readings)
            made.restart()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    readings = held(1.0)
    before = resets(500)
    assert resets(9500) - before < 2000  # kB; it would be 6 MB if each reset kept an array


INVALID = {
    "gain.value": ({"gain": {"value": [1.0, 0.5]}}, ["0.5"]),
    "gain.value ": ({"gain": {"value": [1.0, 2.0, 3.0]}}, ["3.0"]),
    "noise.std": ({"noise": {"std": [-1.0, 0.5]}}, ["-1"]),
    "gain.taxels": ({"gain": {"taxels": [1.0, 2.0]}}, [str(PALM.stop), "2"]),
    "threshold.taxels": ({"threshold": {"taxels": [-1.0]}}, ["-1"]),
    "offset.taxels": ({"offset": {"taxels": 1.0}}, ["1.0"]),
    "smoothing": ({"smoothing": {"time_constant": 1.0, "weights": [1.0]}}, ["both"]),
    "transfer": ({"transfer": {"baseline": 3.0}}, ["none"]),
    "transfer.outputs": ({"transfer": {"inputs": [0.0, 1.0], "outputs": [0.0]}}, ["1", "2"]),
    "transfer.inputs": ({"transfer": {"inputs": [0.1, 1.0], "outputs": [0.0, 1.0]}}, ["0.1"]),
    "calibration.outputs": (
        {"calibration": {"inputs": [0.0, 1.0, 2.0], "outputs": [0.0, 2.0, 2.0]}},
        ["2.0"],
    ),
    "transfer.limit": ({"transfer": {"coefficients": [1.0]}}, ["0"]),
    "transfer.coefficients": ({"transfer": {"coefficients": [1.0, -1.0], "limit": 1.0}}, ["0.5"]),
    "clip.low": ({"clip": {"low": [0.0, 2.0], "high": 1.0}}, ["2", "1"]),
    "contact.below": ({"contact": {"above": 0.1, "below": 0.2}}, ["0.2", "0.1"]),
    "quantisation.bits": ({"quantisation": {"step": 1.0, "bits": 64}}, ["64"]),
    "history.samples": ({"history": {"samples": [1, 2]}}, ["[1, 2]"]),
    "cross_talk.distances": ({"cross_talk": {"distances": [0.0, 0.1], "weights": [1.0]}}, ["2", "1"]),
    "cross_talk.distances ": ({"cross_talk": {"distances": [0.0, 0.0], "weights": [1.0, 1.0]}}, ["0.0"]),
}


@pytest.mark.parametrize("key", INVALID)
def test_invalid_value_is_rejected_by_key(key):
    stages, facts = INVALID[key]
    with raises(ConfigError, f"my.yaml: skin.sensor.palm.{key.strip()}:", *facts):
        SignalChain(SKIN, {"palm": stages}, TIMESTEP, source="my.yaml")


def test_number_of_pairs_with_cross_talk_is_limited(monkeypatch):
    points = SKIN.positions[PALM]
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    pairs = int((apart[np.triu_indices(len(points), 1)] <= 0.02).sum())
    kernel = {"distances": [0.0, 0.02], "weights": [1.0, 0.0]}
    monkeypatch.setattr("tactile_sim.signal_chain.material._MOST_PAIRS", pairs)
    sensor(cross_talk=kernel)
    monkeypatch.setattr("tactile_sim.signal_chain.material._MOST_PAIRS", pairs - 1)
    with raises(ConfigError, "palm.cross_talk.distances", f"{pairs:,}", "0.02 m"):
        sensor(cross_talk=kernel)


def test_ranges_and_lists_pass_through_a_parameter_file(tmp_path):
    file = tmp_path / "ranges.yaml"
    stages = "{gain: {value: [0.85, 1.15]}, transfer: {inputs: [0.0, 1.0], outputs: [0.0, 500.0]}}"
    head = "/**:\n  ros__parameters:\n    scene: touch_cube.xml\n"
    file.write_text(f"{head}    skin: {{scales: {{cube: 0.02}}, sensor: {{cube: {stages}}}}}\n")
    read = config.load(file).skin.sensor["cube"]
    assert read["gain"]["value"] == (0.85, 1.15)
    assert read["transfer"]["outputs"] == (0.0, 500.0)
