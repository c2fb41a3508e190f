"""Fixtures for the tests of the web view."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from support.chromium import BLIND, CHROMIUM, HEIGHT, LIGHT, SCALE, SOFTWARE, WIDTH
from support.chromium import PATIENCE as PAGE_PATIENCE
from support.domain import own_domain
from support.published_view import SCENE, FakeProcess, Output
from support.view_clients import FRAME, Recorder
from support.view_clients import SCENE as BOX
from support.waiting import PATIENCE

from tactile_sim import config
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.runner import Runner
from tactile_sim.view.address import Endpoint
from tactile_sim.view.publisher import ViewPublisher
from tactile_sim.view.viewer import Viewer


@pytest.fixture(scope="session")
def viewers():
    """Return a function that returns a context within which all opened views are closed at the end."""

    @contextmanager
    def viewers():
        opened = []

        def open_view(scene=BOX, controls=None, host="127.0.0.1", port=0, token="", **others):
            opened.append(Viewer(scene, Endpoint(host, port, token, **others), controls))
            return opened[-1]

        yield open_view
        for viewer in opened:
            viewer.close()

    return viewers


@pytest.fixture
def open_view(viewers):
    """Return a function that opens a view of a scene, by default of a box, at any free port."""
    with viewers() as open_view:
        yield open_view


@pytest.fixture
def serve(open_view):
    """Return a function that opens a view of a box and shows a frame."""

    def serve(host="127.0.0.1", token="", recorder=None):
        viewer = open_view(controls=recorder or Recorder(), host=host, token=token)
        viewer.show(FRAME)
        return viewer

    return serve


@pytest.fixture
def box_view(open_view):
    """Return a view of a box and the list of recorded requests."""
    recorder = Recorder()
    return open_view(controls=recorder, token="secret"), recorder.requests


@pytest.fixture
def start():
    """Return a function that runs a command with a view and returns the process and its URL."""
    started = []

    def start(*arguments):
        command = [sys.executable, "-m", "tactile_sim", *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        environment = os.environ | {"ROS_DOMAIN_ID": str(own_domain())}
        started.append(subprocess.Popen(command, **pipes, text=True, env=environment))
        for line in started[-1].stdout:
            if found := re.search(r"web view: (http://\S+)", line):
                return started[-1], found[1]
        raise AssertionError(f"exit code {started[-1].wait()}")

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def running(tmp_path):
    """Return a function that runs a simulation with these parameters and returns its view."""
    started = []

    def start(presents=False, **parameters):
        (tmp_path / "scene.xml").write_text(SCENE)
        mapping = {"scene": "scene.xml", "skin": {"scales": {"box": 0.05}}, **parameters}
        simulation = Simulation(config.from_mapping(mapping, tmp_path, "test"))
        view = FakeProcess(simulation)
        publisher = ViewPublisher(simulation, view)
        view.output = Output()
        view.runner = runner = Runner(simulation, view.output)
        publisher.serve(runner, presents=presents)
        thread = threading.Thread(target=runner.run, daemon=True)
        started.append((runner, thread))
        thread.start()
        return view

    yield start
    for runner, thread in started:
        runner.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def playwright():
    """Yield Playwright, which starts and operates browsers."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    """Yield a Chromium that is started once for all tests."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE, timeout=PAGE_PATIENCE)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def visits(browser):
    """Return a function that returns a context within which all opened pages are closed at the end."""

    @contextmanager
    def visits():
        pages = []

        def visit(address, size=(WIDTH, HEIGHT), drawn=False):
            viewport = {"width": size[0], "height": size[1]}
            page = browser.new_page(viewport=viewport, device_scale_factor=SCALE)
            pages.append(page)
            page.add_init_script(LIGHT if drawn else BLIND)
            page.set_default_timeout(PAGE_PATIENCE)
            page.goto(address)
            # hides the notification about software rendering
            page.add_style_tag(content=".mantine-Notifications-root { display: none }")
            return page

        yield visit
        for page in pages:
            page.close()

    return visits


@pytest.fixture
def visit(visits):
    """Return a function that opens a page in Chromium. It draws the scene only if a test asks for it."""
    with visits() as visit:
        yield visit
