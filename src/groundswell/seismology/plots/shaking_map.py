"""Shaking map: peak ground velocity with stations and source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.plotting.labels import label_contours, place_labels
from groundswell.plotting.map_frame import MapFrame
from groundswell.plotting.refinement import refined, refined_mesh
from groundswell.plotting.style import (
    INK,
    WIDTH,
    colour_bar,
    headline,
    picture,
    round_numbers,
    speed_unit,
    title_of,
)
from groundswell.seismology.formats.seismograms import Attributes, read_seismograms
from groundswell.seismology.formats.shaking_maps import read_shaking_map
from groundswell.seismology.plots.source import draw_source, event_sentence
from groundswell.seismology.plots.surface_map import Lines, coarsened, map_frame, shade
from groundswell.seismology.source_distances import epicentre

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.contour import QuadContourSet

Peaks = np.ma.MaskedArray  # (ny, nx), masked where unknown

_DARK = 0.65  # fraction of the colour bar above which contour lines are white
_MAX_CONTOURS = 8
_SMOOTHING = 1.5, 0.015  # of contours, at most: cells, and fraction of the length of the map


def shaking_map(results: str | Path, lines: Lines | None = None) -> Path:
    """Draw `shaking_map.png`: horizontal peak ground velocity with stations and source.

    Args:
        results: folder with `shaking_map.nc` and, for the stations, `seismograms.h5`.
        lines: as in `map_frame`.

    Raises:
        InputError: `shaking_map.nc` is missing or damaged.
    """
    results = Path(results)
    shaking = coarsened(read_shaking_map(results / "shaking_map.nc"))
    frame = map_frame(shaking, results, lines)
    unit, unit_name = speed_unit(float(shaking["pgv"].max()))
    peaks = np.ma.masked_invalid(shaking["pgv"].values / unit)
    path = results / "shaking_map.png"
    height = min(0.83 * WIDTH * frame.slenderness + 0.6, 1.4 * WIDTH)
    with picture(path, height) as figure:
        axes = figure.subplots()
        frame.dress(axes)
        cells = shade(axes, frame, peaks)
        contours = _contour(axes, frame, peaks, cells)
        colour_bar(axes, cells, f"PGV, horizontal ({unit_name})")
        sentence = event_sentence(shaking.attrs) + _peak_sentence(shaking, unit, unit_name)
        headline(axes, title_of(shaking.attrs), sentence)
        frame.scale_bar(axes)
        avoid = [*frame.north_arrow(axes), *draw_source(axes, frame, shaking.attrs)]
        names, places = _draw_stations(axes, frame, results / "seismograms.h5")
        if contours:
            clear = [*places, *_centre(frame, shaking.attrs)]
            avoid += label_contours(axes, contours, clear)
        if names:
            place_labels(axes, places[:, 0], places[:, 1], names, avoid)
    return path


def _contour(axes: Axes, frame: MapFrame, peaks: Peaks, cells: QuadMesh) -> QuadContourSet | None:
    """Draw contours at round numbers, of slightly smoothed values; None if there are none."""
    from scipy.ndimage import gaussian_filter

    if min(peaks.shape) < 2 or not peaks.count():
        return None
    levels = round_numbers(float(np.percentile(peaks.compressed(), 5)), float(peaks.max()))
    levels = levels[-_MAX_CONTOURS:]
    if not levels:
        return None
    width = min(_SMOOTHING[0], _SMOOTHING[1] * max(peaks.shape))
    inside = (~np.ma.getmaskarray(peaks)).astype(float)  # cells with values, which alone count
    with np.errstate(invalid="ignore"):
        smooth = gaussian_filter(peaks.filled(0), width) / gaussian_filter(inside, width)
    smooth[inside == 0] = np.nan
    colours = np.where(np.asarray(cells.norm(np.array(levels))) < _DARK, INK, "white").tolist()
    style = {"colors": colours, "linewidths": 0.7, "alpha": 0.7}
    return axes.contour(*refined_mesh(frame), refined(smooth), levels=levels, **style)


def _centre(frame: MapFrame, attrs: Attributes) -> Floats:
    """Where the source is drawn, (n, 2)."""
    places = [(attrs.get(f"{name}_x"), attrs.get(f"{name}_y")) for name in ("event", "epicentre")]
    known = np.array([place for place in places if None not in place], float).reshape(-1, 2)
    return np.column_stack(frame.locate(known[:, 0], known[:, 1]))


def _peak_sentence(shaking: xarray.Dataset, unit: float, unit_name: str) -> str:
    """The largest peak and its distance from the epicentre, as a sentence."""
    pgv, attrs = shaking["pgv"].values, shaking.attrs
    if not np.isfinite(pgv).any():
        return "No ground velocity was recorded"
    row, column = np.unravel_index(np.nanargmax(pgv), pgv.shape)
    sentence = f"Strongest shaking {pgv[row, column] / unit:.3g} {unit_name}"
    if (centre := epicentre(attrs)) is None:
        return sentence
    x, y = shaking["x"].values[column], shaking["y"].values[row]
    distance = np.hypot(x - centre[0], y - centre[1])
    return f"{sentence}, {distance / 1e3:.1f} km from the epicentre"


def _draw_stations(axes: Axes, frame: MapFrame, path: Path) -> tuple[list[str], Floats]:
    """Draw the stations of a file of seismograms; returns their codes and positions (n, 2)."""
    if not path.exists():
        return [], np.empty((0, 2))
    seismograms = read_seismograms(path)
    u, v = frame.locate(seismograms["x"], seismograms["y"])
    axes.plot(u, v, "^", markersize=7, color="white", markeredgecolor=INK, zorder=5)
    return [str(code) for code in seismograms["code"].values], np.column_stack([u, v])
