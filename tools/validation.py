"""Write docs/validation.md and its figures: simulated taxels beside recordings of real ones.

python tools/validation.py                              from the excerpts in test/data/real
python tools/validation.py --excerpts INSOLE EFLESH     first make the excerpts from clones of the data sets:
    git clone https://github.com/ami-iit/paper_belli_2023_sensors_insole-calibration INSOLE
    git clone https://github.com/notvenky/eFlesh EFLESH
"""

# ruff: noqa: E501 - lines of the page

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.signal import lfilter

from tactile_sim import config
from tactile_sim.figures import style
from tactile_sim.fit import Fit, FitPad, Indenter, fit
from tactile_sim.fit.estimate import earlier, prepare
from tactile_sim.fit.inverse import invert
from tactile_sim.fit.model import Data
from tactile_sim.fit.recording import Recording, read_mapped, read_mapping
from tactile_sim.fit.replay import simulate

ROOT = Path(__file__).resolve().parent.parent
DATA, IMAGES, PAGE = ROOT / "test/data/real", ROOT / "docs/images", ROOT / "docs/validation.md"
BAR = 3.24
"""Force of 1 bar on a taxel of the insole, with the area in the authors' configuration [N]."""
OTHERS = [
    "experiment_Inf_15September_dynamic_1",
    "experiment_Inf_15September_steps_1",
    "experiment_Inf_17September_dynamic_2",
]
PAPER = ["calibration_dataset", "validation_dataset_1", "validation_dataset_2", "validation_dataset_3"]
TAXELS = slice(2, 12)
"""Columns of the first triangle of the insole."""
PRESSES = ["20250401_014340_probe", "20250401_015037_probe", "20250401_015717_probe"]
SHEAR = ["20250416_200533_probe", "20250416_201911_probe"]
MAPS = ["20250316_155729_probe", "20250317_134149_probe"]


def make_excerpts(insole: Path, eflesh: Path) -> None:
    """Write the excerpts of the data sets, with their licenses."""
    from scipy.io import loadmat

    def pressure(name: str, step: int) -> None:
        path = insole / f"Data/left_insole/{name}.mat"
        found: Any = loadmat(path, squeeze_me=True, struct_as_record=False)["experiment"]
        n = min(len(found.C), len(found.P))
        time, counts = found.C[:n:step, 1], found.C[:n:step, TAXELS]
        increases = np.r_[True, np.diff(time) > 0]
        np.savez_compressed(
            DATA / f"insole_{name}.npz",
            time=np.round(time[increases] - time[0], 4),
            counts=counts[increases].astype(np.int16),
            pressure=np.round(found.P[:n:step][increases], 5).astype(np.float32),
        )

    for name in PAPER:
        pressure(name, 1)
    for name in OTHERS:
        pressure(name, 4)
    model = loadmat(insole / "Data/results/model_20221108.mat", squeeze_me=True)
    coefficients = model["coefficients_all_taxels"].reshape(280, 164)[:10]
    np.savez_compressed(DATA / "insole_authors_model.npz", coefficients=coefficients)

    def magnetic(kind: str, name: str, step: int) -> None:
        folder = eflesh / "characterization/datasets" / kind / name
        sensor = np.loadtxt(folder / "sensor_post_baselines.csv", delimiter=",")[::step]
        state = np.loadtxt(folder / "states.csv", delimiter=",")[::step]
        start = sensor[0, 0]
        arrays = {
            "time": np.round(sensor[:, 0] - start, 3),
            "field": np.round(sensor[:, 1:], 1).astype(np.float32),
        }
        arrays["probe"] = state[:, 1:4].astype(np.float32)
        if state.shape[1] > 4:
            arrays["scale"] = np.stack([np.round(state[:, 0] - start, 3), state[:, 4]], axis=1)
        np.savez_compressed(DATA / f"eflesh_{name}.npz", **arrays)

    for name in PRESSES:
        magnetic("normal_force", name, 1)
    for name in SHEAR:
        magnetic("shear_force", name, 2)
    for name in MAPS:
        magnetic("spatial_resolution", name, 1)
    shutil.copy(insole / "LICENSE", DATA / "LICENSE.insole")
    shutil.copy(eflesh / "LICENSE", DATA / "LICENSE.eflesh")


