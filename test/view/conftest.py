"""Fixtures for the tests of the web view."""

from __future__ import annotations

import threading

import pytest
from support.chromium import CHROMIUM, HEIGHT, LIGHT, SOFTWARE, WIDTH
from support.chromium import PATIENCE as PAGE_PATIENCE
from support.published_view import SCENE, FakeProcess, Output
from support.view_clients import FRAME, Recorder
from support.view_clients import SCENE as BOX
from support.waiting import PATIENCE

from tactile_sim import config
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.runner import Runner
from tactile_sim.view.process.publisher import ViewPublisher
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint


@pytest.fixture
def serve():
    """Return a function that opens a view of a box."""
    opened = []

    def serve(host="127.0.0.1", token="", recorder=None):
        opened.append(Viewer(BOX, Endpoint(host, 0, token), recorder or Recorder()))
        opened[-1].show(FRAME)
        return opened[-1]

    yield serve
    for viewer in opened:
        viewer.close()


@pytest.fixture
def box_view():
    """Yield a view of a box and the list of recorded requests."""
    recorder = Recorder()
    viewer = Viewer(BOX, Endpoint(port=0, token="secret"), recorder)
    yield viewer, recorder.requests
    viewer.close()


@pytest.fixture
def running(tmp_path):
    """Return a function that runs a simulation with these parameters and returns its view."""
    started = []

    def start(**parameters):
        (tmp_path / "scene.xml").write_text(SCENE)
        mapping = {"scene": "scene.xml", "skin": {"scales": {"box": 0.05}}, **parameters}
        simulation = Simulation(config.from_mapping(mapping, tmp_path, "test"))
        view = FakeProcess(simulation)
        publisher = ViewPublisher(simulation, view)
        view.output = Output()
        view.runner = runner = Runner(simulation, view.output)
        publisher.serve(runner)
        thread = threading.Thread(target=runner.run, daemon=True)
        started.append((runner, thread))
        thread.start()
        return view

    yield start
    for runner, thread in started:
        runner.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def playwright():
    """Yield Playwright, which starts and operates browsers."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(playwright):
    """Yield a Chromium that is started once for all tests in a file."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE, timeout=PAGE_PATIENCE)
    yield browser
    browser.close()


@pytest.fixture
def visit(browser):
    """Return a function that opens a page in Chromium."""
    pages = []

    def visit(address, size=(WIDTH, HEIGHT)):
        page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        if address.startswith("http"):  # replays take more processor time with it
            page.add_init_script(LIGHT)
        page.set_default_timeout(PAGE_PATIENCE)
        page.goto(address)
        pages.append(page)
        page.add_style_tag(
            content=".mantine-Notifications-root { display: none }"
        )  # hides the notification about software rendering
        return page

    yield visit
    for page in pages:
        page.close()
