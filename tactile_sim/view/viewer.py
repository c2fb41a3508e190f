"""Show a scene in browsers with a web server, a 3D scene and a panel."""

from __future__ import annotations

import errno
import io
import json
import warnings
from contextlib import redirect_stdout
from dataclasses import replace
from threading import RLock

import numpy as np
from viser import ClientHandle, ViserServer

from tactile_sim.bag.messages import LiveView
from tactile_sim.view.address import Access, Endpoint
from tactile_sim.view.body_tree import BodyTree, TreeParts
from tactile_sim.view.camera import Cameras, LiveCamera, Viewpoint, WindowFit
from tactile_sim.view.color_scale import ColorScale
from tactile_sim.view.content import Controls, ViewFrame, ViewScene
from tactile_sim.view.markers import ForceMarkers
from tactile_sim.view.panel import Panel, add_layers
from tactile_sim.view.scene import BrowserScene, add_outline_lights, add_stage
from tactile_sim.view.server import Guard

# Browsers may disconnect at any time, even while the view sends their initial camera position.
warnings.filterwarnings("ignore", "Queued a .* on a closed connection", UserWarning)

FIELD_OF_VIEW = np.radians(45.0)


class Viewer:
    """Shows a scene in any number of browsers. All browsers show the same state and can send requests.

    Attributes:
        url: URL to open in a browser on this machine.
        content: Constant content of the view.
        server: viser's server.
        panel: Panel next to the scene.
        scale: Color scale of the taxels.
    """

    def __init__(self, scene: ViewScene, endpoint: Endpoint, controls: Controls | None):
        """Start the server.

        Raises:
            CommandError: The endpoint cannot be served.
        """
        endpoint.check()
        endpoint = endpoint.with_token()
        host, port = endpoint.host, endpoint.port
        self._guard = Guard(Access(host, endpoint.token))
        with redirect_stdout(io.StringIO()), self._guard.installed():  # viser prints a greeting
            self.server = ViserServer(host=host, port=port, label=scene.title, verbose=False)
        self._guard.server = self.server
        self._has_controls = controls is not None
        self._set_page(scene)
        bound = self.server.get_port()
        if not endpoint.allow_other_port and port not in (0, bound):  # another program was faster
            self.close()
            raise endpoint.bind_error(OSError(errno.EADDRINUSE, ""))
        self.url = endpoint.url(bound)
        self.content = scene
        self.scale = ColorScale(scene.taxel_scale)
        if scene.live_view:
            self.scale.chosen = scene.live_view.scale_end
            self.scale.logarithmic = scene.live_view.logarithmic
        self._camera = LiveCamera()
        self._latest: ViewFrame | None = None
        self._markers: ForceMarkers | None = None
        self._tree: BodyTree | None = None
        self._lock = RLock()
        self._set_theme()
        if scene.extent:
            self._set_initial_camera(Viewpoint.of(scene, []))
        self.panel = Panel(self.server, scene, controls, self.scale, self._redraw)
        self._scene = BrowserScene(self.server, scene, self.panel.pointer)
        if self.panel.probe:
            self._guard.answers["/taxel"] = self.panel.probe.answer
        self.server.on_client_connect(self._on_connect)
        self.server.on_client_disconnect(lambda client: self.panel.pointer.leave(client.client_id))

    @property
    def clients(self) -> int:
        """Number of connected browsers."""
        return len(self.server.get_clients())

    @property
    def drawn(self) -> bool:
        """Whether any browser has drawn its first frame."""
        return self._guard.drawn

    @property
    def live_view(self) -> LiveView | None:
        """Camera that a user moved last, and color scale; None before a browser has connected."""
        if self._camera.pose is None:
            return None
        *vectors, field_of_view = self._camera.pose
        position, look_at, up = (tuple(np.round(vector, 9).tolist()) for vector in vectors)
        dots, scale = self._scene.skin.as_dots, self.scale
        return LiveView(position, look_at, up, field_of_view, scale.fixed, scale.logarithmic, dots)

    def show(self, frame: ViewFrame) -> None:
        """Draw a frame.

        While no browser is connected, frames after the first are only stored for the next browser.
        """
        with self._lock:
            if not frame.taxel_scale:
                frame = replace(frame, taxel_scale=self.scale.update(frame.readings, frame.time))
            first = self._latest is None
            self._latest = frame
            if first or self.clients:
                self.draw(frame)

    def set_bodies(self, scene: ViewScene) -> None:
        """Show other bodies without skin. Cameras and inputs keep their state."""
        with self._lock, self.server.atomic():
            self.content, self._latest = scene, None
            self._set_page(scene)
            self._scene.set_bodies(scene)

    def show_pending(self) -> None:
        """Draw the remaining content of the last frame. The panel is updated less often than the scene."""
        with self._lock:
            self.panel.draw_pending()

    def notify(self, text: str) -> None:
        """Show a notice in the panel."""
        self.panel.notify(text)

    def close(self) -> None:
        """Disconnect the browsers and free the port."""
        self._guard.close_connections()
        with redirect_stdout(io.StringIO()):  # viser prints a line
            self.server.stop()

    def _on_connect(self, client: ClientHandle) -> None:
        with self._lock:
            if not self.content.live_view:
                self._camera.watch(client, WindowFit(self.server, client))
            if self._latest:
                self.draw(self._latest)

    def _set_page(self, scene: ViewScene) -> None:
        settings = {
            "scene": scene.title,
            "meshes": len(scene.shapes),
            "waiting": "reading the bag" if scene.bag else "starting physics",
            "pulls": self._has_controls and len(scene.pushable_bodies) > 0,
        }
        self._guard.page = json.dumps(settings)

    def _set_initial_camera(self, viewpoint: Viewpoint) -> None:
        """Set the initial camera for browsers that connect later."""
        camera = self.server.initial_camera
        camera.near = viewpoint.radius / 50.0
        if view := self.content.live_view:
            camera.fov, camera.up = view.field_of_view, np.array(view.up)
            camera.position, camera.look_at = np.array(view.position), np.array(view.look_at)
        else:
            camera.fov = FIELD_OF_VIEW
            camera.position, camera.look_at = viewpoint.camera, viewpoint.center
        add_outline_lights(self.server.scene, camera.position, camera.look_at)

    def draw(self, frame: ViewFrame) -> None:
        """Draw a frame. The end of the color scale is the frame's ``taxel_scale``."""
        if self._markers is None:
            self._markers = self._add_markers(frame)
        with self.server.atomic():
            self._scene.draw(frame, self.scale.logarithmic)
            self._markers.draw(frame)
            self._cameras.draw(frame)
        if self._tree:
            self._tree.draw(frame)
        self.panel.draw(frame)

    def _add_markers(self, frame: ViewFrame) -> ForceMarkers:
        """Add the elements that depend on the poses in the first frame, and return the force markers.

        The elements are the initial camera, the force markers, the inputs for layers and cameras, and the
        tree of bodies and pads.
        """
        viewpoint = Viewpoint.of(self.content, [frame])
        if not self.content.extent:
            self._set_initial_camera(viewpoint)
        markers = ForceMarkers(self.server, viewpoint.radius, self.content.skin_bodies)
        panel = self.panel
        add_layers(self.server.gui, panel.look, self.content, self._scene, markers, panel.legend)
        self._cameras = Cameras(self.server, panel.look, self.content, viewpoint)
        if panel.probe and panel.measure:
            parts = TreeParts(self._scene, markers, self._cameras, panel.probe)
            self._tree = BodyTree(self.server, panel.measure, self.content, parts)
        return markers

    def _redraw(self) -> None:
        """Redraw the last frame after a user has changed the color scale."""
        with self._lock:
            if self._latest:
                end = self.scale.update(self._latest.readings, self._latest.time)
                self.show(replace(self._latest, taxel_scale=end))

    def _set_theme(self) -> None:
        """Set the colors of the page, the background and the light, and hide links to other sites."""
        self.server.gui.configure_theme(
            dark_mode=True, show_logo=False, show_share_button=False, control_width="medium"
        )
        self.server.gui.main_panel.dock_right()
        add_stage(self.server.scene)
