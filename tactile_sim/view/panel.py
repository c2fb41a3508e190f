"""The panel next to the scene, with state, controls, force plot and tactile images."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from itertools import count
from threading import Lock, Timer

import numpy as np
from viser import GuiApi, GuiButtonHandle, GuiCheckboxHandle, GuiFolderHandle, ViserServer

from tactile_sim.figures.colors import quantity
from tactile_sim.simulation.actions import ACTIONS
from tactile_sim.view.color_scale import ColorScale
from tactile_sim.view.content import Controls, StageSwitch, ViewFrame, ViewScene
from tactile_sim.view.images import PanelMap, TactileImages
from tactile_sim.view.inputs import NumberField, on_user
from tactile_sim.view.legend import Legend
from tactile_sim.view.markers import CHOICES, ForceMarkers
from tactile_sim.view.outputs import FAULT, Outputs
from tactile_sim.view.plots import ForcePlot
from tactile_sim.view.probe import Pointer, Probe
from tactile_sim.view.scene import BrowserScene
from tactile_sim.view.viser_internals import uuid_of


class StartHint:
    """Shows hints until time has advanced while the simulation was not paused."""

    def __init__(self, gui: GuiApi, hints: tuple[str, ...], order: float):
        lines = "".join(f"<div>{escape(hint)}</div>" for hint in hints)
        self._box = gui.add_html(
            f'<div role="note" class="start-hint" data-hud="hint" style="margin: 0 1em 0.6em">{lines}</div>',
            visible=bool(hints),
            order=order,
        )
        self._start = math.inf

    def draw(self, frame: ViewFrame) -> None:
        """Hide the box when time advances."""
        self._start = min(self._start, frame.time)
        if not frame.paused and frame.time > self._start:
            self._box.visible = False


STATE_ORDER, RUN_ORDER, HINT_ORDER, FAULT_ORDER, NOTICE_ORDER = -40.0, -39.9, -39.5, -39.0, -38.0
LEGEND_ORDER, CHART_ORDER, MAP_ORDER, TRANSPARENT_ORDER = -37.0, -36.8, -36.6, -36.0
MOTION_ORDER, LOOK_ORDER, MEASURE_ORDER, SENSOR_ORDER = -35.8, -35.6, -35.4, -33.0
"""Positions in the panel. What changes its height is below the buttons."""
MAX_STEPS = 100_000
"""Largest number of steps per click."""
MIN_FACTOR, MAX_FACTOR = 0.001, 1000.0
"""Range of the real-time factor. The value 0 is also valid."""
INITIAL_STATE = "initial state"
GAP = "var(--mantine-spacing-xs)"
"""Space beside the elements of viser's panel."""
SPEEDS = {"0.1 ×": 0.1, "1 ×": 1.0, "max": 0.0}
"""Real-time factors, keyed by button label."""


class RunControls:
    """Panel inputs that run, pause, step and reset the simulation, set its speed and start actions.

    Attributes:
        paused: Whether the simulation is paused.
    """

    def __init__(
        self,
        gui: GuiApi,
        folder: GuiFolderHandle,
        scene: ViewScene,
        controls: Controls,
        notify: Callable[[str], None],
    ):
        self.paused = False
        self._controls, self._notify = controls, notify
        orders = count(RUN_ORDER, 0.01)
        self._pause = gui.add_button("Pause", color="yellow", order=next(orders))
        self._pause.on_click(lambda _: controls.ask("pause", not self.paused))
        step = gui.add_button("Step", hint="Takes steps while paused.", order=next(orders))
        step.on_click(lambda _: self._step())
        reset = gui.add_button("Reset", order=next(orders))
        reset.on_click(lambda _: self._reset())
        actions = [_action_button(gui, name, controls, next(orders)) for name in scene.actions]
        gui.add_html(_button_row([self._pause, step, reset]) + _button_row(actions), order=next(orders))
        with folder:
            valid_count = f"a whole number from 1 to {MAX_STEPS}"
            self._steps = NumberField(gui, "steps per click", 1, _is_count, valid_count, notify)
            self._keyframe = gui.add_dropdown("reset to", (INITIAL_STATE, *scene.keyframes))
            NumberField(
                gui,
                "real-time factor",
                float(scene.real_time_factor),
                lambda factor: factor == 0.0 or MIN_FACTOR <= factor <= MAX_FACTOR,
                f"from {MIN_FACTOR:g} to {MAX_FACTOR:g}, or 0",
                notify,
                partial(controls.ask, "set_parameter", "real_time_factor"),
                hint="1: real time; 0: as fast as possible.",
            )
            gui.add_button_group("", tuple(SPEEDS)).on_click(
                lambda event: controls.ask("set_parameter", "real_time_factor", SPEEDS[event.target.value])
            )
        # the keys of MuJoCo's simulate
        for label, key, action in (
            ("Pause or run", "space", lambda _: controls.ask("pause", not self.paused)),
            ("Take a step", "arrowright", lambda _: controls.ask("step", 1)),
            ("Reset the simulation", "backspace", lambda _: controls.ask("reset", "")),
        ):
            gui.add_command(label, hotkey=key).on_trigger(action)  # type: ignore[arg-type]

    def draw(self, paused: bool) -> None:
        """Show whether the simulation is paused."""
        if paused != self.paused:
            self._pause.label = "Run" if paused else "Pause"
            self._pause.color = "green" if paused else "yellow"
        self.paused = paused

    def _step(self) -> None:
        self._notify("")
        if self._steps.settle():
            self._controls.ask("step", int(self._steps.value))

    def _reset(self) -> None:
        keyframe = self._keyframe.value
        self._controls.ask("reset", "" if keyframe == INITIAL_STATE else keyframe)