def pad_of(name: str, indenter: str = "taxel") -> FitPad:
    """Return the pad of a configuration in test/data/real."""
    return FitPad(config.load(DATA / f"{name}.yaml"), "pad", Indenter.parse(indenter))


def recorded(sensor: str, name: str, mapping: str = "") -> Recording:
    """Return an excerpt."""
    return read_mapped(
        DATA / f"{sensor}_{name}.npz", read_mapping(DATA / f"{mapping or sensor}_columns.yaml")
    )


def predicted(result: Fit, pad: FitPad, recording: Recording) -> tuple[Data, np.ndarray]:
    """Return a recording and the readings (n, m) that a fit predicts for it, without noise [units]."""
    data, _ = prepare([recording], pad)
    data = earlier(data, result.lag) if result.lag else data
    stages = {key: block for key, block in result.stages.items() if key not in ("noise", "drift")}
    return data, simulate(data, pad, {**stages, "offset": {"taxels": stages["offset"]["taxels"]}}, 1)[0]


def errors(data: Data, readings: np.ndarray, tare: bool) -> np.ndarray:
    """Return the rms error (m,) of predictions as a fraction of each taxel's range."""
    wrong = data.readings - readings
    if tare:
        wrong = wrong - wrong[data.times < data.times[0] + 5.0].mean(axis=0)
    return np.sqrt((wrong**2).mean(axis=0)) / np.maximum(np.ptp(data.readings, axis=0), 1e-9)


def smoothed(values: np.ndarray, share: float) -> np.ndarray:
    """Return values (n, ...) after the exponential filter of the authors of the insole."""
    initial = values[:1] * (1 - share)
    return lfilter([share], [1, share - 1], values, axis=0, zi=initial)[0]


def authors_pressure(readings: np.ndarray) -> np.ndarray:
    """Return the pressures (n, 10) [bar] of the published model of the insole, for filtered counts (n, 10)."""
    coefficients = np.load(DATA / "insole_authors_model.npz")["coefficients"]
    out = []
    for column, own in zip(readings.T, coefficients, strict=True):
        terms = [column**3, column**2, column, np.ones_like(column)]
        for k in range(1, 41):
            past = np.r_[np.full(k, column[0]), column[:-k]]
            terms += [past**i for i in range(1, 5)]
        out.append(np.stack(terms, axis=1) @ own)
    return np.stack(out, axis=1)


