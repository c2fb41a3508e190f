"""``tactile_sim fit`` and ``tactile_sim protocol``: parameters of a pad from recordings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tactile_sim.commands import add_config, new_parser, positive
from tactile_sim.common.errors import CommandError
from tactile_sim.common.text import counted

FIT_DETAILS = """\
A CSV file has the columns time [s], reading_0, reading_1, ... and the reference: force [N] and taxel (or
x, y, z of the indenter [m]); or load [N] of every taxel; or load_0, load_1, ... [N]. Other files need a
mapping, see docs/fit.md. `tactile_sim protocol` writes a motion to record.

  tactile_sim fit gripper presses.csv --pad left_pad --indenter sphere:0.005 --out fitted.yaml --plot fit.png
  tactile_sim fit gripper monday.csv tuesday.csv --test friday.csv --pad left_pad --out fitted.yaml
  tactile_sim fit gripper recorded.mat --mapping columns.yaml --pad left_pad --out fitted.yaml
  tactile_sim fit gripper real_bag --pad left_pad --reference /ft_sensor/wrench --out fitted.yaml

With an indenter and the response function elastic_foundation, stiffness / thickness of the skin is fitted,
too.
--impact also fits solref of the contact; it is a CSV file with time [s] and force [N] of an impact.

  tactile_sim fit gripper presses.csv --pad left_pad --impact drop.csv --mass 0.05 --speed 0.4
"""


def add_fit(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``fit``."""
    parser = new_parser(subparsers, _fit, "fit", "fit the stages of a pad to recorded presses", FIT_DETAILS)
    add_config(parser)
    parser.add_argument(
        "recordings", metavar="RECORDING", type=Path, nargs="+", help="CSV, MATLAB or NumPy files, or bags"
    )
    parser.add_argument("--pad", required=True, metavar="NAME", help="name of the pad that was recorded")
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="write the configuration with the fitted stages"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw measured and fitted readings (PNG, SVG)"
    )
    parser.add_argument(
        "--indenter",
        metavar="SHAPE",
        default="point",
        help="what pressed: sphere:RADIUS, flat:RADIUS [m], taxel (each press loads exactly one taxel), or "
        "point (unknown; the default). Its load is spread by the pad's response function, except with taxel",
    )
    parser.add_argument("--mapping", type=Path, metavar="FILE", help="YAML file that maps files to columns")
    parser.add_argument(
        "--test", type=Path, nargs="+", metavar="FILE", default=[], help="recordings to predict, not to fit"
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
        "--ranges",
        action="store_true",
        help="write ranges for domain randomization in place of values, from the confidence intervals",
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
    parser.add_argument("--poor", action="store_true", help="write a poor fit, too, with a comment")
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def _fit(args: argparse.Namespace) -> int:
    """Fit the parameters, print a report, write the output files, and return 0, or 1 for a poor fit."""
    import dataclasses

    from tactile_sim import config
    from tactile_sim.bag.atomic_write import fresh, refuse_existing
    from tactile_sim.common.errors import CommandError, suggest
    from tactile_sim.fit import FitPad, Indenter, Recording, diagnosis, fit, output
    from tactile_sim.fit.estimate import prepare
    from tactile_sim.fit.impact import Drop, fit_impact, read_impact
    from tactile_sim.fit.model import STAGES, Estimate
    from tactile_sim.fit.patch import fit_patch
    from tactile_sim.fit.recording import read, read_mapping

    indenter = Indenter.parse(args.indenter)
    default = [
        stage for stage in STAGES if not (indenter.shape in ("sphere", "flat") and stage == "cross_talk")
    ]
    stages = tuple(args.stages or default)
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
    if args.reference and args.recordings[0].suffix == ".csv":
        raise CommandError(f"--reference: requires a bag, got {args.recordings[0].name}; remove the option")
    mapping = read_mapping(args.mapping) if args.mapping else None
    settings = config.load(args.config)
    pad = FitPad(settings, args.pad, indenter)

    def load(path: Path) -> Recording:
        recording = read(path, args.pad, pad.normals, mapping, args.reference)
        prepare([recording], pad)  # a recording of another pad is one error, not a list of warnings
        for fault in diagnosis.faults(recording, pad):
            print(f"warning: {path}: {fault}", file=sys.stderr)
        return recording

    recordings = [load(path) for path in args.recordings]
    contact: list[Estimate] = []
    changes: dict[str, float] = {}
    foundation = pad.foundation
    if pad.elastic and recordings[0].force is not None and recordings[0].loads is None:
        found = fit_patch(recordings[0], pad)
        foundation, contact = found.foundation, [*found.estimates]
        key = f"skin.stiffness.{pad.body}" if isinstance(settings.skin.stiffness, dict) else "skin.stiffness"
        changes[key] = foundation * pad.thickness
    if args.impact:
        impact = read_impact(args.impact, args.mass, args.speed)
        contact += fit_impact(impact, Drop(settings, args.pad, args.mass, args.speed))
    result = fit(
        recordings, pad, stages, args.seed, lambda text: print(f"{text} ...", file=sys.stderr), foundation
    )
    result = dataclasses.replace(result, estimates=(*contact, *result.estimates))
    print(output.report(result))
    if share := diagnosis.share_of_pressed_taxel(result, pad):
        print(f"{'cause' if result.poor else 'warning'}: {share}")
    for path in args.test:
        print(
            output.prediction_report(
                result, pad, read(path, args.pad, pad.normals, mapping, args.reference), foundation
            )
        )
    merged = output.merged(result, pad)
    output.verify(args.config, args.pad, merged, changes)
    if args.plot:
        from tactile_sim.figures import style
        from tactile_sim.fit.figure import figure

        with style.figure_style(), fresh(args.plot) as path:
            figure(result).savefig(path, format=args.plot.suffix[1:])
        print(args.plot)
    if result.poor and args.out and not args.poor:
        print(f"{args.out} was not written, because the fit is poor; --poor writes it", file=sys.stderr)
    elif args.out:
        if args.ranges:
            merged = output.with_ranges(merged, result)
        comments = output.comments(result)
        text = output.parameters(args.config, args.pad, merged, changes, args.out.parent, comments)
        with fresh(args.out) as path:
            path.write_text(text, encoding="utf-8")
        config.load(args.out)
        print(args.out)
    return int(result.poor)


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
        "--indenter", metavar="SHAPE", help="with --simulate: what presses, as in `tactile_sim fit`"
    )
    parser.add_argument("--simulate", action="store_true", help="add the readings of the configured pad")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")


def _protocol(args: argparse.Namespace) -> int:
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