def _action_button(gui: GuiApi, name: str, controls: Controls, order: float) -> GuiButtonHandle:
    """Add a button for an action without arguments."""
    action = ACTIONS[name]
    button = gui.add_button(action.label.capitalize(), hint=action.description, order=order)
    button.on_click(lambda _: controls.ask(name))
    return button


def _is_count(number: float) -> bool:
    return 1 <= number <= MAX_STEPS and number == int(number)


def _button_row(buttons: Sequence[GuiButtonHandle]) -> str:
    """Return HTML with a style that puts consecutive buttons in the panel on one line."""
    if not buttons:
        return ""
    boxes = [f'div:has(> [id="{uuid_of(button)}"])' for button in buttons]
    width = f"calc((100% - {len(buttons) + 1} * {GAP}) / {len(buttons)})"
    style = (
        f"display: inline-block; box-sizing: border-box; width: {width}; margin-inline: {GAP} 0 !important"
    )
    return f"<style>{', '.join(boxes)} {{ {style} }}</style>"


MIN_STEPS = 50
"""Smallest number of steps on a slider."""
MAX_CONTROL = 1e6
"""Largest magnitude that users can enter for an actuator with unlimited control."""


class ActuatorInputs:
    """A slider for each actuator, or a number field if its control is unlimited.

    Only users move the sliders. The sliders do not follow controls that other sources set.
    """

    def __init__(self, gui: GuiApi, scene: ViewScene, controls: Controls, notify: Callable[[str], None]):
        self._initialized = False
        self._ranges = [round_range(*limits) for limits in scene.control_ranges.tolist()]
        with gui.add_folder(f"Actuators ({len(scene.actuators)})", expand_by_default=False):
            self._setters = [
                _add_input(gui, name, *self._ranges[k], partial(controls.ask, "set_control", k), notify)
                for k, name in enumerate(scene.actuators)
            ]

    def initialize(self, values: np.ndarray) -> None:
        """Set the inputs to the controls (a,) in the first frame. Later calls do nothing."""
        if self._initialized or len(values) != len(self._setters):
            return
        self._initialized = True
        starts = np.clip(values, *np.array(self._ranges).T)
        for put, value in zip(self._setters, starts.tolist(), strict=True):
            put(value)


def round_range(lower: float, upper: float) -> tuple[float, float]:
    """Round limits inward to multiples of the slider's step, so that its labels fit."""
    if not _limited(lower, upper):
        return lower, upper
    scale = 1.0 / _step(lower, upper)
    return math.ceil(round(lower * scale, 6)) / scale, math.floor(round(upper * scale, 6)) / scale


def _limited(lower: float, upper: float) -> bool:
    return bool(np.isfinite([lower, upper]).all()) and lower < upper


def _step(lower: float, upper: float) -> float:
    """Return the step size of a slider, which is a power of ten."""
    return 10.0 ** -math.ceil(-math.log10((upper - lower) / MIN_STEPS))


def _add_input(
    gui: GuiApi,
    name: str,
    lower: float,
    upper: float,
    on_change: Callable[[float], None],
    notify: Callable[[str], None],
) -> Callable[[float], object]:
    """Add the input for one actuator and return a function that sets it from the program."""
    start = float(np.clip(0.0, lower, upper))
    if not _limited(lower, upper):
        low, high = max(lower, -MAX_CONTROL), min(upper, MAX_CONTROL)
        valid_range = f"from {low:g} to {high:g}"
        return NumberField(
            gui, name, start, lambda value: low <= value <= high, valid_range, notify, on_change
        ).show
    slider = gui.add_slider(name, lower, upper, _step(lower, upper), start)
    # The text field beside the slider also sends values outside the range.
    return on_user(slider, lambda value: on_change(float(np.clip(value, lower, upper))))