def insole() -> list[str]:
    """Fit and predict the insole, draw its figures, and return its section of the page."""
    pad = pad_of("insole")
    records = {name: recorded("insole", name) for name in PAPER}
    result = fit(records[PAPER[0]], pad)
    verdict = result.verdict
    assert verdict is not None
    rows = []
    for name in PAPER[1:] + OTHERS:
        data, readings = predicted(result, pad, recorded("insole", name))
        rows.append((name, data, readings))
    table = [
        "| recording | without tare | with a tare in the first 5 s |",
        "|---|---|---|",
        *(
            f"| {name} | {np.median(errors(data, readings, False)):.1%} | {np.median(errors(data, readings, True)):.1%} |"
            for name, data, readings in rows
        ),
    ]
    pressures = insole_pressure(result, [records[name] for name in PAPER[1:]])
    figure_loop(result, pad, "validation_insole_loop.png", "pressure on a taxel [N]", "counts", 3)
    figure_steps(rows[0][1], rows[0][2], "validation_insole_steps.png", "counts", 3, (20, 120))
    figure_spread(result, "validation_insole_noise.png", "counts")
    times = ", ".join(f"{t:g}" for t in verdict.times)
    real, replayed = (" / ".join(f"{x:.2f}" for x in row) for row in verdict.spread)
    return [
        "## iCub-type insole",
        "",
        "**Set-up.** 280 capacitive taxels with the electronics of the iCub skin, under air at a uniform pressure of up to",
        "3.4 bar, 50 Hz. Counts fall with load. The fit uses the first triangle (10 taxels).",
        "I. Belli et al., Sensors 2023, 23(9), 4501,",
        "[data](https://github.com/ami-iit/paper_belli_2023_sensors_insole-calibration), BSD-3-Clause.",
        "",
        f"**Fitted** to `calibration_dataset` ({len(result.data.times)} samples): {described(result)}.",
        "",
        "![Counts over pressure, recorded and simulated](images/validation_insole_loop.png)",
        "",
        f"In sample: {verdict.rms:.2f} counts rms of a range of {verdict.scale:.0f}; {verdict.error:.1%} of the range"
        f" beyond fast noise (worst taxel {verdict.worst[1]:.1%}). Area of hysteresis: recorded {verdict.loop[0]:.2%},"
        f" simulated {verdict.loop[1]:.2%} of range times load.",
        "",
        f"**Noise.** Standard deviation of increments / √2 after {times} s: recorded {real}, replayed {replayed} counts.",
        "",
        "![Spread of noise over the time difference](images/validation_insole_noise.png)",
        "",
        "**Held out.** Error of predicted counts, rms relative to the range, median of the 10 taxels. Recordings",
        "beyond the four of the paper are reduced to 12.5 Hz. In the five recordings of the right insole, most taxels are",
        "constant, so they are not used.",
        "",
        *table,
        "",
        "![Staircase, recorded and predicted](images/validation_insole_steps.png)",
        "",
        "**As a pressure sensor.** The inverse of the fit to the calibration record gives the pressure in the three other",
        "recordings of the paper, with the authors' filters. Errors in bar, rms over the three:",
        "",
        *pressures,
        "",
        "**Not reproduced.** The offset differs between days by up to 2.5 counts, and no stage predicts it: without a tare it",
        "is the largest error. Errors of the model over minutes count as noise, because the staircases have no pauses.",
        "",
    ]


def insole_pressure(result: Fit, records: Sequence[Recording]) -> list[str]:
    """Return a table with the errors of the pressure from the fit and from the authors' model [bar]."""
    ours, theirs, ours_tared, theirs_tared = [], [], [], []
    both: dict[str, list[np.ndarray]] = {"fit": [], "authors": []}
    for record in records:
        assert record.loads is not None
        counts, true = smoothed(record.readings, 0.1), smoothed(record.loads[:, 0] / BAR, 0.7)
        each = np.stack(
            [invert(result, record.times, counts, np.array([k])) for k in range(counts.shape[1])], axis=1
        )
        start = record.times < record.times[0] + 5.0
        for wrong, plain, tared in (
            (each / BAR - true[:, None], ours, ours_tared),
            (authors_pressure(counts) - true[:, None], theirs, theirs_tared),
        ):
            plain.append(wrong)
            tared.append(wrong - wrong[start].mean(axis=0))
        both["fit"].append(np.median(ours[-1], axis=1)), both["authors"].append(np.median(theirs[-1], axis=1))
        both.setdefault("fit tared", []).append(np.median(ours_tared[-1], axis=1))
        both.setdefault("authors tared", []).append(np.median(theirs_tared[-1], axis=1))

    def rms(parts: list[np.ndarray]) -> float:
        return float(np.median(np.sqrt((np.concatenate(parts) ** 2).mean(axis=0))))

    return [
        "| | each taxel alone (median) | with a tare | median of the 10 taxels | with a tare |",
        "|---|---|---|---|---|",
        f"| fit, 3 coefficients a taxel | {rms(ours):.3f} | {rms(ours_tared):.3f} | {rms(both['fit']):.3f} |"
        f" {rms(both['fit tared']):.3f} |",
        f"| published model, 164 coefficients a taxel | {rms(theirs):.3f} | {rms(theirs_tared):.3f} |"
        f" {rms(both['authors']):.3f} | {rms(both['authors tared']):.3f} |",
    ]


