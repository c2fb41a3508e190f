"""Tactile topics of real sensors."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from rclpy.node import Node

from tactile_sim.msg import TactileArray, TactileFrame, TactileLayout
from tactile_sim.ros import cdr
from tactile_sim.ros.messages import Messages
from tactile_sim.ros.outlets import DEPTH, LATCHED
from tactile_sim.simulation import Simulation
from tactile_sim.skin import TOUCH_FUNCTIONS


class HardwareTopics:
    """Publishes layouts, arrays and frames as the simulation does.

    Readings of pads that are lost, or that no sensor drives, are NaN in ``tactile/frame``, and not valid.
    """

    def __init__(self, node: Node, simulation: Simulation, driven: Collection[str], stamp: int):
        """Publish the layouts of all pads.

        Args:
            node: The node.
            simulation: The simulation whose skin the sensors replace.
            driven: Names of the pads that have a sensor.
            stamp: Time of the layouts [ns].
        """
        settings, skin, messages = simulation.settings, simulation.skin, Messages(simulation)
        function = TOUCH_FUNCTIONS[settings.skin.touch_function]
        names = [pad.name for pad in skin.pads]
        counts = np.diff(skin.offsets).astype(np.uint32)
        bodies = [simulation.names.bodies[pad.body_id] for pad in skin.pads]
        frames = [simulation.frames[pad.body_id] for pad in skin.pads]
        layouts = [messages.layout(k, stamp) for k in range(len(names))]
        common = {
            "layout_id": cdr.decode(TactileLayout, layouts[0]).layout_id,
            "quantity": settings.skin.touch_function,
            "unit": function.unit,
            "channels": function.channels,
            "data": cdr.Payload(),
        }
        self._readings = np.full((len(skin.positions), function.channels), np.nan, np.float32)
        self._slices = {pad.name: slice(pad.start, pad.stop) for pad in skin.pads}
        self._stamp = 0
        """Stamp of the newest readings that ``tactile/frame`` has not published yet [ns]; 0: none."""
        self._frame_fields = {
            "header": {"stamp": cdr.STAMP, "frame_id": settings.world_frame},
            "pads": names,
            "bodies": bodies,
            "frame_ids": frames,
            "taxel_counts": counts,
            **common,
        }
        self._valid = b""
        self._frame = cdr.template(TactileFrame, self._frame_fields)
        self._frame_publisher = node.create_publisher(TactileFrame, "tactile/frame", DEPTH)
        self._arrays, self._layouts = {}, []
        for k, (name, token) in enumerate(zip(names, messages.tokens, strict=True)):
            layout = node.create_publisher(TactileLayout, f"tactile/{token}/layout", LATCHED)
            layout.publish(layouts[k])
            self._layouts.append(layout)
            if name not in driven:
                continue
            array = {
                "header": {"stamp": cdr.STAMP, "frame_id": frames[k]},
                "pad": name,
                "body": bodies[k],
                "taxel_count": int(counts[k]),
                **common,
            }
            publisher = node.create_publisher(TactileArray, f"tactile/{token}/array", DEPTH)
            self._arrays[name] = publisher, cdr.template(TactileArray, array)

    def send(self, name: str, readings: np.ndarray, stamp: int) -> None:
        """Publish the readings (n, channels) of a pad at a time [ns], and keep them for the next frame."""
        self._readings[self._slices[name]] = readings
        self._stamp = stamp
        publisher, template = self._arrays[name]
        if publisher.get_subscription_count():
            publisher.publish(template.fill(stamp, data=readings))

    def invalidate(self, name: str, stamp: int) -> None:
        """Mark the readings of a pad as not valid from a time [ns] on."""
        self._readings[self._slices[name]] = np.nan
        self._stamp = stamp

    def send_frame(self) -> None:
        """Publish ``tactile/frame`` if anything has changed."""
        stamp, self._stamp = self._stamp, 0
        if not stamp or not self._frame_publisher.get_subscription_count():
            return
        valid = np.isfinite(self._readings).all(axis=1).astype(np.uint8)
        packed = b"" if valid.all() else valid.tobytes()
        if packed != self._valid:
            self._valid = packed
            self._frame = cdr.template(TactileFrame, self._frame_fields | {"valid": packed})
        self._frame_publisher.publish(self._frame.fill(stamp, data=self._readings))
