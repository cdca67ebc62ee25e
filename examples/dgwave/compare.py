"""Compares an earthquake by discontinuous Galerkin and by finite differences.

Run it with `python examples/dgwave/compare.py`. Both simulations have a free surface and perfectly
matched layers. The seismograms of both are plotted in one picture.
"""

import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

FOLDER = Path(__file__).parent


def compare(folder: Path, degree: int = 4, spacing: str = "125 m") -> float:
    """Run the case by both methods; return the relative difference of their seismograms."""
    case = tomllib.loads((FOLDER / "earthquake.toml").read_text(encoding="utf-8"))
    case["method"]["degree"] = degree
    galerkin = gs.run(gs.dgwave.DgWaveCase.from_dict(case), folder=folder / "dgwave")

    case["solver"], case["grid"]["spacing"] = "earthquake", spacing
    del case["method"]
    differences = gs.run(gs.earthquake.EarthquakeCase.from_dict(case), folder=folder / "earthquake")

    a, b = galerkin.seismograms, differences.seismograms
    shape = {"figsize": (11, 7), "layout": "constrained"}
    figure, panels = plt.subplots(*a.shape[:2], sharex=True, sharey="row", **shape)
    for row, station in zip(panels, a["station"].values, strict=True):
        for axes, component in zip(row, a["component"].values, strict=True):
            for run, label, style in ((a, "elements", "-"), (b, "finite differences", "--")):
                run.sel(station=station, component=component).plot(ax=axes, label=label, ls=style)
            axes.set(title=f"{station}, {component}", xlabel="", ylabel="")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    figure.supxlabel("Time (s)")
    figure.supylabel("Velocity (m/s)")
    figure.savefig(folder / "compare.png", dpi=150)
    return float(np.linalg.norm(a.values - b.values) / np.linalg.norm(b.values))


if __name__ == "__main__":
    folder = FOLDER / "results_compare"
    print(f"The seismograms differ by {100 * compare(folder):.2g} %: {folder / 'compare.png'}")
