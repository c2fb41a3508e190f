"""The panel next to the scene, with state, controls, force plot and tactile images."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from html import escape
from threading import Lock, Timer

import numpy as np
from viser import ViserServer

from tactile_sim.view.content import ViewFrame, ViewScene
from tactile_sim.view.controls import Controls
from tactile_sim.view.panel.actuator_inputs import ActuatorInputs
from tactile_sim.view.panel.force_plot import ForcePlot
from tactile_sim.view.panel.legend import Legend
from tactile_sim.view.panel.number_field import NumberField
from tactile_sim.view.panel.outputs import FAULT, Outputs
from tactile_sim.view.panel.pointer import Pointer
from tactile_sim.view.panel.probe import Probe
from tactile_sim.view.panel.run_controls import RunControls
from tactile_sim.view.panel.skin_map import PanelMap
from tactile_sim.view.panel.stage_switches import StageSwitches
from tactile_sim.view.panel.start_hint import StartHint
from tactile_sim.view.panel.tactile_images import TactileImages
from tactile_sim.view.panel.user_input import on_user
from tactile_sim.view.scene.color_scale import ColorScale
from tactile_sim.view.web.loading_script import FRAME_ATTRIBUTE

REFRESH = 0.1
"""Wall time between two updates of the panel [s]."""
ENCODING_TIME = 0.01
"""Wall time for encoding images in each update [s]. Later updates encode the remaining images in turn."""
NOTICE_TIME = 6.0
"""Wall time for which a notice is shown [s]. In the view of a bag, notices remain."""
MAX_SCALE = 1e6
"""Largest end of the colour scale."""
STATE_ORDER, HINT_ORDER, FAULT_ORDER, NOTICE_ORDER = -40.0, -39.5, -39.0, -38.0
LEGEND_ORDER, SCALE_ORDER = -37.0, -36.5
"""Positions of the elements at the top of the panel."""


class Panel:
    """Shows information about frames and forwards user requests.

    Attributes:
        images: Folder with the tactile images.
        legend: Legend of the colours and arrows, or None if there are no taxels.
        map: Map of the whole skin, or None if there are not several pads.
        probe: Display of the readings of individual taxels, or None if there are no taxels.
        outputs: Buttons that record bags and save images, films and replays.
        plot: The force plot as HTML, or None if there is no skin or the view shows a bag.
        pointer: Handler for clicks and drags.
    """

    def __init__(
        self,
        server: ViserServer,
        scene: ViewScene,
        controls: Controls | None,
        scale: ColorScale,
        redraw: Callable[[], None],
    ):
        """Add the elements to viser's panel.

        Args:
            server: viser's server.
            scene: Constant content of the view.
            controls: Receives the requests. If None, the panel has no controls.
            scale: Colour scale of the taxels, which users can change.
            redraw: Called after a user has changed the colour scale.
        """
        self._gui = gui = server.gui
        self._scene = scene
        self._controls = controls
        self._due = 0.0
        self._pending: ViewFrame | None = None
        """The last frame, or None after it has been shown completely."""
        self._paused = False
        self._run: RunControls | None = None
        self._stages: StageSwitches | None = None
        self._notice_timer: Timer | None = None
        self._notice_lock = Lock()
        self._scale = scale
        self._state = gui.add_html(_line("waiting for data"), order=STATE_ORDER)
        self._hint = StartHint(gui, scene.start_hints, HINT_ORDER)
        self._fault = gui.add_html("", visible=False, order=FAULT_ORDER)
        self._notice = gui.add_html("", visible=False, order=NOTICE_ORDER)
        self._show_notice("")
        self.legend = Legend(gui, scene.taxel_scale, LEGEND_ORDER) if len(scene.taxel_positions) else None
        if self.legend:
            self._add_scale_inputs(redraw)
        if controls is not None:
            self._add_controls(controls)
        self.probe = Probe(server, scene) if len(scene.taxel_positions) else None
        self.pointer = Pointer(gui, scene, controls, self.probe, self.notify)
        # The view of a bag has a force strip instead, see `tactile_sim.view.bag.force_bar`.
        self._plot = ForcePlot(gui, scene) if len(scene.skin_bodies) and not scene.bag else None
        self.plot = self._plot and self._plot.html
        self._actuators = (
            ActuatorInputs(gui, scene, controls, self.notify) if controls and scene.actuators else None
        )
        self.outputs = Outputs(server, scene, controls)
        several = len(scene.taxel_counts) > 1 and scene.taxel_counts.all()
        self.map = PanelMap(gui, scene) if several else None
        self.images = TactileImages(gui, scene)

    def _add_scale_inputs(self, redraw: Callable[[], None]) -> None:
        scale = self._scale

        def on_end(end: float) -> None:
            scale.chosen = end
            redraw()

        def on_logarithmic(logarithmic: bool) -> None:
            scale.logarithmic = logarithmic
            redraw()

        with self._gui.add_folder("Colour scale", expand_by_default=False, order=SCALE_ORDER):
            NumberField(
                self._gui,
                "end of scale",
                scale.chosen,
                lambda end: 0.0 <= end < MAX_SCALE,
                f"from 0 to {MAX_SCALE:g}",
                self.notify,
                on_end,
                hint="0: follows the largest reading and falls slowly.",
            )
            on_user(self._gui.add_checkbox("logarithmic", scale.logarithmic), on_logarithmic)

    def _add_controls(self, controls: Controls) -> None:
        gui = self._gui
        self._run = RunControls(gui, self._scene, controls, self.notify)
        if self._scene.choices:
            with gui.add_folder("Skin", expand_by_default=False):
                for name, options, current in self._scene.choices:
                    label = name.rpartition(".")[2].replace("_", " ")
                    box = gui.add_dropdown(label, options, initial_value=current)
                    on_user(box, partial(controls.ask, "set_choice", name))
        if any(switch.pads for switch in self._scene.stages):
            self._stages = StageSwitches(gui, self._scene, controls)

    # -- frames ----------------------------------------------------------------------------------------------

    def draw(self, frame: ViewFrame) -> None:
        """Show a frame.

        The text, the plots and the images are updated at most once per `REFRESH`, but immediately for paused
        frames and faults.
        """
        self.pointer.draw(frame)
        self._hint.draw(frame)
        if self.probe:
            self.probe.draw(frame)
        if self._plot:
            self._plot.add(frame)
        if self._actuators:
            self._actuators.initialise(frame.controls)
        if self._stages:
            self._stages.draw(frame.enabled)
        self._pending = frame
        self.draw_pending()

    def draw_pending(self) -> None:
        """Show the remaining content of the last frame if an update is due."""
        frame, now = self._pending, time.monotonic()
        if frame is None:
            return
        at_once = frame.paused or frame.paused != self._paused or bool(frame.fault)
        if now < self._due and not at_once:
            return
        self._due = now + REFRESH
        self._draw_state(frame)
        if self.probe:
            self.probe.refresh()
        if self._plot:
            self._plot.draw()
        map_drawn = not self.map or self.map.draw(frame, self._scale.logarithmic, at_once)
        if self.images.draw(frame.images, np.inf if at_once else ENCODING_TIME) and map_drawn:
            self._pending = None

    def _draw_state(self, frame: ViewFrame) -> None:
        pace = "paused" if frame.paused else f"{frame.real_time_factor:.2f} × real time"
        pace = "stopped" if frame.fault else pace
        pull = f" &nbsp; pulling with {frame.pull_force:.3g} N" if frame.pull_force else ""
        self._state.content = _line(f"<b {FRAME_ATTRIBUTE}>{frame.time:.3f} s</b> &nbsp; {pace}{pull}")
        self._paused = frame.paused
        if self._run:
            self._run.draw(frame.paused)
        self._fault.content = _line(f"physics fault: {escape(frame.fault)}; press Reset", FAULT)
        self._fault.visible = bool(frame.fault)
        if self.legend:
            self.legend.draw(frame, self._scale.logarithmic)

    def notify(self, text: str) -> None:
        """Show a notice for `NOTICE_TIME` or until the next notice."""
        with self._notice_lock:
            if self._notice_timer:
                self._notice_timer.cancel()
            self._notice_timer = None
            self._show_notice(text)
            if text and self._controls is not None:
                self._notice_timer = Timer(NOTICE_TIME, self._show_notice, [""])
                self._notice_timer.daemon = True
                self._notice_timer.start()

    def _show_notice(self, text: str) -> None:
        """Show a notice. An empty notice keeps its line so that the buttons below it do not move."""
        self._notice.content = _line(escape(text) or "&nbsp;", "#ffd43b")
        self._notice.visible = bool(text) or self._controls is not None


def _line(text: str, color: str = "inherit") -> str:
    return f'<div style="padding: 0 1em 0.4em 1em; font-size: 0.9em; color: {color}">{text}</div>'