def eflesh() -> list[str]:
    """Fit and predict eFlesh, draw its figures, and return its section of the page."""
    pad = pad_of("eflesh")
    first, second, third = (recorded("eflesh", name) for name in PRESSES)
    result = fit(second, pad)
    verdict = result.verdict
    assert verdict is not None
    data, readings = predicted(result, pad, third)
    inside = errors(result.data, predicted(result, pad, second)[1], False)
    held = errors(data, readings, False)
    both = fit([first, second], pad)
    data_both, readings_both = predicted(both, pad, third)
    held_both = errors(data_both, readings_both, False)
    figure_loop(result, pad, "validation_eflesh_loop.png", "force [N]", "Bz [µT]", 3)
    figure_steps(data, readings, "validation_eflesh_presses.png", "Bz [µT]", 3, (0, 130))
    figure_spread(result, "validation_eflesh_noise.png", "µT")
    all_pad = pad_of("eflesh15")
    third15, second15 = (recorded("eflesh", PRESSES[k], "eflesh15") for k in (2, 1))
    fit15 = fit(second15, all_pad)
    data15, _ = predicted(fit15, all_pad, third15)
    found = invert(fit15, data15.times, data15.readings)
    force_error = found - data15.loads[:, 0]
    start = data15.times < data15.times[0] + 5.0
    found_tared = invert(
        fit15, data15.times, data15.readings - data15.readings[start].mean(axis=0) + fit15.offsets
    )
    tared_error = found_tared - data15.loads[:, 0]
    shear_pad = pad_of("eflesh30")
    shear = fit(recorded("eflesh", SHEAR[0], "eflesh30"), shear_pad)
    shear_data, shear_readings = predicted(shear, shear_pad, recorded("eflesh", SHEAR[1], "eflesh30"))
    wide = np.ptp(shear_data.readings, axis=0) > 200
    shear_in = errors(
        shear.data, predicted(shear, shear_pad, recorded("eflesh", SHEAR[0], "eflesh30"))[1], False
    )
    shear_held = errors(shear_data, shear_readings, False)
    shear_force = (
        invert(shear, shear_data.times, shear_data.readings, np.flatnonzero(wide)) - shear_data.loads[:, 0]
    )
    return [
        "## eFlesh (magnetic, ReSkin board)",
        "",
        "**Set-up.** Five magnetometers under an elastic lattice with magnets; a probe of unknown shape presses ten times to",
        "34 N in one place, three times; a scale measures the force. V. Pattabiraman et al., arXiv:2506.09994,",
        "[data](https://github.com/notvenky/eFlesh), MIT License.",
        "",
        f"**Fitted** to the second recording, five Bz channels: {described(result)}.",
        "",
        "![Bz over force, recorded and simulated](images/validation_eflesh_loop.png)",
        "",
        "| error relative to a channel's range | median | worst channel |",
        "|---|---|---|",
        f"| in sample | {np.median(inside):.1%} | {inside.max():.1%} |",
        f"| held out: third recording | {np.median(held):.1%} | {held.max():.1%} |",
        f"| held out, fitted to the first two recordings | {np.median(held_both):.1%} | {held_both.max():.1%} |",
        f"| shear, in sample ({wide.sum()} of 30 channels with a range above 200 µT) | {np.median(shear_in[wide]):.1%} |"
        f" {shear_in[wide].max():.1%} |",
        f"| shear, held out | {np.median(shear_held[wide]):.1%} | {shear_held[wide].max():.1%} |",
        "",
        "![Presses, recorded and predicted](images/validation_eflesh_presses.png)",
        "",
        "![Spread of noise over the time difference](images/validation_eflesh_noise.png)",
        "",
        "**As a force sensor.** The inverse of a fit to all 15 channels of the second recording gives the force in the third:"
        f" {np.sqrt((force_error**2).mean()):.2f} N rms of 32 N ({np.sqrt((tared_error**2).mean()):.2f} N with another tare"
        f" in the first 5 s). Shear: {np.sqrt((shear_force**2).mean()):.2f} N rms of 18 N. The authors' network has 0.27 N and 0.12 N, trained and"
        " tested on pieces of one recording.",
        "",
        *eflesh_maps(),
        "**Not reproduced.** The first recording of a new specimen differs from the later ones by more than those from each",
        "other, and the peak force at the same depth falls from 34 to 32 N over ten presses. Readings recover over seconds after a",
        "press, which the stages add as drift. The third recording shows that one channel (4) is not a function of the force.",
        "",
    ]


