"""A film of faults that break: slip rate, and the front of the rupture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.plotting.film import clock, film, frames_of
from groundswell.plotting.style import INK, colour_bar, headline, shades, title_of
from groundswell.seismology.formats.fault_maps import NAME, read_fault_map
from groundswell.seismology.formats.fault_series import EACH, HISTORY_FILE, lazy_history
from groundswell.seismology.plots.fault_panel import (
    FaultPanel,
    mark_start,
    panel_axes,
    panels_height,
    panels_of,
    rate_unit,
)
from groundswell.seismology.plots.source import event_sentence

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.tri import TriContourSet

_PIXELS = 1000  # along a fault; the film resolves no more
_REST = 0.01  # slip rate over the largest one below which the fault rests; the film ends there
_SHOWN = 0.999  # share of the slip rates above that which colours distinguish
_NEVER = 1e9  # s, rupture time where the fault has not broken


@dataclass(frozen=True, eq=False)
class SlipRates:
    """Mean slip rates of subfaults in intervals of a film.

    Args:
        times: the middle of each interval, (frames,), s.
        values: (frames, subfaults), m/s.
        places: of the subfaults along strike and down dip, (subfaults, 2), m.
        each: number of subfaults of a face.
    """

    times: Floats
    values: Floats
    places: Floats
    each: int

    @property
    def limit(self) -> float:
        """Largest slip rate of the colours, m/s: few points are faster, each for a short time."""
        moving = self.values[self.values >= _REST * self.values.max()]
        return float(np.quantile(moving, _SHOWN))


def slip_rate_film(results: str | Path) -> Path | None:
    """Draw `fault_slip_rate.mp4` or `.gif`: slip rate with the front of the rupture over time.

    A frame shows the mean slip rates between two samples, and the front in the middle between
    them. Samples are left out if there are more than frames. The film ends when the faults rest.

    Args:
        results: folder with `rupture.nc` and `fault.nc`.

    Returns:
        The path of the film, or None if nothing has slipped.

    Raises:
        InputError: a file is missing or damaged, or they are of different runs.
    """
    folder = Path(results)
    fault = read_fault_map(folder / NAME)
    rates = _read_rates(folder / HISTORY_FILE)
    if not rates.values.any():
        return None
    panels = [*panels_of(fault)]
    path = folder / "fault_slip_rate.mp4"
    return film(path, panels_height(panels), lambda figure: _frames(figure, fault, panels, rates))


# --- slip rates -----------------------------------------------------------------------------------


def _read_rates(path: Path) -> SlipRates:
    """The slip rates until the faults rest, for at most MOST_FRAMES frames."""
    with lazy_history(path) as history:
        samples = frames_of(history.sizes["time"])
        if len(samples) < 2:
            return _rates(history, range(1))
        rates = _rates(history, samples)
        fastest = rates.values.max(axis=1)
        last = int(np.flatnonzero(fastest >= _REST * fastest.max())[-1]) + 1
        return _rates(history, frames_of(samples[last] + 1))


def _rates(history: xarray.Dataset, samples: range) -> SlipRates:
    """The mean slip rates between some samples."""
    chosen = history.isel(time=slice(samples.start, samples.stop, samples.step))
    times = chosen["time"].values
    strike, updip = (np.diff(chosen[f"slip_{way}"].values, axis=0) for way in ("strike", "updip"))
    values = np.hypot(strike, updip) / np.diff(times)[:, None]
    places = np.column_stack([history[axis].values for axis in ("along_strike", "down_dip")])
    return SlipRates((times[1:] + times[:-1]) / 2, values, places, int(history.attrs[EACH]))


# --- frames ---------------------------------------------------------------------------------------


def _frames(
    figure: Figure, fault: xarray.Dataset, panels: Sequence[FaultPanel], rates: SlipRates
) -> Iterator[None]:
    """Draw the panels, and change them from frame to frame."""
    unit, name = rate_unit(rates.limit)
    broken, drawn = fault["rupture_time"].values, panel_axes(figure, panels)
    nodes, scale = _nodes(fault, rates), _PIXELS / max(panel.size[0] for panel in panels)
    films = [
        _PanelFilm(axes, panel, _subfaults(panel, rates, nodes, scale), broken, rates.limit / unit)
        for axes, panel in zip(drawn, panels, strict=True)
    ]
    mark_start(drawn, panels, broken)
    colour_bar(drawn[0], films[0].image, f"Slip rate ({name})", extend="max")
    subtitle = headline(drawn[0], title_of(fault.attrs, "Rupture"), "")
    event, shown = event_sentence(fault.attrs), zip(rates.times, rates.values, strict=True)
    for text, (time, values) in zip(clock(rates.times), shown, strict=True):
        for each in films:
            each.show(time, values / unit)
        fastest = f"{values.max() / unit:.2g} {name}"
        subtitle.set_text(f"{event}Slip rate at {text}, at most {fastest}; the line is the front")
        yield


class _PanelFilm:
    """The image of a fault, and the front of the rupture, which change.

    Args:
        axes: of the panel.
        subfaults: at each pixel, masked outside the fault.
        broken: rupture time at all points of the file, s; NaN where they have not broken.
        limit: largest value of the colours.
    """

    def __init__(
        self,
        axes: Axes,
        panel: FaultPanel,
        subfaults: np.ma.MaskedArray,
        broken: Floats,
        limit: float,
    ) -> None:
        self._axes, self._panel, self._subfaults = axes, panel, subfaults
        self._broken = _earliest(panel, np.where(np.isfinite(broken), broken, _NEVER))
        self._front: TriContourSet | None = None
        along, down = panel.along, panel.down
        self.image: AxesImage = axes.imshow(
            np.ma.zeros(subfaults.shape),
            cmap=shades(),
            vmin=0,
            vmax=limit,
            extent=(along.min(), along.max(), down.max(), down.min()),
        )

    def show(self, time: float, values: Floats) -> None:
        """Show the values of all subfaults, and the front at a time, s."""
        shown = values[self._subfaults.data]
        self.image.set_data(np.ma.array(shown, mask=self._subfaults.mask))
        if self._front is not None:
            self._front.remove()
            self._front = None
        if self._broken.min() < time < self._broken.max():
            style = {"colors": INK, "linewidths": 1.2}
            self._front = self._axes.tricontour(
                self._panel.triangles, self._broken, levels=[time], **style
            )


def _earliest(panel: FaultPanel, times: Floats) -> Floats:
    """The earliest of the times at each place, where elements may differ."""
    found = np.full(panel.along.shape, _NEVER)
    np.minimum.at(found, panel.place, times[panel.points])
    return found


def _nodes(fault: xarray.Dataset, rates: SlipRates) -> int:
    """Number of points of each face; they follow one another."""
    points, subfaults = fault.sizes["point"], len(rates.places)
    if points * rates.each % subfaults:
        raise InputError(
            f"{NAME} has {points} points, and {HISTORY_FILE} {subfaults} subfaults, which are of "
            "another run; run the case again"
        )
    return points * rates.each // subfaults


def _subfaults(panel: FaultPanel, rates: SlipRates, nodes: int, scale: float) -> np.ma.MaskedArray:
    """The nearest subfault at each pixel of a fault, masked outside the fault.

    Args:
        nodes: number of points of each face.
        scale: number of pixels per km.
    """
    from scipy.spatial import cKDTree

    faces = np.unique(panel.points // nodes)
    found = (rates.each * faces[:, None] + np.arange(rates.each)).ravel()
    along, down = (_pixels(axis, scale) for axis in (panel.along, panel.down))
    at = np.meshgrid(along, down)
    nearest = cKDTree(rates.places[found] / 1e3).query(np.stack(at, axis=-1))[1]
    return np.ma.array(found[nearest], mask=panel.triangles.get_trifinder()(*at) < 0)


def _pixels(axis: Floats, scale: float) -> Floats:
    """The middles of pixels from the first to the last place along an axis, km."""
    low, high = float(axis.min()), float(axis.max())
    count = max(round((high - low) * scale), 1)
    return low + (high - low) * (np.arange(count) + 0.5) / count
