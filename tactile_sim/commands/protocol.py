"""``tactile_sim protocol CONFIG --pad NAME --out FILE``: the motion to record for a fit."""

from __future__ import annotations

import argparse
from pathlib import Path

from tactile_sim.commands import add_config, new_parser
from tactile_sim.commands.option_types import positive
from tactile_sim.errors import CommandError
from tactile_sim.text import counted

DETAILS = """\
Run the motion on the real sensor and record its readings with the force. With --simulate the file has the
readings of the configured pad, too, and `tactile_sim fit` reads it.

  tactile_sim protocol gripper --pad left_pad --load 5 --out presses.csv
  tactile_sim protocol gripper --pad left_pad --load 5 --simulate --out simulated.csv
"""

_NUMBERS = (
    ("load", 5.0, "N", "greatest force"),
    ("hold", 1.0, "s", "time of each hold"),
    ("speed", 20.0, "N/s", "speed of the force"),
    ("rate", 100.0, "Hz", "samples per second"),
)


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand ``protocol`` and its arguments."""
    parser = new_parser(subparsers, "protocol", "write the presses to record for a fit", DETAILS)
    add_config(parser)
    parser.add_argument("--pad", required=True, metavar="NAME", help="name of the pad to press")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FILE", help="CSV file to write")
    for name, default, unit, what in _NUMBERS:
        parser.add_argument(
            f"--{name}",
            type=positive,
            default=default,
            metavar=unit.partition("/")[0],
            help=f"{what} [{unit}]; {default:g} by default",
        )
    parser.add_argument(
        "--taxels", nargs="+", type=int, default=[], metavar="N", help="only these; all by default"
    )
    parser.add_argument(
        "--indenter", metavar="SHAPE", help="with --simulate: what presses, as in `tactile_sim fit`"
    )
    parser.add_argument("--simulate", action="store_true", help="add the readings of the configured pad")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")


def main(args: argparse.Namespace) -> int:
    """Write the motion to a CSV file, print the motion's duration and number of samples, and return 0."""
    import numpy as np

    from tactile_sim import config
    from tactile_sim.bag.atomic_write import fresh, refuse_existing
    from tactile_sim.fit import FitPad, Indenter, protocol

    if args.indenter is not None and not args.simulate:
        raise CommandError("--indenter: requires --simulate")
    if args.out.suffix.lower() != ".csv":
        raise CommandError(f"--out: must end in .csv, got {args.out.name!r}")
    refuse_existing(args.out, args.force)
    settings = config.load(args.config)
    pad = FitPad(settings, args.pad, Indenter.parse(args.indenter or "point"))
    motion = protocol.make(pad, args.load, args.hold, args.speed, args.rate, args.taxels)
    columns = motion.columns()
    if args.simulate:
        readings = protocol.simulate(motion, pad)
        columns |= {f"reading_{k}": readings[:, k] for k in range(readings.shape[1])}
    table = np.stack(list(columns.values()), axis=1)
    with fresh(args.out) as path:
        np.savetxt(path, table, delimiter=",", header=",".join(columns), comments="", fmt="%.9g")
    number = len(set(motion.taxel.tolist()) - {-1})
    print(
        f"{args.out}: {counted(number, 'taxel')}, {motion.times[-1]:.1f} s, {counted(len(table), 'sample')}"
    )
    return 0