def eflesh_maps() -> list[str]:
    """Compare the width of the recorded maps with simulated pads, and fit a kernel of cross-talk."""
    content = np.load(DATA / f"eflesh_{MAPS[1]}.npz")
    size = 31
    probe, field = content["probe"].astype(float), content["field"][:, 2::3].astype(float)
    x, y = (
        np.round(probe[:, 0] - probe[:, 0].min()).astype(int),
        np.round(probe[:, 1] - probe[:, 1].min()).astype(int),
    )
    repeat = np.arange(len(probe)) * 5 // len(probe)
    grid = np.full((5, size, size, 5), np.nan)
    inside = (x < size) & (y < size)
    grid[repeat[inside], x[inside], y[inside]] = field[inside]
    mean = np.nanmean(grid, axis=0)
    mean -= np.nanmedian(np.r_[mean[0], mean[-1], mean[:, 0], mean[:, -1]], axis=0)
    size_of = np.abs(mean)
    scatter = np.nanstd(grid, axis=0).mean() / np.ptp(mean.reshape(-1, 5), axis=0).mean()
    widths = [
        2 * np.sqrt((channel > channel.max() / 2).sum() / np.pi) for channel in np.moveaxis(size_of, 2, 0)
    ]
    fig = Figure(figsize=(10.0, 4.4), layout="constrained")
    axes = fig.subplots(2, 5)
    line = (np.arange(size) - size // 2) * 1e-3
    points = np.stack(
        [*np.meshgrid(line, line, indexing="ij"), np.full((size, size), 0.01)], axis=-1
    ).reshape(-1, 3)
    simulated = {}
    for name in ("spread_linear", "elastic_foundation"):
        settings = config.load(DATA / "eflesh.yaml")
        settings = settings.replace("skin.response_function", name)
        pad = FitPad(settings, "pad", Indenter("sphere", 0.005))
        press = pad.press(points)
        loads = press.loads(np.full(len(points), 4.9), np.arange(len(points)), pad.foundation)
        simulated[name] = loads.reshape(size, size, 5)
    model = {
        name: [2 * np.sqrt((c > c.max() / 2).sum() / np.pi) for c in np.moveaxis(loads, 2, 0)]
        for name, loads in simulated.items()
    }
    for k in range(5):
        for row, values in enumerate((mean[..., k], simulated["elastic_foundation"][..., k])):
            axes[row, k].imshow(values.T, origin="lower", cmap="viridis")
            axes[row, k].set(xticks=[], yticks=[], title=f"{('recorded', 'simulated')[row]} {k}")
    save(fig, "validation_eflesh_map.png")
    shown = "; ".join(f"`{name}` {np.median(w):.1f} mm" for name, w in model.items())
    return [
        f"**Maps.** 31 × 31 positions at 1 mm, five repeats, at a constant depth; the force was not recorded. Width at half"
        f" maximum of the five Bz channels: {min(widths):.1f} to {max(widths):.1f} mm, median {np.median(widths):.1f} mm;"
        f" repeats scatter by {scatter:.1%} of the range. Pad `reskin`, 5 mm ball, 4.9 N: {shown}. The probe is not"
        " described and the field of a magnet changes its sign with the distance, so this is a factor, not a figure.",
        "",
        "![Maps of Bz, recorded and simulated](images/validation_eflesh_map.png)",
        "",
    ]


def described(result: Fit) -> str:
    """Return the fitted parameters that all taxels share, in one line."""
    shared = [
        e for e in result.estimates if e.status == "fitted" and e.key.split(".")[0] not in ("gain", "offset")
    ]
    curves = "a cubic for each taxel" if "third" in result.stages["gain"] else "a line for each taxel"
    return ", ".join([curves, *(f"`{e.key}` {e.value:.3g} ± {e.half:.1g}" for e in shared)])


def figure_loop(result: Fit, pad: FitPad, name: str, xlabel: str, ylabel: str, taxels: int) -> None:
    """Draw readings over load, recorded and simulated with noise."""
    simulated = simulate(result.data, pad, result.stages, 1)[0]
    fig = Figure(figsize=(10.0, 3.2), layout="constrained")
    for ax, taxel in zip(fig.subplots(1, taxels), range(taxels), strict=True):
        step = max(len(result.data.times) // 4000, 1)
        load = result.data.loads[::step, taxel]
        ax.plot(load, result.data.readings[::step, taxel], ".", ms=2, alpha=0.5, label="recorded")
        ax.plot(load, simulated[::step, taxel], ".", ms=2, alpha=0.5, label="simulated")
        ax.set(title=f"taxel {taxel}", xlabel=xlabel, ylabel=ylabel)
        ax.grid()
    ax.legend()
    save(fig, name)


def figure_steps(
    data: Data, readings: np.ndarray, name: str, ylabel: str, taxels: int, period: tuple[float, float]
) -> None:
    """Draw readings over time, recorded and predicted."""
    fig = Figure(figsize=(10.0, 3.0), layout="constrained")
    ax = fig.subplots()
    time = data.times - data.times[0]
    inside = (time > period[0]) & (time < period[1])
    for taxel in range(taxels):
        color = style.theme().lines[taxel]
        ax.plot(time[inside], data.readings[inside, taxel], color=color, lw=0.7, alpha=0.5)
        ax.plot(time[inside], readings[inside, taxel], color=color, lw=1.2, label=f"taxel {taxel}")
    ax.set(xlabel="time [s]", ylabel=ylabel, title="Held out: recorded (pale) and predicted (dark)")
    ax.legend(ncols=taxels)
    ax.grid()
    save(fig, name)


def figure_spread(result: Fit, name: str, unit: str) -> None:
    """Draw the spread of noise over the time difference, recorded and replayed."""
    assert result.verdict is not None
    fig = Figure(figsize=(6.0, 3.0), layout="constrained")
    ax = fig.subplots()
    ax.plot(result.semivariance.lags, np.sqrt(result.semivariance.values), "o-", ms=3, label="recorded")
    ax.plot(result.verdict.times, result.verdict.spread[1], "s-", ms=4, label="replayed")
    ax.set(
        xscale="log", xlabel="time difference [s]", ylabel=f"std. of increments / √2 [{unit}]", ylim=(0, None)
    )
    ax.legend()
    ax.grid()
    save(fig, name)


def save(figure: Figure, name: str) -> None:
    """Write a figure of the page."""
    figure.savefig(IMAGES / name, dpi=90)


def main() -> None:
    """Write the page and its figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--excerpts", nargs=2, type=Path, metavar=("INSOLE", "EFLESH"))
    args = parser.parse_args()
    if args.excerpts:
        make_excerpts(*args.excerpts)
    head = [
        "# Validation: simulated taxels beside real ones",
        "",
        "`python tools/validation.py` computes all numbers and figures of this page from excerpts of public recordings in",
        '`test/data/real`, with [`tactile_sim fit`](fit.md). "Simulated" is the fitted signal chain on the recorded loads.',
        "",
    ]
    with style.figure_style():
        lines = head + insole() + eflesh()
    PAGE.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