MAX_NAMES = 3
"""Largest number of pads that are named in the title of a subfolder."""


class StageSwitches:
    """A checkbox for each stage of the signal chain.

    Pads with the same stages share their checkboxes. If there are several such groups of pads, each group has
    a subfolder with its checkboxes.
    """

    def __init__(self, gui: GuiApi, scene: ViewScene, controls: Controls):
        self._values = np.zeros(0, bool)
        self._boxes: list[tuple[GuiCheckboxHandle, list[int], str, Callable[[bool], object]]] = []
        """Each checkbox, with the indices of its switches in ``scene.stages``, its label and its setter."""
        lists = _lists(scene.stages)
        for pads, rows in lists:
            if len(lists) == 1:
                self._add(gui, scene, controls, rows)
            else:
                with gui.add_folder(_title(pads), expand_by_default=len(lists) <= MAX_NAMES):
                    self._add(gui, scene, controls, rows)

    def _add(self, gui: GuiApi, scene: ViewScene, controls: Controls, rows: Sequence[Sequence[int]]) -> None:
        """Add the checkboxes for one group of pads."""
        for switches in rows:
            first = scene.stages[switches[0]]
            label = first.stage.replace("_", " ")
            box = gui.add_checkbox(label, True, hint=first.description)

            def ask(enabled: bool, switches: Sequence[int] = switches) -> None:
                self._values = np.zeros(0, bool)  # the next frame shows whether the request was accepted
                for switch in switches:
                    controls.ask("set_switch", scene.stages[switch].parameter, enabled)

            self._boxes.append((box, list(switches), label, on_user(box, ask)))

    def draw(self, enabled: np.ndarray) -> None:
        """Show which stages are on."""
        if not len(enabled) or np.array_equal(enabled, self._values):
            return
        self._values = enabled
        for box, switches, label, put in self._boxes:
            on = int(enabled[switches].sum())
            mixed = 0 < on < len(switches)
            box.label = f"{label} ({on} of {len(switches)})" if mixed else label
            put(on == len(switches))


def _lists(stages: Sequence[StageSwitch]) -> list[tuple[list[str], list[list[int]]]]:
    """Group the pads that have the same stages."""
    entries: dict[tuple[str, ...], list[int]] = {}
    for k, switch in enumerate(stages):
        if switch.pads:
            entries.setdefault(switch.pads, []).append(k)
    lists: dict[tuple[tuple[str, str], ...], list[tuple[tuple[str, ...], list[int]]]] = {}
    for pads, own in entries.items():
        content = tuple((stages[k].stage, stages[k].description) for k in own)
        lists.setdefault(content, []).append((pads, own))
    return [
        (
            [pad for pads, _ in equal for pad in pads],
            [list(row) for row in zip(*(own for _, own in equal), strict=True)],
        )
        for equal in lists.values()
    ]


def _title(pads: Sequence[str]) -> str:
    more = f" and {len(pads) - MAX_NAMES} more" if len(pads) > MAX_NAMES else ""
    return ", ".join(pads[:MAX_NAMES]) + more


def add_layers(
    gui: GuiApi,
    folder: GuiFolderHandle,
    scene: ViewScene,
    drawn: BrowserScene,
    markers: ForceMarkers,
    legend: Legend | None,
) -> None:
    """Add a checkbox for transparent bodies, an input in a folder for each layer, and their keys."""

    def on_markers(_: object) -> None:
        markers.set_visible(arrows.value, net.value, points.value)
        if legend:
            legend.set_arrows(arrows.value, net.value)

    transparent = gui.add_checkbox(
        "transparent", False, hint="Shows taxels behind and between bodies.", order=TRANSPARENT_ORDER
    )
    with folder:
        has_taxels = len(scene.taxel_positions) > 0
        dark = gui.add_checkbox("dark bodies", True, hint="Lets taxels in contact stand out.")
        taxels = gui.add_checkbox("taxels", True, visible=has_taxels)
        dots = gui.add_checkbox("taxels as dots", drawn.skin.as_dots, visible=has_taxels)
        arrows = gui.add_checkbox("force arrows", True, hint="Normal force and friction of each contact.")
        net = gui.add_checkbox("net forces", False, hint="Net force on each body, at its origin.")
        points = gui.add_checkbox("contact points", True, hint="White.")
        feelers = gui.add_dropdown("feelers", CHOICES, visible=len(scene.feeler_positions) > 0)
    transparent.on_update(lambda _: drawn.set_transparent(transparent.value))
    on_user(dark, drawn.set_dark)
    on_user(taxels, drawn.skin.set_visible)
    on_user(dots, drawn.skin.set_dots)
    on_user(feelers, drawn.feelers.select)
    for box in (arrows, net, points):
        box.on_update(on_markers)
    for label, key, box in (
        ("Transparent bodies", "T", transparent),
        ("Contact points", "C", points),
        ("Force arrows", "F", arrows),
    ):
        gui.add_command(label, hotkey=key).on_trigger(partial(_toggle, box))  # type: ignore[arg-type]


