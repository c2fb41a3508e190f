"""``/diagnostics``: how the node is doing."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from tactile_sim.loop.output import Status
from tactile_sim.ros import cdr


def diagnostics(node: str, scene: str, status: Status, stamp: int, recorder_fault: str = "") -> bytes:
    """Make the message: the status of the simulation, and that of the recorder where it has failed.

    Args:
        node: its name.
        scene: the name of the scene.
        status: an error while the physics is broken, a warning while it is slow or refuses commands.
        stamp: time [ns].
        recorder_fault: why the recorder of this node ended; empty for no fault.

    Returns:
        An encoded ``DiagnosticArray``.
    """
    if status.fault:
        level, message = DiagnosticStatus.ERROR, f"the physics broke: {status.fault}; call ~/reset"
    elif status.refused:
        level, message = DiagnosticStatus.WARN, f"refused a command: {status.last_refusal}"
    elif status.late:
        level, message = DiagnosticStatus.WARN, "too slow for the real-time factor that was asked for"
    else:
        level, message = DiagnosticStatus.OK, "paused" if status.paused else "running"
    values = {
        "real_time_factor": f"{status.real_time_factor:.3f}",
        "wanted_real_time_factor": f"{status.wanted_factor:g}",
        "missed_deadlines": str(status.missed),
        "refused_commands": str(status.refused_in_all),
        "paused": str(status.paused).lower(),
    }
    statuses = [_status(f"{node}: simulation", level, message, scene, values)]
    if recorder_fault:
        statuses.append(_status(f"{node}: recorder", DiagnosticStatus.ERROR, recorder_fault, scene, {}))
    return cdr.encode(DiagnosticArray, {"header": {"stamp": stamp}, "status": statuses})


def _status(name: str, level: bytes, message: str, scene: str, values: dict[str, str]) -> dict[str, object]:
    """The fields of a ``DiagnosticStatus``."""
    return {
        "level": level,
        "name": name,
        "message": message,
        "hardware_id": scene,
        "values": [{"key": key, "value": value} for key, value in values.items()],
    }
