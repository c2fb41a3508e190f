"""The view in browsers: a server, the scene and the panel beside it."""

from __future__ import annotations

import errno
import io
import warnings
from contextlib import redirect_stdout
from threading import RLock

import numpy as np
from viser import ClientHandle, ViserServer

from tactile_sim.view.access import Access
from tactile_sim.view.address import Endpoint
from tactile_sim.view.controls import Controls
from tactile_sim.view.force_marks import ForceMarks
from tactile_sim.view.guard import Guard
from tactile_sim.view.layers import Layers
from tactile_sim.view.panel import Panel
from tactile_sim.view.scene import Scene
from tactile_sim.view.viewpoint import Viewpoint
from tactile_sim.view.world import Moment, World

# Browsers may leave at any time, also while the view sends them their first camera position.
warnings.filterwarnings("ignore", "Queued a .* on a closed connection", UserWarning)

FIELD_OF_VIEW = np.radians(45.0)
TOP, BOTTOM = (58, 66, 80), (22, 25, 31)
"""Colours of the background: dark, so that white points and light taxels stand out."""
PANEL, PHONE = 324, 576
"""Width of the panel, which takes it from the scene, and up to which width of a window it does not [px]."""
AMBIENT = 2.0
"""Light from all sides, so that no side is too dark to tell its colours."""


class Viewer:
    """Shows a world to any number of browsers, which see and ask the same.

    Attributes:
        url: To open in a browser on this machine.
        server: viser's server.
    """

    def __init__(self, world: World, endpoint: Endpoint, controls: Controls | None):
        """Start the server.

        Args:
            world: The scene.
            endpoint: Where to listen.
            controls: Receives the users' requests; None if there is nothing to request.

        Raises:
            CommandError: The endpoint cannot be served.
        """
        endpoint.check()
        endpoint = endpoint.with_token()
        host, port = endpoint.host, endpoint.port
        self._guard = Guard(Access(host, endpoint.token))
        with redirect_stdout(io.StringIO()), self._guard.installed():  # viser prints a greeting
            self.server = ViserServer(host=host, port=port, label=world.title, verbose=False)
        self._guard.server = self.server
        bound = self.server.get_port()
        if not endpoint.allow_other_port and port not in (0, bound):  # another program was faster
            self.close()
            raise endpoint.bind_error(OSError(errno.EADDRINUSE, ""))
        self.url = endpoint.url(bound)
        self._world = world
        self._latest: Moment | None = None
        self._marks: ForceMarks | None = None
        self._lock = RLock()
        self._dress()
        if world.extent:
            self._aim(Viewpoint.of(world, []))
        self.panel = Panel(self.server.gui, world, controls)
        self._scene = Scene(self.server, world, self.panel.pick if controls else None)
        self.server.on_client_connect(self._greet)

    @property
    def clients(self) -> int:
        """Browsers that look on now."""
        return len(self.server.get_clients())

    def show(self, moment: Moment) -> None:
        """Draws a moment; while nobody looks on, only keeps it for who comes next."""
        with self._lock:
            first = self._latest is None
            self._latest = moment
            if first or self.clients:
                self._draw(moment)

    def catch_up(self) -> None:
        """Shows what is left to show of the last moment: the panel and its images change less often."""
        with self._lock:
            self.panel.catch_up()

    def tell(self, text: str) -> None:
        """Shows an answer or a refusal."""
        self.panel.tell(text)

    def close(self) -> None:
        """Disconnect the browsers and free the port."""
        self._guard.close_connections()
        with redirect_stdout(io.StringIO()):  # viser prints a line
            self.server.stop()

    def _greet(self, client: ClientHandle) -> None:
        with self._lock:
            if self._world.extent or self._latest:
                self._step_back(client)
            if self._latest:
                self._draw(self._latest)

    def _aim(self, viewpoint: Viewpoint) -> None:
        """Where browsers look from that come later."""
        camera = self.server.initial_camera
        camera.fov = FIELD_OF_VIEW
        camera.near = viewpoint.radius / 50.0
        camera.position = viewpoint.camera
        camera.look_at = viewpoint.center

    def _step_back(self, client: ClientHandle) -> None:
        """Has a window whose scene is higher than wide show as much of it."""
        start, camera = self.server.initial_camera, client.camera
        width = camera.image_width - (PANEL if camera.image_width > PHONE else 0)
        if width < camera.image_height:
            away = camera.image_height / width
            camera.position = start.look_at + away * (start.position - start.look_at)
            camera.look_at = start.look_at

    def _draw(self, moment: Moment) -> None:
        if self._marks is None:
            self._marks = self._begin(moment)
        with self.server.atomic():
            self._scene.draw(moment)
            self._marks.draw(moment)
        self.panel.draw(moment)

    def _begin(self, moment: Moment) -> ForceMarks:
        """What depends on where things are at first: the camera, and how large arrows are drawn."""
        viewpoint = Viewpoint.of(self._world, [moment])
        if not self._world.extent:
            self._aim(viewpoint)
        marks = ForceMarks(self.server, viewpoint.radius)
        Layers(self.server.gui, self._world, self._scene, marks)
        return marks

    def _dress(self) -> None:
        """Background and light; nothing that leads away from this machine."""
        server = self.server
        server.gui.configure_theme(
            dark_mode=True, show_logo=False, show_share_button=False, control_width="medium"
        )
        server.gui.main_panel.dock_right()
        shade = np.linspace(TOP, BOTTOM, 128).round().astype(np.uint8)
        # Plain lights are there at once; the picture of a room that viser takes light from has to be loaded.
        server.scene.configure_environment_map(None)
        server.scene.add_light_hemisphere(
            "/sky", sky_color=(255, 255, 255), ground_color=(150, 145, 140), intensity=AMBIENT
        )
        server.scene.set_background_image(shade[:, None].repeat(2, axis=1), format="png")
