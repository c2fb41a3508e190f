"""Encode messages for ``/diagnostics`` with the status of the simulation and the recorder."""

from __future__ import annotations

from collections.abc import Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from tactile_sim.loop.output import Status
from tactile_sim.ros import cdr

_SILENCE = {
    "paused": "paused: other topics are silent until ~/pause or ~/step",
    "lockstep": "lock-step: other topics are silent until ~/step or a command",
}


def diagnostics(
    node: str,
    scene: str,
    status: Status,
    stamp: int,
    recorder_fault: str = "",
    outside: Mapping[str, int] | None = None,
    skipped: Mapping[str, int] | None = None,
) -> bytes:
    """Encode a DiagnosticArray with the simulation's status and, if the recorder failed, the recorder's.

    The level of the simulation is ERROR during a physics fault, and WARN while the simulation is too slow or
    rejects commands. The value ``state`` is ``running``, ``paused``, ``lockstep`` or ``broken``. In the last
    three states, time does not advance on its own and no other topics are published.

    Args:
        node: Name of the node.
        scene: Name of the scene.
        status: Status of the loop.
        stamp: Time of the message [ns].
        recorder_fault: Why the node's recorder ended, or an empty string.
        outside: Current number of loads that act outside the pads, keyed by body name; None if unknown.
        skipped: Number of images of each camera that were skipped; None without cameras.

    Returns:
        The message as CDR bytes.
    """
    state = "broken" if status.fault else _state(status)
    if status.fault:
        level, message = DiagnosticStatus.ERROR, f"physics fault: {status.fault}; call ~/reset"
    elif status.refused:
        level, message = DiagnosticStatus.WARN, f"rejected a command: {status.last_refusal}"
    elif status.late:
        level, message = DiagnosticStatus.WARN, "too slow for the configured real-time factor"
    else:
        level, message = DiagnosticStatus.OK, _SILENCE.get(state, state)
    values = {
        "state": state,
        "real_time_factor": f"{status.real_time_factor:.3f}",
        "wanted_real_time_factor": f"{status.wanted_factor:g}",
        "missed_deadlines": str(status.missed),
        "refused_commands": str(status.refused_total),
        "last_refusal": status.last_refusal,
        "paused": str(status.paused).lower(),
    }
    if outside is not None:
        values["loads_outside"] = ", ".join(f"{body}: {count}" for body, count in outside.items())
    if skipped is not None:
        values["skipped_images"] = ", ".join(f"{camera}: {count}" for camera, count in skipped.items())
    statuses = [_status(f"{node}: simulation", level, message, scene, values)]
    if recorder_fault:
        statuses.append(_status(f"{node}: recorder", DiagnosticStatus.ERROR, recorder_fault, scene, {}))
    return cdr.encode(DiagnosticArray, {"header": {"stamp": stamp}, "status": statuses})


def _status(name: str, level: bytes, message: str, scene: str, values: dict[str, str]) -> dict[str, object]:
    """Return the fields of a ``DiagnosticStatus``."""
    return {
        "level": level,
        "name": name,
        "message": message,
        "hardware_id": scene,
        "values": [{"key": key, "value": value} for key, value in values.items()],
    }


def _state(status: Status) -> str:
    if status.paused:
        return "paused"
    return "lockstep" if status.lockstep else "running"