def _toggle(box: GuiCheckboxHandle, _: object) -> None:
    box.value = not box.value  # type: ignore[misc]  # mypy does not see the property's setter


REFRESH = 0.1
"""Wall time between two updates of the panel [s]."""
ENCODING_TIME = 0.01
"""Wall time for encoding images in each update [s]. Later updates encode the remaining images in turn."""
NOTICE_TIME = 6.0
"""Wall time for which a notice is shown [s]. In the view of a bag, notices remain."""
MAX_SCALE = 1e6
"""Largest end of the color scale."""


class Panel:
    """Shows information about frames and forwards user requests.

    Attributes:
        images: Folder with the tactile images.
        look: Folder for what is drawn and from where.
        measure: Folder for clicks and bodies, or None if there are neither taxels nor controls.
        legend: Legend of the colors and arrows, or None if there are no taxels.
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
        has_taxels = len(scene.taxel_positions) > 0
        self.look = gui.add_folder("Look", expand_by_default=False, order=LOOK_ORDER)
        self.measure = None
        if has_taxels or controls:
            self.measure = gui.add_folder("Measure", expand_by_default=False, order=MEASURE_ORDER)
        self.legend = self._add_legend(redraw) if has_taxels else None
        self._actuators: ActuatorInputs | None = None
        if controls is not None:
            self._add_controls(controls)
        self.probe = Probe(server, scene, CHART_ORDER) if has_taxels else None
        self.pointer = Pointer(gui, self.measure, scene, controls, self.probe, self.notify)
        # The view of a bag has a force strip instead, see `tactile_sim.view.player`.
        has_plot = len(scene.skin_bodies) and not scene.bag
        self._plot = ForcePlot(gui, scene, CHART_ORDER) if has_plot else None
        self.plot = self._plot and self._plot.html
        self.outputs = Outputs(server, scene, controls)
        several = len(scene.taxel_counts) > 1 and scene.taxel_counts.all()
        self.map = PanelMap(gui, scene, MAP_ORDER) if several else None
        self.images = TactileImages(gui, scene)

    def _add_legend(self, redraw: Callable[[], None]) -> Legend:
        """Add the legend and the inputs of the color scale."""
        scale = self._scale

        def on_end(end: float) -> None:
            scale.chosen = end
            redraw()

        def on_logarithmic(logarithmic: bool) -> None:
            scale.logarithmic = logarithmic
            redraw()

        with self.look:
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
        box = self._gui.add_checkbox(
            "logarithmic", scale.logarithmic, visible=False
        )  # for the legend's button
        on_user(box, on_logarithmic)
        return Legend(self._gui, self._scene.taxel_scale, uuid_of(box), LEGEND_ORDER)

    def _add_controls(self, controls: Controls) -> None:
        gui, scene = self._gui, self._scene
        motion = gui.add_folder("Motion", order=MOTION_ORDER)
        self._run = RunControls(gui, motion, scene, controls, self.notify)
        if scene.actuators:
            with motion:
                self._actuators = ActuatorInputs(gui, scene, controls, self.notify)
        has_stages = any(switch.pads for switch in scene.stages)
        if scene.choices or has_stages:
            with gui.add_folder("Sensor", expand_by_default=False, order=SENSOR_ORDER):
                for name, options, current in scene.choices:
                    label = name.rpartition(".")[2].replace("_", " ")
                    box = gui.add_dropdown(label, options, initial_value=current)
                    on_user(box, partial(controls.ask, "set_choice", name))
                self._stages = StageSwitches(gui, scene, controls) if has_stages else None

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
            self._actuators.initialize(frame.controls)
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
        pull = ""
        if frame.pull_force:
            force = quantity(frame.pull_force, "N")
            pull = f' &nbsp; <span data-pull="{force}">pulling with {force}</span>'
        self._state.content = _line(f"<b>{frame.time:.3f} s</b> &nbsp; {pace}{pull}")
        self._paused = frame.paused
        if self._run:
            self._run.draw(frame.paused)
        self._fault.content = _line(f"physics fault: {escape(frame.fault)}; press Reset", FAULT)
        self._fault.visible = bool(frame.fault)
        if self.legend:
            self.legend.draw(frame, self._scale)

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
