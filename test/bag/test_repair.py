"""Test that truncated bags are readable, and the repair of bags and their metadata."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from rosbags.highlevel import AnyReader
from support.bags import embedded_metadata, file_of, write_frames

from tactile_sim import bag
from tactile_sim.bag import metadata
from tactile_sim.bag.mcap_file import McapWriter, repair


@pytest.mark.parametrize("part", [0.3, 0.7, 0.95, 0.999])
def test_a_truncated_file_is_read_and_repaired(tmp_path, monkeypatch, part):
    monkeypatch.setattr("tactile_sim.bag.mcap_file.CHUNK_SIZE", 2000)
    forces = write_frames(tmp_path / "b", 100)
    whole = file_of(tmp_path / "b").read_bytes()
    file_of(tmp_path / "b").write_bytes(whole[: int(len(whole) * part)])
    with pytest.warns(UserWarning, match=r"b_0.mcap: .* bytes lost.*tactile_sim bag repair .*/b"):
        truncated = bag.read(tmp_path / "b")
    assert truncated.damage and "b_0.mcap" in truncated.damage
    kept = len(truncated["tactile/frame"]) if truncated else 0
    np.testing.assert_array_equal(truncated["tactile/frame"].data, forces[:kept])
    done = repair(tmp_path / "b")
    assert done.messages == kept > 20 and done.damage
    assert (tmp_path / "b/b_0.mcap.damaged").read_bytes() == whole[: int(len(whole) * part)]
    repaired = bag.read(tmp_path / "b")
    assert repaired.damage is None
    np.testing.assert_array_equal(repaired["tactile/frame"].data, forces[:kept])
    with AnyReader([tmp_path / "b"]) as reader:
        assert reader.message_count == kept
        assert reader.connections[0].ext.offered_qos_profiles[0].durability.name == "TRANSIENT_LOCAL"
    assert embedded_metadata(tmp_path / "b")["message_count"] == kept


def test_repair_keeps_intact_bags_and_restores_missing_metadata(tmp_path):
    write_frames(tmp_path / "b")
    before = {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert repair(tmp_path / "b").damage is None
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()} == before
    (tmp_path / "b/metadata.yaml").unlink()
    repair(tmp_path / "b")
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()} == before


def test_repair_keeps_earlier_damaged_files(tmp_path):
    write_frames(tmp_path / "b")
    whole = file_of(tmp_path / "b").read_bytes()
    for length in (30, 20):
        file_of(tmp_path / "b").write_bytes(whole[:-length])
        repair(tmp_path / "b")
    assert (tmp_path / "b/b_0.mcap.damaged").read_bytes() == whole[:-30]
    assert (tmp_path / "b/b_0.mcap.damaged1").read_bytes() == whole[:-20]


@pytest.mark.parametrize("name", ["b", "b/b_0.mcap"])
def test_repair_rewrites_metadata_in_the_form_of_earlier_versions(tmp_path, monkeypatch, name):
    finish = McapWriter.finish
    with monkeypatch.context() as earlier:
        earlier.setattr(
            McapWriter, "finish", lambda self, text: finish(self, metadata.document(yaml.safe_load(text)))
        )
        forces = write_frames(tmp_path / "b")
    assert list(embedded_metadata(tmp_path / "b")) == ["rosbag2_bagfile_information"]
    done = repair(tmp_path / name)
    assert (done.misplaced, done.damage, done.kept, done.messages) == (True, None, None, 50)
    described = embedded_metadata(tmp_path / "b")
    assert (described["version"], described["message_count"]) == (9, 50)
    assert {path.name for path in (tmp_path / "b").iterdir()} == {"b_0.mcap", "metadata.yaml"}
    np.testing.assert_array_equal(bag.read(tmp_path / "b")["tactile/frame"].data, forces)
    assert not repair(tmp_path / name).misplaced
