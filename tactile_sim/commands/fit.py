"""``tactile_sim fit`` and ``tactile_sim protocol``: parameters of a pad from recordings."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

from tactile_sim.commands import add_config, new_parser, positive
from tactile_sim.errors import CommandError
from tactile_sim.text import counted

FIT_DETAILS = """\
A CSV file has the columns time [s], reading_0, reading_1, ... and the reference: force [N] and taxel, or
load_0, load_1, ... [N]. `tactile_sim protocol` writes a motion to record.

  tactile_sim fit gripper presses.csv --pad left_pad --out fitted.yaml --plot fit.png
  tactile_sim fit gripper real_bag --pad left_pad --reference /ft_sensor/wrench --out fitted.yaml

--indenter also fits stiffness / thickness of the skin; it is the radius of the spherical indenter [m].
--impact also fits solref of the contact; it is a CSV file with time [s] and force [N] of an impact.

  tactile_sim fit gripper presses.csv --pad left_pad --indenter 0.004 --out fitted.yaml
  tactile_sim fit gripper presses.csv --pad left_pad --impact drop.csv --mass 0.05 --speed 0.4
"""


def add_fit(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``fit``."""
    parser = new_parser(subparsers, _fit, "fit", "fit the stages of a pad to recorded presses", FIT_DETAILS)
    add_config(parser)
    parser.add_argument("recording", metavar="RECORDING", type=Path, help="a CSV file or a bag")
    parser.add_argument("--pad", required=True, metavar="NAME", help="name of the pad that was recorded")
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="write the configuration with the fitted stages"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw measured and fitted readings (PNG, SVG)"
    )
    parser.add_argument(
        "--reference",
        metavar="TOPIC",
        help="WrenchStamped of the force on the pad, in a bag; the truth of a simulated pad by default",
    )
    parser.add_argument(
        "--stages",
        nargs="+",
        metavar="STAGE",
        help="only these, besides gain, offset, threshold, noise and drift; all by default",
    )
    parser.add_argument(
        "--indenter",
        type=positive,
        metavar="R",
        help="radius of a spherical indenter [m]; also fit stiffness / thickness of the skin",
    )
    parser.add_argument(
        "--impact", type=Path, metavar="FILE", help="CSV file of an impact; also fit solref of the contact"
    )
    parser.add_argument(
        "--mass", type=positive, metavar="KG", help="with --impact: mass that hits the pad [kg]"
    )
    parser.add_argument(
        "--speed", type=positive, metavar="V", help="with --impact: speed of the mass at first touch [m/s]"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the global search; 0 by default")
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def _fit(args: argparse.Namespace) -> int:
    """Fit the parameters, print a report, write the output files and return 0."""
    from tactile_sim import config
    from tactile_sim.bag.atomic_write import fresh, refuse_existing
    from tactile_sim.errors import CommandError, suggest
    from tactile_sim.fit import Reference, fit, output
    from tactile_sim.fit.impact import Drop, fit_impact, read_impact
    from tactile_sim.fit.model import STAGES, Estimate
    from tactile_sim.fit.patch import Patch, fit_patch
    from tactile_sim.fit.recording import read_bag, read_csv

    stages = tuple(
        args.stages or [stage for stage in STAGES if not (args.indenter and stage == "cross_talk")]
    )
    for stage in stages:
        if stage not in STAGES:
            raise CommandError(f"--stages: cannot fit {stage!r}{suggest(stage, STAGES)}")
    if args.seed < 0:
        raise CommandError(f"--seed: must be >= 0, got {args.seed}")
    for file in (args.out, args.plot):
        if file is not None:
            refuse_existing(file, args.force)
    if args.plot and args.plot.suffix not in (".png", ".svg"):
        raise CommandError(f"--plot: must end with .png or .svg, got {args.plot.name!r}")
    if (args.impact is None) != (args.mass is None) or (args.impact is None) != (args.speed is None):
        raise CommandError("--impact, --mass and --speed: must be used together")
    if args.reference and args.recording.suffix == ".csv":
        raise CommandError(f"--reference: requires a bag, got {args.recording.name}; remove the option")
    settings = config.load(args.config)
    reference = Reference.of(settings, args.pad)
    if args.recording.suffix == ".csv":
        recording = read_csv(args.recording)
    else:
        recording = read_bag(args.recording, args.pad, args.reference, reference.normals)
    contact: list[Estimate] = []
    changes: dict[str, float] = {}
    if args.indenter:
        patch = Patch.of(settings, args.pad, args.indenter)
        found = fit_patch(recording, patch)
        recording, contact = found.recording, [*found.estimates]
        key = (
            f"skin.stiffness.{patch.body}" if isinstance(settings.skin.stiffness, dict) else "skin.stiffness"
        )
        changes[key] = found.foundation * patch.thickness
    if args.impact:
        impact = read_impact(args.impact, args.mass, args.speed)
        contact += fit_impact(impact, Drop(settings, args.pad, args.mass, args.speed))
    result = fit(recording, reference, stages, args.seed, lambda text: print(f"{text} ...", file=sys.stderr))
    result = dataclasses.replace(result, estimates=(*contact, *result.estimates))
    print(output.report(result))
    if args.out:
        text = output.parameters(
            args.config, args.pad, output.merged(result, reference), changes, args.out.parent
        )
        with fresh(args.out) as path:
            path.write_text(text, encoding="utf-8")
        print(args.out)
    if args.plot:
        from tactile_sim.figures import style
        from tactile_sim.fit.figure import figure

        with style.figure_style(), fresh(args.plot) as path:
            figure(result).savefig(path, format=args.plot.suffix[1:])
        print(args.plot)
    return 0


PROTOCOL_DETAILS = """\
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


def add_protocol(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``protocol``."""
    parser = new_parser(
        subparsers, _protocol, "protocol", "write the presses to record for a fit", PROTOCOL_DETAILS
    )
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
        "--indenter",
        type=positive,
        metavar="R",
        help="with --simulate: radius of a spherical indenter [m]; default: a point force",
    )
    parser.add_argument("--simulate", action="store_true", help="add the readings of the configured pad")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")


def _protocol(args: argparse.Namespace) -> int:
    """Write the motion to a CSV file, print the motion's duration and number of samples, and return 0."""
    import numpy as np

    from tactile_sim import config
    from tactile_sim.bag.atomic_write import fresh, refuse_existing
    from tactile_sim.fit import Reference, protocol
    from tactile_sim.fit.patch import Patch

    if args.indenter is not None and not args.simulate:
        raise CommandError("--indenter: requires --simulate")
    if args.out.suffix.lower() != ".csv":
        raise CommandError(f"--out: must end in .csv, got {args.out.name!r}")
    refuse_existing(args.out, args.force)
    settings = config.load(args.config)
    reference = Reference.of(settings, args.pad)
    motion = protocol.make(reference, args.load, args.hold, args.speed, args.rate, args.taxels)
    columns = motion.columns()
    if args.simulate:
        patch = Patch.of(settings, args.pad, args.indenter) if args.indenter else None
        readings = protocol.simulate(motion, reference, settings, patch)
        columns |= {f"reading_{k}": readings[:, k] for k in range(readings.shape[1])}
    table = np.stack(list(columns.values()), axis=1)
    with fresh(args.out) as path:
        np.savetxt(path, table, delimiter=",", header=",".join(columns), comments="", fmt="%.9g")
    number = len(set(motion.taxel.tolist()) - {-1})
    print(
        f"{args.out}: {counted(number, 'taxel')}, {motion.times[-1]:.1f} s, {counted(len(table), 'sample')}"
    )
    return 0
