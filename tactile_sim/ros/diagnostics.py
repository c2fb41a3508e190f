"""``/diagnostics``: how the node is doing."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from tactile_sim.loop.output import Status
from tactile_sim.ros import cdr


def diagnostics(node: str, scene: str, status: Status, stamp: int) -> bytes:
    """One status named after the node: an error while the physics is broken, a warning while it falls behind
    or refuses commands."""
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
    return cdr.encode(
        DiagnosticArray,
        {
            "header": {"stamp": stamp},
            "status": [
                {
                    "level": level,
                    "name": f"{node}: simulation",
                    "message": message,
                    "hardware_id": scene,
                    "values": [{"key": key, "value": value} for key, value in values.items()],
                }
            ],
        },
    )
