"""Seismograms from strain Green tensors: a sum over the subfaults at each frequency.

The velocity at a station along an axis is the sum over subfaults of the moment rate, convolved with
the strain due to a unit impulse of a force along this axis; see `groundswell.seismology.green`. The
force has a duration, and its time function filters the seismograms. They are shifted in time by its
centroid, so that a symmetric one does not delay them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import DeviceArray, Floats, HostArray
from groundswell.backends import Backend, Blocks, Items, Module, Source
from groundswell.backends.source import precision
from groundswell.backends.transforms import spectrum_dtype, spectrum_shape
from groundswell.errors import InputError
from groundswell.seismology.green.files import STRAIN
from groundswell.seismology.green.slip import SlipRows
from groundswell.seismology.sources.point_sources import PointSource

if TYPE_CHECKING:
    import xarray

SOURCE = Path(__file__).parents[1] / "kernels" / "synthesize.h"
SHAPES = {"own": 0, "brune": 1, "cosine": 2, "triangle": 3}  # as in kernels/synthesize.h
BRUNE_SUPPORT = 17.0  # in rise times, see `Brune`
COMPONENTS = 3
TILE = 128  # frequencies of a thread block
CHUNK_BYTES = 512 << 20  # of the spectra and seismograms of variations on the device
ROWS_AT_ONCE = 256  # spectra of sources that are computed at once
_ROUNDING = 1e-9  # of times, in steps


def synthesis_source(shape: str, dtype: str) -> Source:
    """The source of the kernels for a shape of slip rates and a floating-point type."""
    constants = {"SHAPE": SHAPES[shape], "COMPONENTS": COMPONENTS, "TILE": TILE}
    return Source(SOURCE, {**precision(dtype), **constants})


@dataclass(frozen=True, eq=False)
class Variations:
    """Variations of a rupture: changes of the onset, slip and rise time of its rows.

    Args:
        onset: of the slip of each row, s, (variations, rows).
        amplitude: factors of the slip, (variations, rows) or (variations, 1).
        rise: rise times, s, (variations, rows) or (variations, 1); not used for their own shapes.
        shape: of the slip rates: "own", those of the rupture, or "brune", "cosine" or "triangle".
    """

    onset: Floats
    amplitude: Floats
    rise: Floats
    shape: str = "own"

    @classmethod
    def none(cls, rows: SlipRows) -> Variations:
        """The rupture itself, as its only variation."""
        return cls(rows.onsets[None], np.ones((1, 1)), np.ones((1, 1)))

    def __len__(self) -> int:
        return len(self.onset)

    @property
    def start(self) -> float:
        """Time of the first slip of all variations, s."""
        return float(self.onset.min())

    def end(self, own: float) -> float:
        """Time of the last slip, s; `own` is the duration of the rows' own slip rates, s."""
        factor = BRUNE_SUPPORT if self.shape == "brune" else 1.0
        return float(self.onset.max() + (own if self.shape == "own" else factor * self.rise.max()))


@dataclass(frozen=True)
class _Times:
    """The samples of seismograms, and the length of transforms.

    Args:
        interval: between samples, s.
        samples: their number.
        length: number of values of a transform, large enough to avoid wrap-around.
        zero: time at which the spectra of sources have phase 0, s.
    """

    interval: float
    samples: int
    length: int
    zero: float

    @property
    def frequencies(self) -> int:
        return self.length // 2 + 1

    @property
    def step(self) -> float:
        """Between frequencies, Hz."""
        return 1 / (self.length * self.interval)


def seismograms(
    tensor: xarray.Dataset, rows: SlipRows, backend: Backend, dtype: str = "float32"
) -> xarray.DataArray:
    """Velocity (component, time) at a station due to a rupture, m/s, along x, y and down.

    Args:
        tensor: see tensor.py.
        rows: the slip.
        dtype: floating-point type of the computation.

    Raises:
        InputError: slip begins after the end of the seismograms.
    """
    return variations(tensor, rows, Variations.none(rows), backend, dtype)[0]


