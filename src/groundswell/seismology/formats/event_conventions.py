"""Conventions of tensors and times in files of many point sources.

The lists of finite faults of the USGS have the format of CMTSOLUTION, but not its meaning: the
components called Mrr, Mtt, Mpp, Mrt, Mrp, Mtp are nn, ee, dd, ne, nd, ed (north, east, down), and
the time shift is the time at which slip begins, not the centroid. The code that writes them, the
USGS's open software for finite faults, stores the matrix of a double couple along north, east and
down under these names.

Nothing in a file says which of the two it is. But the sources of a finite fault lie on a plane, and
one of the nodal planes of their mean mechanism must be this plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.formats.events import CatalogueEvent, Mechanism, Place
from groundswell.seismology.sources.moment import as_matrix, from_rtp

Convention = Literal["global-cmt", "usgs-finite-fault"]
GLOBAL_CMT: Convention = "global-cmt"
USGS: Convention = "usgs-finite-fault"
CONVENTIONS = (GLOBAL_CMT, USGS)

_DEGREE = 111.19e3  # m
_FLAT, _WIDE = 0.2, 0.05  # thickness over width, and width over length, of sources on a plane
_NEAR, _FARTHER = 20.0, 15.0  # degrees from the plane: of the right convention, and of the other


def in_convention(event: CatalogueEvent, convention: Convention) -> CatalogueEvent:
    """The event with tensors of Global CMT and centroids, from a file with a convention."""
    if convention == GLOBAL_CMT:
        return event
    return replace(event, mechanisms=tuple(map(_from_usgs, event.mechanisms)))


def convention_of(events: Sequence[CatalogueEvent], path: Path) -> Convention:
    """The convention in which a nodal plane is the plane of the sources.

    Raises:
        InputError: the sources are not on a plane, or both or none of the conventions fit.
    """
    angles = {each: _angle([in_convention(e, each) for e in events]) for each in CONVENTIONS}
    best, other = sorted(CONVENTIONS, key=lambda each: angles[each])
    if angles[best] > _NEAR or angles[other] < angles[best] + _FARTHER:
        raise InputError(
            f"{path}: it is not clear what the tensors of {len(events):,} sources mean; give "
            f'convention = "{GLOBAL_CMT}" (r up, t south, p east, centroid times) or "{USGS}" '
            "(north, east, down, times at which slip begins)"
        )
    return best


def _from_usgs(mechanism: Mechanism) -> Mechanism:
    centroid, tensor = mechanism.centroid, mechanism.tensor
    if tensor is not None:
        nn, ee, dd, ne, nd, ed = tensor
        tensor = (dd, nn, ee, nd, -ed, -ne)
    if centroid is not None and centroid.time is not None:
        half = timedelta(seconds=(mechanism.duration or 0.0) / 2)
        centroid = replace(centroid, time=centroid.time + half)
    return replace(mechanism, centroid=centroid, tensor=tensor)


def _angle(events: Sequence[CatalogueEvent]) -> float:
    """Angle between the plane of the sources and the nearest nodal plane, degrees; 90 if unknown.

    The nodal planes are those of the sum of all tensors.
    """
    mechanisms = [event.mechanisms[0] for event in events if event.mechanisms]
    known = [m for m in mechanisms if m.tensor and m.centroid]
    tensors = [from_rtp(m.tensor) for m in known if m.tensor]
    normal = _plane([m.centroid for m in known if m.centroid])
    net = np.sum(tensors, axis=0) if tensors else np.zeros(6)
    if normal is None or not np.isfinite(net).all() or not net.any():
        return 90.0
    _, axes = np.linalg.eigh(as_matrix(net))
    pressure, tension = axes[:, 0], axes[:, 2]
    cosines = np.abs([(tension + pressure) @ normal, (tension - pressure) @ normal]) / np.sqrt(2)
    return float(np.degrees(np.arccos(min(1.0, cosines.max()))))


def _plane(places: Sequence[Place]) -> Floats | None:
    """Normal (east, north, down) of the plane of positions; None if they are not on one."""
    found = [(p.longitude, p.latitude, p.depth) for p in places]
    complete = np.array([p for p in found if None not in p], float).reshape(-1, 3)
    if len(complete) < 4:
        return None
    x, y, z = (complete - complete.mean(axis=0)).T
    x = (x + 180) % 360 - 180
    scale = _DEGREE * np.cos(np.radians(complete[:, 1].mean()))
    _, sizes, axes = np.linalg.svd(np.stack([scale * x, _DEGREE * y, z], axis=1))
    is_plane = sizes[1] > _WIDE * sizes[0] and sizes[2] < _FLAT * sizes[1]
    return np.asarray(axes[2]) if is_plane else None
