"""Slip models in FSP as ruptures: slip rates, areas, angles and rigidities of the subfaults.

The slip rate of a subfault, or of each of its time windows, is one cosine pulse. Its integral over
a sample is exact, so that the slip is that of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.formats.fsp import Fsp, FspSegment, read_fsp, window_columns
from groundswell.seismology.formats.srf_content import Plane, Srf

_SAMPLES = 40  # of a pulse; its spectrum has fallen to 1e-4 at their Nyquist frequency
_MOST_WINDOWS = 200
_SAME_RAKE = 1e-6  # degrees
_MOMENT_RATIO = 2.0  # of moments that are stated twice; more is taken for another unit
_USUAL_DENSITY = 2700.0  # kg/m^3, with which S speeds stand for rigidities that moments imply


class SlipModel(NamedTuple):
    """A rupture, and warnings about its file."""

    content: Srf
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class _Pulses:
    """Pulses of slip rate of a segment, (windows,) and (subfaults, windows).

    Args:
        starts: after the rupture time of the subfault, s, (windows,).
        lengths: s, (subfaults,).
        slips: along the rake and 90 degrees from it, m, (subfaults, windows, 2).
    """

    starts: Floats
    lengths: Floats
    slips: Floats

    def rates(self, subfault: int) -> tuple[float, Floats]:
        """The step (s) and the slip rates (m/s) of a subfault, (samples, 2)."""
        length = float(self.lengths[subfault])
        step = length / _SAMPLES
        edges = step * np.arange(np.ceil((self.starts[-1] + length) / step * (1 - 1e-9)) + 1)
        phase = ((edges[:, None] - self.starts) / length).clip(0, 1)
        released = phase - np.sin(2 * np.pi * phase) / (2 * np.pi)
        return step, np.diff(released @ self.slips[subfault], axis=0) / step


def read_slip_model(path: Path, rise: float | None) -> SlipModel:
    """The rupture of a file in FSP.

    Args:
        rise: duration of slip, s, of subfaults whose own is unknown; None for the average that the
            file states.

    Raises:
        InputError: the file cannot be read, or lacks areas, angles or durations.
    """
    model = read_fsp(path)
    parts = [_rupture(segment, rise, path) for segment in model.segments]
    columns: dict[str, Any] = {
        key: np.concatenate([part[key] for part in parts]) for key in parts[0]
    }
    vs, density = _structure(model, columns["depth"])
    stated = np.concatenate([_moments(segment) for segment in model.segments])
    warnings = [*_moment_warnings(stated, model.segments[0].number("MO"), path.name)]
    if not warnings and not np.isnan(stated).any():
        potency = columns["area"] * np.linalg.norm(columns["slip"], axis=1)
        vs, density = _from_moments(stated, potency, vs, density)
    try:
        content = Srf(**columns, vs=vs, density=density)
    except InputError as error:
        text, _, _ = str(error).partition("; the file has")  # the number and the unit of SRF
        raise InputError(f"{path}: {text}") from None
    return SlipModel(replace(content, planes=tuple(_planes(model, path))), tuple(warnings))


def _rupture(segment: FspSegment, rise: float | None, path: Path) -> dict[str, Any]:
    """The columns of `Srf` for a segment, without the medium."""
    strike, dip, rake = _angles(segment, path)
    pulses, count = _pulses(segment, rake, rise, path), len(segment)
    slip = pulses.slips.sum(axis=1)
    found = [pulses.rates(n) for n in range(count)]
    steps = np.array([step for step, _ in found])
    moving = np.array([rates.any(axis=0) for _, rates in found])
    samples = np.array([[len(rates)] for _, rates in found])
    return {
        "longitude": segment.required("LON"),
        "latitude": segment.required("LAT"),
        "depth": 1e3 * segment.required("Z"),
        "strike": np.full(count, strike),
        "dip": np.full(count, dip),
        "rake": rake,
        "area": np.full(count, _area(segment, path)),
        "onset": segment.required("TRUP") + steps / 2,
        "step": steps,
        "slip": np.pad(slip, ((0, 0), (0, 1))),
        "counts": np.pad(samples * moving, ((0, 0), (0, 1))),
        "rates": np.concatenate([r.T[m].ravel() for (_, r), m in zip(found, moving, strict=True)]),
    }


def _angles(segment: FspSegment, path: Path) -> tuple[float, float, Floats]:
    """Strike, dip, and the rakes of the subfaults, degrees."""
    strike, dip = segment.number("STRIKE", "STRK"), segment.number("DIP")
    rakes = segment.column("RAKE")
    if rakes is None and (rake := segment.number("RAKE")) is not None:
        rakes = np.full(len(segment), rake)
    if strike is None or dip is None or rakes is None:
        raise InputError(
            f"{path}: the header needs STRK, DIP and RAKE (or a column RAKE) of each segment, as "
            "in % Mech : STRK = 30 DIP = 60 RAKE = 90"
        )
    return strike % 360, dip, np.mod(rakes + 180, 360) - 180


def _area(segment: FspSegment, path: Path) -> float:
    """The area of a subfault, m^2."""
    sides = segment.number("DX"), segment.number("DZ", "DY")
    if None in sides:
        sides = segment.number("LEN"), segment.number("WID")
        count = len(segment)
    else:
        count = 1
    if sides[0] is None or sides[1] is None:
        raise InputError(f"{path}: the header needs the sizes of subfaults, % Invs : Dx = ... Dz =")
    return 1e6 * sides[0] * sides[1] / count


def _pulses(segment: FspSegment, rake: Floats, rise: float | None, path: Path) -> _Pulses:
    windows = window_columns(segment)
    if not windows:
        slip = segment.required("SLIP")
        lengths = _rises(segment, slip, rise, path)
        return _Pulses(np.zeros(1), lengths, _along(slip, np.zeros(len(slip)))[:, None])
    length, shift = segment.number("WINDOW"), segment.number("SHF")
    number, most = max(n for n, _ in windows) + 1, _MOST_WINDOWS
    if not length or length <= 0 or shift is None or not 0 <= number * shift <= most * length:
        raise InputError(
            f"{path}: columns TW1, TW2, ... need the length and the shift of time windows in the "
            "header, as in % Invs : LEN = 2 s SHF = 1 s"
        )
    slips: Floats = np.zeros((len(segment), number, 2))
    for n, name in windows:
        own = segment.column(f"RK{name}")
        turned = np.zeros(len(segment)) if own is None else own - rake
        slips[:, n] = _along(segment.required(name), turned)
    starts = np.asarray(shift * np.arange(number), float)
    return _Pulses(starts, np.full(len(segment), float(length)), slips)


def _along(slip: Floats, turned: Floats) -> Floats:
    """Components of slip at an angle (degrees) from the rake, along it and across, (n, 2)."""
    angle = np.radians(turned)
    across = np.where(np.abs(turned) < _SAME_RAKE, 0.0, np.sin(angle))
    return np.stack([slip * np.cos(angle), slip * across], axis=-1)


def _rises(segment: FspSegment, slip: Floats, rise: float | None, path: Path) -> Floats:
    """Durations of slip, s: of the file, or else `rise` or the average of the file."""
    own = segment.column("RISE")
    known = np.zeros(len(slip)) if own is None else own
    usual = segment.number("AVTR") if rise is None else rise
    is_known = (known > 0) & (known != 999.0)
    if not is_known[slip != 0].all() and not (usual and usual > 0):
        raise InputError(
            f"{path}: the duration of slip is unknown in {(~is_known & (slip != 0)).sum()} of "
            f"{len(slip)} subfaults (no RISE, and no avTr in the header); give rise in the source"
        )
    return np.where(is_known, known, usual or 1.0)


def _structure(model: Fsp, depth: Floats) -> tuple[Floats, Floats]:
    """S speed (m/s) and density (kg/m^3) of the file at depths (m), NaN if it has none."""
    if not model.structure.size:
        return np.full(depth.shape, np.nan), np.full(depth.shape, np.nan)
    layers = 1e3 * model.structure[np.argsort(model.structure[:, 0], kind="stable")]
    row = (np.searchsorted(layers[:, 0], depth, "right") - 1).clip(0)
    return layers[row, 2], layers[row, 3]


def _planes(model: Fsp, path: Path) -> Iterator[Plane]:
    """Yield the planes of the segments, if the sizes of all of them are known."""
    found = [_plane(segment, path) for segment in model.segments]
    complete = [plane for plane in found if plane is not None]
    if len(complete) == len(found):
        yield from complete


def _plane(segment: FspSegment, path: Path) -> Plane | None:
    """The plane of a segment; None if its size and number of subfaults do not fit."""
    sizes = [segment.number(name) for name in ("LEN", "WID", "DX", "DZ")]
    if not all(size and size > 0 for size in sizes):
        return None
    length, width, dx, dz = (1e3 * float(size or 0.0) for size in sizes)
    counts = round(length / dx), round(width / dz)
    if counts[0] * counts[1] != len(segment):
        return None
    strike, dip, _ = _angles(segment, path)
    middle = float(segment.required("LON").mean()), float(segment.required("LAT").mean())
    back, angle = width / 2 * np.cos(np.radians(dip)), np.radians(strike)  # to the top edge
    frame = Geography.from_point(middle, (0.0, 0.0))
    longitude, latitude = frame.to_lonlat(-back * np.cos(angle), back * np.sin(angle))
    top = max(0.0, 1e3 * segment.required("Z").mean() - width / 2 * np.sin(np.radians(dip)))
    size = (*counts, length, width, strike, dip, float(top))
    return Plane(float(longitude), float(latitude), *size, 0.0, 0.0)


def _moments(segment: FspSegment) -> Floats:
    """Moments of the subfaults, N m; NaN if they are unknown."""
    found = segment.column("SF_MOMENT")
    return np.full(len(segment), np.nan) if found is None else found


def _from_moments(
    stated: Floats, potency: Floats, vs: Floats, density: Floats
) -> tuple[Floats, Floats]:
    """S speed and density whose rigidity gives the stated moments (N m), where there is slip."""
    density = np.where(np.isnan(density), _USUAL_DENSITY, density)
    slipping = (potency > 0) & (stated > 0)
    rigidity = np.divide(stated, potency, where=slipping, out=np.ones_like(stated))
    return np.where(slipping, np.sqrt(rigidity / density), vs), density


def _moment_warnings(stated: Floats, total: float | None, name: str) -> Iterator[str]:
    """Yield a warning if the moments of the subfaults do not add up to that of the header."""
    added = float(np.nansum(stated))
    if total and added and not 1 / _MOMENT_RATIO < added / total < _MOMENT_RATIO:
        yield (
            f"{name}: SF_MOMENT adds up to {added:.3g} N m, but the header has Mo = {total:.3g} "
            "N m; the run uses slip and rigidity instead. Correct the wrong one"
        )
