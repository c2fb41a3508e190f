"""Fixtures for the tests of plots."""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import pytest
from support.plots import SCENE

import matplotlib.pyplot as plt  # isort: skip  # after plotting has selected the backend


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def env():
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 200)
    mujoco.mj_forward(model, data)
    return SimpleNamespace(model=model, data=data)