def variations(
    tensor: xarray.Dataset,
    rows: SlipRows,
    varied: Variations,
    backend: Backend,
    dtype: str = "float32",
) -> xarray.DataArray:
    """Velocity (variation, component, time) due to variations of a rupture; see `seismograms`."""
    import xarray

    synthesis = Synthesis(tensor, rows, varied, backend, dtype)
    values = np.empty((len(varied), COMPONENTS, synthesis.times.samples), dtype)
    for chosen, block in synthesis.blocks():
        values[chosen] = block
    coordinates = {"component": ["x", "y", "z"], "time": synthesis.sample_times}
    dims = ("variation", "component", "time")
    return xarray.DataArray(values, coordinates, dims, "velocity", {"units": "m s-1"})


class Synthesis:
    """Variations of a rupture at a station: transforms of the tensor, and their seismograms.

    Args: see `variations`.

    Attributes:
        times: of the seismograms.
    """

    def __init__(
        self,
        tensor: xarray.Dataset,
        rows: SlipRows,
        varied: Variations,
        backend: Backend,
        dtype: str,
    ) -> None:
        self._tensor, self._rows, self._varied = tensor, rows, varied
        self._backend, self._dtype = backend, dtype
        self.times = _times(tensor, rows, varied)
        self._green = self._transformed()

    @property
    def sample_times(self) -> Floats:
        """Times of the samples, s, (samples,)."""
        attrs, times = self._tensor.attrs, self.times
        first = times.zero + float(attrs["start"]) - float(attrs["centroid"])
        return np.asarray(first + times.interval * np.arange(times.samples), float)

    def blocks(self) -> Iterator[tuple[slice, HostArray]]:
        """Yield variations and their velocities (variations, component, time)."""
        for first in range(0, len(self._varied), self._at_once):
            chosen = slice(first, min(first + self._at_once, len(self._varied)))
            yield chosen, self._velocities(chosen)

    @cached_property
    def _at_once(self) -> int:
        """Number of variations whose spectra and seismograms fit into CHUNK_BYTES."""
        size = np.dtype(self._dtype).itemsize * self.times.length
        return max(1, min(len(self._varied), CHUNK_BYTES // (2 * COMPONENTS * size)))

    @cached_property
    def _module(self) -> Module:
        return self._backend.compile(synthesis_source(self._varied.shape, self._dtype))

    def _transformed(self) -> DeviceArray:
        """Spectra of the response to each row, (rows, components, frequencies), on the device."""
        times, backend, count = self.times, self._backend, len(self._rows.points)
        shape = (count, COMPONENTS, times.length)
        padded = np.zeros(shape, self._dtype)
        strain = self._tensor[STRAIN].values
        for row, (point, of) in enumerate(
            zip(self._rows.points, self._rows.coefficients, strict=True)
        ):
            padded[row, :, : times.samples] = np.einsum("k,ckt->ct", of, strain[:, point])
        series = backend.to_device(padded)
        green = backend.zeros(spectrum_shape(shape), spectrum_dtype(self._dtype))
        backend.real_transform(shape, self._dtype, axes=1).forward(series, green)()
        if self._varied.shape == "own":
            self._multiply(green)
        return green

    def _multiply(self, green: DeviceArray) -> None:
        """Multiply the responses with the spectra of the rows' own moment rates."""
        factors = own_spectra(self._rows.sources, self.times, float(self._tensor.time_step))
        own = self._backend.to_device(factors.astype(spectrum_dtype(self._dtype)))
        rows, _, frequencies = green.shape
        extent = Items(rows * COMPONENTS * frequencies)
        self._module.launch("multiply_rows", extent, green, own, rows, frequencies)()

    def _velocities(self, chosen: slice) -> HostArray:
        """Velocities (variations, component, time) of some variations."""
        backend, times, count = self._backend, self.times, chosen.stop - chosen.start
        shape = (count, COMPONENTS, times.length)
        spectra = backend.zeros(spectrum_shape(shape), spectrum_dtype(self._dtype))
        found = backend.zeros(shape, self._dtype)
        self._launch(spectra, chosen)
        backend.real_transform(shape, self._dtype, axes=1).inverse(spectra, found)()
        return backend.to_host(found)[..., : times.samples] / self._scalar(times.length)

    def _scalar(self, value: float) -> np.floating:
        return np.dtype(self._dtype).type(value)

    def _launch(self, spectra: DeviceArray, chosen: slice) -> None:
        """Enqueue the products of matrices."""
        varied, to_device, times = self._varied, self._backend.to_device, self.times
        onset = varied.onset[chosen] - times.zero
        amplitude, rise = (
            np.ascontiguousarray(of[chosen], self._dtype) for of in (varied.amplitude, varied.rise)
        )
        (count, rows), tiles = onset.shape, ceil(times.frequencies / TILE)
        arguments = {
            "seismograms": spectra,
            "green": self._green,
            "onset": to_device(np.ascontiguousarray(onset, np.float64)),
            "amplitude": to_device(amplitude),
            "rise": to_device(rise),
            "step": to_device(np.array([times.step])),
        }
        sizes = {"variations": count, "rows": rows, "frequencies": times.frequencies}
        sizes |= {"amplitudes": amplitude.shape[1], "rises": rise.shape[1]}
        self._module.launch("synthesize", Blocks(count * tiles, TILE), **arguments, **sizes)()


def _times(tensor: xarray.Dataset, rows: SlipRows, varied: Variations) -> _Times:
    """The times of the seismograms; they start when sources do, or earlier."""
    from scipy.fft import next_fast_len

    interval, samples = float(tensor.attrs["interval"]), int(tensor.sizes["time"])
    zero = first_time(tensor, varied)
    _require_seen(float(varied.onset.max()) - zero, interval * samples)
    own = max(source.step * source.samples.size for source in rows.sources)
    duration = ceil((varied.end(own) - zero) / interval) + 1
    return _Times(interval, samples, next_fast_len(samples + duration, real=True), zero)


def first_time(tensor: xarray.Dataset, varied: Variations) -> float:
    """The time of the first sample of seismograms: 0, or before the first slip, s."""
    interval = float(tensor.attrs["interval"])
    return min(0.0, floor(varied.start / interval * (1 + 1e-12)) * interval)


def _require_seen(latest: float, duration: float) -> None:
    """Raise `InputError` for slip that begins after the seismograms, which end with the runs."""
    if latest > duration:
        raise InputError(
            f"slip begins {latest:.6g} s after the first slip or time 0, but the seismograms last "
            f"only {duration:.6g} s, as the runs do; check the times of slip, or run for longer"
        )


def own_spectra(sources: Sequence[PointSource], times: _Times, dt: float) -> HostArray:
    """Spectra of moment rates whose time 0 is the start of each source, (rows, frequencies).

    The moment rate is that of a run: linear between the samples, at multiples of its time step. It
    is then transformed at the frequencies of the tensor, whose samples may be further apart.

    Args:
        dt: time step of the runs, s.
    """
    every, found = round(times.interval / dt), []
    for first in range(0, len(sources), ROWS_AT_ONCE):
        chosen = sources[first : first + ROWS_AT_ONCE]
        sampled = np.stack([_at_steps(source, times.length * every, dt) for source in chosen])
        spectra = dt * np.fft.rfft(sampled, axis=1)[:, : times.frequencies]
        # Steps are multiples of dt from time 0, sources start between them.
        late = np.array([source.start - _step_before(source, dt) * dt for source in chosen])
        turns = times.step * np.outer(late, np.arange(times.frequencies))
        found.append(spectra * np.exp(2j * np.pi * turns))
    return np.concatenate(found)


def _step_before(source: PointSource, dt: float) -> int:
    """The last step, in multiples of dt from time 0, that is not after the start of a source."""
    return floor(source.start / dt + _ROUNDING)


def _at_steps(source: PointSource, steps: int, dt: float) -> Floats:
    """The moment rate at `steps` multiples of dt, from the last one before its start on."""
    late, last = source.start - _step_before(source, dt) * dt, source.samples.size - 1
    count = min(steps, ceil((late + source.step * last) / dt + _ROUNDING) + 1)
    places = (dt * np.arange(count) - late) / source.step
    places = np.where(np.abs(places) < _ROUNDING, 0.0, places)
    places = np.where(np.abs(places - last) < _ROUNDING, last, places)
    rates = np.interp(places, np.arange(last + 1), source.samples, left=0.0, right=0.0)
    return np.pad(rates, (0, steps - count))
