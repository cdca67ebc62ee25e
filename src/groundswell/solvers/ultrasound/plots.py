"""Pictures of an ultrasound run: the largest pressure, the focus, and a recorded spectrum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.arrays import Reals
from groundswell.plotting.style import (
    ACCENT,
    COLOURS,
    QUIET,
    grid_lines,
    headline,
    picture,
    title_of,
)
from groundswell.report.pictures import Picture
from groundswell.simulation.summary import read_summary
from groundswell.solvers.ultrasound import results as readers
from groundswell.solvers.ultrasound.case import FILM_FILE, PEAK_FILE
from groundswell.solvers.ultrasound.film import pressure_film
from groundswell.solvers.ultrasound.focus import HALF
from groundswell.solvers.ultrasound.heat.picture import heat_picture
from groundswell.solvers.ultrasound.heat.treatment import HEAT_FILE
from groundswell.solvers.ultrasound.plane_panels import (
    colour_bar,
    draw_plane,
    draw_surfaces,
    plane_picture,
    planes_of,
    through,
)
from groundswell.solvers.ultrasound.planes import draw_outline, outlined_property
from groundswell.solvers.ultrasound.run_facts import FACTS, surfaces_of
from groundswell.solvers.ultrasound.transducers import Surface
from groundswell.solvers.ultrasound.units import MM, place_text, pressure_unit

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

_FLOOR = -80.0  # dB, lowest level that a spectrum shows
_SMALLEST = 1e-30  # relative amplitude that stands for 0; its level lies far below the picture
_LEAST_SAMPLES = 16  # shorter series have no useful spectrum


# --- the largest pressure -------------------------------------------------------------------------


def pressure_picture(results: str | Path) -> Path | None:
    """Draw `pressure.png`: the largest pressure in the planes of the grid through the focus.

    White lines outline the parts of the medium, by sound speed or, if that is uniform, by density.
    Turquoise points show where the surfaces of transducers cross the planes.

    Args:
        results: folder with `peak_pressure.nc`.

    Returns:
        The path of the picture, or None if there is no pressure.

    Raises:
        InputError: a file is damaged.
    """
    folder = Path(results)
    peak = readers.fields(folder)["p_max"]
    focus = readers.focus(folder)
    if not focus.pressure > 0:
        return None
    unit, name = pressure_unit(focus.pressure)
    outline = outlined_property(folder)
    planes = planes_of(focus.position)
    cuts = [through(peak, focus.position, plane) / unit for plane in planes]
    limit = max(float(cut.max()) for cut in cuts)
    path, surfaces, has_surface = folder / "pressure.png", _surfaces(folder), False
    with plane_picture(path, cuts) as panels:
        for axes, cut, plane in zip(panels, cuts, planes, strict=False):
            image = draw_plane(axes, cut, focus.position, (0.0, limit))
            if outline is not None:
                draw_outline(axes, through(outline, focus.position, plane))
            has_surface |= draw_surfaces(axes, surfaces, focus.position, plane)
        colour_bar(panels[-1], image, f"Largest pressure ({name})")
        subtitle = f"{focus.pressure / unit:.3g} {name} at {place_text(focus.position)}"
        lines = "" if outline is None else f"; white lines: {outline.attrs['name']}"
        lines += "; turquoise: transducer" if has_surface else ""
        headline(panels[0], _title(folder), subtitle + lines)
    return path


def _surfaces(folder: Path) -> list[Surface]:
    """The surfaces of the sources; none if the summary is that of an earlier version."""
    facts = read_summary(folder)["case"].get(FACTS)
    return surfaces_of(facts) if facts else []


# --- the focus ------------------------------------------------------------------------------------


def focus_picture(results: str | Path) -> Path | None:
    """Draw `focus.png`: the largest pressure along the axes through the focus.

    Args:
        results: folder with `peak_pressure.nc`.

    Returns:
        The path of the picture, or None if there is no pressure.

    Raises:
        InputError: the file is damaged.
    """
    folder = Path(results)
    peak = readers.fields(folder)["p_max"]
    focus = readers.focus(folder)
    if not focus.pressure > 0:
        return None
    unit, name = pressure_unit(focus.pressure)
    path = folder / "focus.png"
    with picture(path, 3.6) as figure:
        panels = figure.subplots(1, len(focus.position), sharey=True, squeeze=False)[0]
        for axes, axis in zip(panels, focus.position, strict=True):
            others = {key: at for key, at in focus.position.items() if key != axis}
            profile = peak.sel(others, method="nearest").squeeze().load()
            axes.plot(profile[axis] / MM, profile / unit, color=COLOURS[1])
            _draw_width(axes, focus.edges[axis], HALF * focus.pressure / unit)
            axes.set(xlabel=f"{axis} (mm)", ylim=(0, 1.08 * focus.pressure / unit))
            grid_lines(axes)
        panels[0].set_ylabel(f"Largest pressure ({name})")
        subtitle = f"{focus.pressure / unit:.3g} {name} at {place_text(focus.position)}"
        headline(panels[0], _title(folder), f"{subtitle}; widths at -6 dB")
    return path


def _draw_width(axes: Axes, edges: tuple[float, float], level: float) -> None:
    """Draw the -6 dB level, and the width where the profile has one."""
    from matplotlib.patheffects import withStroke

    axes.axhline(level, color=QUIET, linewidth=0.8, linestyle="--")
    low, high = (edge / MM for edge in edges)
    if not np.isfinite(high - low):
        return
    axes.plot([low, high], [level, level], "|-", color=ACCENT, linewidth=2, markersize=10)
    first, last = axes.get_xlim()
    if high - low > (last - first) / 4:
        place: dict[str, Any] = {"xy": ((low + high) / 2, level), "xytext": (0, -16)}
        place["ha"] = "center"
    elif last - high > low - first:
        place = {"xy": (high, level), "xytext": (6, 4), "ha": "left"}
    else:
        place = {"xy": (low, level), "xytext": (-6, 4), "ha": "right"}
    halo = [withStroke(linewidth=2.5, foreground="white")]  # over peaks of standing waves
    place |= {"color": ACCENT, "fontweight": "bold", "path_effects": halo}
    axes.annotate(f"{high - low:.3g} mm", textcoords="offset points", **place)


# --- the spectrum ---------------------------------------------------------------------------------


def spectrum_picture(results: str | Path) -> Path | None:
    """Draw `spectrum.png`: spectra of the first recorded series at points.

    Args:
        results: folder of the run.

    Returns:
        The path of the picture, or None if the run has recorded no such series.

    Raises:
        InputError: a file is damaged.
    """
    folder = Path(results)
    series = next(_point_series(folder), None)
    if series is None:
        return None
    path = folder / "spectrum.png"
    with picture(path, 4.0) as figure:
        axes = figure.add_subplot()
        _draw_spectra(axes, series, read_summary(folder)["case"])
        subtitle = f"Spectrum of {series.name} at the recorded points (Hann window)"
        headline(axes, _title(folder), subtitle)
    return path


def _point_series(folder: Path) -> Iterator[xarray.DataArray]:
    """Recorded series (time, point) that are not all zero; the first few points of each."""
    for dataset in readers.record_reader().open(folder).values():
        for values in dataset.data_vars.values():
            if values.dims == ("time", "point") and values.sizes["time"] >= _LEAST_SAMPLES:
                few = values[:, : len(COLOURS)].load()
                if np.any(few):
                    yield few


def _draw_spectra(axes: Axes, series: xarray.DataArray, case: Mapping[str, Any]) -> None:
    """Draw the spectra of points, in dB of the largest, up to the highest frequency of the grid."""
    frequencies, amplitudes = spectra(series["time"].values, series.values)
    levels = 20 * np.log10(np.maximum(amplitudes / amplitudes.max(), _SMALLEST))
    for n, colour in zip(range(series.sizes["point"]), COLOURS, strict=False):
        position = {axis: float(series[axis][n]) for axis in "xyz"[: len(case["region"])]}
        axes.plot(frequencies / 1e6, levels[:, n], color=colour, label=place_text(position))
    axes.legend(frameon=False)
    axes.set(xlabel="Frequency (MHz)", ylabel="Level (dB re largest)", ylim=(_FLOOR, 5))
    axes.set_xlim(0, min(case["frequency_max"], frequencies[-1]) / 1e6)
    grid_lines(axes)


def spectra(times: Reals, values: Reals) -> tuple[Reals, Reals]:
    """Frequencies (Hz) and amplitudes of series (time, ...) with a Hann window."""
    window = np.hanning(len(times))
    scale = 2 / window.sum()
    found = np.abs(np.fft.rfft(values * window.reshape(-1, *[1] * (values.ndim - 1)), axis=0))
    frequencies = np.fft.rfftfreq(len(times), float(times[1] - times[0]))
    return frequencies, np.asarray(scale * found)


# --- all pictures ---------------------------------------------------------------------------------


def _title(folder: Path) -> str:
    """The title of the run."""
    return title_of(read_summary(folder), "Ultrasound")


PICTURES = [
    Picture(PEAK_FILE, "pressure.png", "The largest pressure", pressure_picture),
    Picture(PEAK_FILE, "focus.png", "Profiles through the focus", focus_picture),
    Picture(HEAT_FILE, "heat.png", "The largest temperature", heat_picture),
    Picture("summary.json", "spectrum.png", "Spectra at recorded points", spectrum_picture),
    Picture(FILM_FILE, "film.mp4", "The pressure over time", pressure_film, is_film=True),
]
