"""Maps of spectral acceleration, one panel for each period."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.plotting.style import WIDTH, colour_bar, headline, picture, title_of
from groundswell.seismology.formats.intensity import MAPS, read_intensity_maps
from groundswell.seismology.plots.record_section import evenly
from groundswell.seismology.plots.source import draw_source, event_sentence
from groundswell.seismology.plots.surface_map import Lines, coarsened, map_frame, shade

if TYPE_CHECKING:
    import xarray

_MOST = 6  # panels
_COLUMNS = 2
_SPECTRA = {  # the best that there is
    "rotd50": "RotD50",
    "psa_vector": "largest length of the horizontal vector",
    "rotd100": "RotD100",
}
_INTEGRALS = {"arias": "Arias intensity", "cav": "cumulative absolute velocity"}
Panel = tuple[str, "xarray.DataArray"]  # label of the colour bar, and values


def intensity_maps(results: str | Path, lines: Lines | None = None) -> Path | None:
    """Draw `intensity_maps.png`: spectral acceleration by period, or integrals of acceleration.

    At most 6 periods are shown.

    Args:
        results: folder with `intensity_maps.nc`.
        lines: as in `map_frame`.

    Raises:
        InputError: `intensity_maps.nc` is missing or damaged.
    """
    results = Path(results)
    maps = coarsened(read_intensity_maps(results / MAPS))
    panels, sentence = _panels(maps)
    frame = map_frame(maps, results, lines)
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    width = WIDTH / columns
    height = min(0.75 * width * frame.slenderness + 0.5, 1.4 * width)
    path = results / "intensity_maps.png"
    with picture(path, rows * height + 0.1) as figure:
        grid = figure.subplots(rows, columns, squeeze=False)
        for axes, (label, values) in zip(grid.flat, panels, strict=False):
            frame.dress(axes)
            cells = shade(axes, frame, np.ma.masked_invalid(values.values))
            colour_bar(axes, cells, label)
            draw_source(axes, frame, maps.attrs)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        subtitle = event_sentence(maps.attrs) + sentence
        headline(grid[0, 0], title_of(maps.attrs, "Intensity"), subtitle)
        frame.scale_bar(grid[0, -1])  # the subtitle is longer than the first panel
        frame.north_arrow(grid[0, 0])
    return path


def _panels(maps: xarray.Dataset) -> tuple[list[Panel], str]:
    """What is shown in each panel, and what it is."""
    name = next((name for name in _SPECTRA if name in maps), None)
    if name is None:
        found = {key: text for key, text in _INTEGRALS.items() if key in maps}
        panels = [(f"{text} (m/s)", maps[key].max("component")) for key, text in found.items()]
        return panels, "Larger of both horizontal components"
    periods = np.argsort(maps["period"].values)
    chosen = [maps[name].isel(period=int(n)) for n in evenly(periods, _MOST)]
    panels = [(f"PSA at {float(each['period']):g} s (m/s²)", each) for each in chosen]
    damping = 100 * float(maps.attrs.get("damping", 0.05))
    return panels, f"Pseudo-spectral acceleration, {_SPECTRA[name]}, damping {damping:g} %"
