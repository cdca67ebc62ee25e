"""Map of the plastic strain at the surface, with the source."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.plotting.style import WIDTH, colour_bar, headline, picture, title_of
from groundswell.seismology.case.plasticity import STRAIN
from groundswell.seismology.formats.plastic_strain import NAME, read_plastic_strain
from groundswell.seismology.plots.source import draw_source
from groundswell.seismology.plots.surface_map import Lines, coarsened, map_frame, shade

_UNITS = {1.0: "", 1e-2: " (%)", 1e-6: " (10⁻⁶)"}


def plastic_strain(results: str | Path, lines: Lines | None = None) -> Path:
    """Draw `plastic_strain.png`: accumulated plastic strain of the uppermost cells.

    Args:
        results: folder with `plastic_strain.nc`.
        lines: as in `map_frame`.

    Raises:
        InputError: `plastic_strain.nc` is missing or damaged.
    """
    results = Path(results)
    surface = coarsened(read_plastic_strain(results / NAME))
    frame, strain = map_frame(surface, results, lines), surface[STRAIN].values
    highest = float(np.nanmax(strain, initial=0.0))
    unit = 1e-6 if highest < 1e-4 else 1e-2
    values = np.ma.masked_less_equal(strain / unit, 0)  # blank where nothing has yielded
    path = results / "plastic_strain.png"
    height = min(0.83 * WIDTH * frame.slenderness + 0.6, 1.4 * WIDTH)
    with picture(path, height) as figure:
        axes = figure.subplots()
        frame.dress(axes)
        cells = shade(axes, frame, values)
        colour_bar(axes, cells, f"Accumulated plastic strain{_UNITS[unit]}")
        share = 100 * float(np.mean(strain > 0))
        sentence = f"{share:.3g} % of the surface has yielded; strain up to {highest:.2g}"
        headline(axes, title_of(surface.attrs, "Plastic strain"), sentence)
        frame.scale_bar(axes)
        frame.north_arrow(axes)
        draw_source(axes, frame, surface.attrs)
    return path
