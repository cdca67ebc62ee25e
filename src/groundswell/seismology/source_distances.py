"""Distances of stations from the source, and directions to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.formats.seismograms import Attributes

if TYPE_CHECKING:
    import xarray


def epicentre(attrs: Attributes) -> tuple[float, float] | None:
    """The epicentre (x, y), m: that of a rupture, or else the position of the event."""
    for x, y in (("epicentre_x", "epicentre_y"), ("event_x", "event_y")):
        if x in attrs and y in attrs:
            return float(attrs[x]), float(attrs[y])
    return None


def epicentral_distances(array: xarray.DataArray) -> Floats:
    """Epicentral distance of every station, m, (n,); NaN without an epicentre."""
    if (centre := epicentre(array.attrs)) is None:
        return np.full(array.sizes["station"], np.nan)
    return np.hypot(array["x"].values - centre[0], array["y"].values - centre[1])


def azimuths(array: xarray.DataArray) -> Floats:
    """Directions from the epicentre to the stations, degrees clockwise from north, (stations,).

    Raises:
        InputError: the attributes have no epicentre.
    """
    if (centre := epicentre(array.attrs)) is None:
        raise InputError(
            "the results have no epicentre, to which the components R and T refer; "
            "use the components Z, N and E"
        )
    x, y = array["x"].values - centre[0], array["y"].values - centre[1]
    turned = np.degrees(np.arctan2(x, y)) + float(array.attrs.get("azimuth", 0.0))
    return np.where((x == 0) & (y == 0), 0.0, turned % 360.0)


def offsets(array: xarray.DataArray) -> Floats:
    """Horizontal distances from the source, m, (stations,).

    Negative on the far side of the source, along the line through the stations.
    """
    x, y = epicentre(array.attrs) or (0.0, 0.0)
    away = np.stack([array["x"].values - x, array["y"].values - y], axis=-1)
    side = np.sign(away @ np.linalg.svd(away)[2][0])
    side[side == 0] = 1.0
    return np.hypot(*away.T) * side * (1.0 if side.sum() >= 0 else -1.0)
