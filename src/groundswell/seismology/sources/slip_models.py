"""Slip models in FSP as ruptures: slip rates, areas, angles and rigidities of the subfaults.

The slip rates are those of `slip_pulses`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.formats.fsp import Fsp, FspSegment, read_fsp
from groundswell.seismology.formats.srf_content import Srf
from groundswell.seismology.formats.usgs_param import is_usgs_param, read_usgs_param
from groundswell.seismology.sources.rupture_times import with_rupture_times
from groundswell.seismology.sources.slip_model_planes import angles_of, centred, planes_of
from groundswell.seismology.sources.slip_pulses import SlipModelFile, has_rises_alone, pulses_of

_MOMENT_RATIO = 2.0  # of moments that are stated twice; more is taken for another unit
_USUAL_DENSITY = 2700.0  # kg/m^3, with which S speeds stand for rigidities that moments imply


class SlipModel(NamedTuple):
    """A rupture, and warnings about its file."""

    content: Srf
    warnings: tuple[str, ...]


def read_slip_model(path: Path, rise: float | None) -> SlipModel:
    """The rupture of a file in FSP, or of a file of the USGS with times of rise and fall.

    Args:
        rise: duration of slip, s, of subfaults whose own is unknown; None for the average that the
            file states.

    Raises:
        InputError: the file cannot be read, or lacks areas, angles or durations.
    """
    model = read_usgs_param(path) if is_usgs_param(path) else read_fsp(path)
    segments, notes = with_rupture_times([centred(each, path) for each in model.segments], path)
    file = SlipModelFile(path, model.function, rise)
    parts = [_rupture(segment, file) for segment in segments]
    columns: dict[str, Any] = {
        key: np.concatenate([part[key] for part in parts]) for key in parts[0]
    }
    vs, density = _structure(model, columns["depth"])
    stated = np.concatenate([_moments(segment) for segment in segments])
    doubts = [*_moment_warnings(stated, segments[0].number("MO"), path.name)]
    if not doubts and not np.isnan(stated).any():
        potency = columns["area"] * np.linalg.norm(columns["slip"], axis=1)
        vs, density = _from_moments(stated, potency, vs, density)
    try:
        content = Srf(**columns, vs=vs, density=density)
    except InputError as error:
        text, _, _ = str(error).partition("; the file has")  # the number and the unit of SRF
        raise InputError(f"{path}: {text}") from None
    doubts += _rise_warnings(segments, file)
    return SlipModel(replace(content, planes=tuple(planes_of(segments, path))), (*notes, *doubts))


def _rupture(segment: FspSegment, file: SlipModelFile) -> dict[str, Any]:
    """The columns of `Srf` for a segment, without the medium."""
    strike, dip, rake = angles_of(segment, file.path)
    pulses, count = pulses_of(segment, rake, file), len(segment)
    slip = pulses.slips.sum(axis=1)
    found = [pulses.rates(n) for n in range(count)]
    steps = np.array([step for step, _ in found])
    moving = np.array([rates.any(axis=0) for _, rates in found])
    samples = np.array([[len(rates)] for _, rates in found])
    return {
        "longitude": segment.required("LON"),
        "latitude": segment.required("LAT"),
        "depth": 1e3 * segment.required("Z"),
        "strike": strike,
        "dip": dip,
        "rake": rake,
        "area": np.full(count, _area(segment, file.path)),
        "onset": segment.required("TRUP") + steps / 2,
        "step": steps,
        "slip": np.pad(slip, ((0, 0), (0, 1))),
        "counts": np.pad(samples * moving, ((0, 0), (0, 1))),
        "rates": np.concatenate([r.T[m].ravel() for (_, r), m in zip(found, moving, strict=True)]),
    }


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


def _structure(model: Fsp, depth: Floats) -> tuple[Floats, Floats]:
    """S speed (m/s) and density (kg/m^3) of the file at depths (m), NaN if it has none."""
    if not model.structure.size:
        return np.full(depth.shape, np.nan), np.full(depth.shape, np.nan)
    layers = 1e3 * model.structure[np.argsort(model.structure[:, 0], kind="stable")]
    row = (np.searchsorted(layers[:, 0], depth, "right") - 1).clip(0)
    return layers[row, 2], layers[row, 3]


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


def _rise_warnings(segments: Sequence[FspSegment], file: SlipModelFile) -> Iterator[str]:
    """Yield a warning if the file has the times of rise, but not those of fall."""
    if any(has_rises_alone(segment, file.function) for segment in segments):
        shortest = segments[0].number("WINDOW")
        yield (
            f"{file.path.name}: RISE is the time of rise alone, without that of the fall, because "
            f"some are shorter than the shortest pulse, LEN = {shortest:g} s; the run takes the "
            "fall to be as long. The USGS's file with t_ris and t_fal (.param) has both"
        )
