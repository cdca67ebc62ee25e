"""Write rupture.srf: a kinematic strike-slip earthquake of Mw 6 on a plane of 12 km by 8 km.

    python make_rupture.py

The plane is vertical, strikes 30 degrees, has its top at 2 km and slips right-laterally. Slip falls
to zero at the edges as an ellipse does, along strike and along dip. A circular front leaves the
hypocentre at constant speed; behind it every point slips for one second, as a cosine bell.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyproj import Proj

from groundswell.seismology.formats.srf import Plane, Srf, write_srf
from groundswell.seismology.sources.moment import moment_from_magnitude

Array = NDArray[np.float64]

CENTER = (
    -30.0,
    30.0,
)  # longitude, latitude over its middle: mid-ocean, no real fault
STRIKE, DIP, RAKE = 30.0, 90.0, 180.0
LENGTH, WIDTH, TOP = 12e3, 8e3, 2e3  # m
HYPOCENTER = (-3.5e3, 4e3)  # m along strike from the middle, m down dip
SUBFAULTS = (24, 16)
MAGNITUDE = 6.0
RUPTURE_SPEED = 2700.0  # m/s; 0.85 and 0.74 of the S speed in the case's two layers
RISE_TIME, SAMPLE = 1.0, 0.05  # s


def rigidity(depth: Array) -> Array:
    """Shear modulus (Pa) of the two layers of case.toml that the plane cuts."""
    return np.where(depth < 5500.0, 2400.0 * 3180.0**2, 2670.0 * 3640.0**2)


def plane() -> tuple[Array, Array]:
    """Centres of the subfaults (m): along strike from the middle, and down dip; each (nv, nu)."""
    nu, nv = SUBFAULTS
    u = ((np.arange(nu) + 0.5) / nu - 0.5) * LENGTH
    v = (np.arange(nv) + 0.5) / nv * WIDTH
    along, down = np.meshgrid(u, v)
    return along, down


def slip_of(along: Array, down: Array) -> Array:
    """Slip (m), elliptic along both axes and scaled to the moment of MAGNITUDE."""
    shape = np.sqrt(1 - (2 * along / LENGTH) ** 2) * np.sqrt(1 - (2 * down / WIDTH - 1) ** 2)
    area = LENGTH * WIDTH / along.size
    return shape * moment_from_magnitude(MAGNITUDE) / np.sum(rigidity(TOP + down) * area * shape)


def slip_rate(slip: Array) -> Array:
    """Cosine bells (m/s) of integral `slip` (n,), sampled from their start: (n, samples)."""
    time = np.arange(0, RISE_TIME + SAMPLE / 2, SAMPLE)
    return slip[:, None] / RISE_TIME * (1 - np.cos(2 * np.pi * time / RISE_TIME))


def place(along: Array) -> tuple[Array, Array]:
    """Longitude and latitude of points of the vertical plane."""
    north, east = np.cos(np.radians(STRIKE)), np.sin(np.radians(STRIKE))
    tmerc = Proj(proj="tmerc", lon_0=CENTER[0], lat_0=CENTER[1], ellps="WGS84")
    return tmerc(along * east, along * north, inverse=True)


def build() -> Srf:
    """The rupture, point after point along strike and then down dip."""
    along, down = (values.ravel() for values in plane())
    slip, none = slip_of(along, down), np.zeros(along.size)
    rates = slip_rate(slip)
    longitude, latitude = place(along)
    everywhere = np.ones(along.size)
    return Srf(
        longitude=longitude,
        latitude=latitude,
        depth=TOP + down,
        strike=STRIKE * everywhere,
        dip=DIP * everywhere,
        rake=RAKE * everywhere,
        area=LENGTH * WIDTH / along.size * everywhere,
        onset=np.hypot(along - HYPOCENTER[0], down - HYPOCENTER[1]) / RUPTURE_SPEED,
        step=SAMPLE * everywhere,
        slip=np.stack([slip, none, none], axis=1),
        counts=np.array([rates.shape[1], 0, 0]) * np.ones((along.size, 1), dtype=np.int64),
        rates=rates.ravel(),
        vs=np.nan * everywhere,
        density=np.nan * everywhere,
        planes=(Plane(*CENTER, *SUBFAULTS, LENGTH, WIDTH, STRIKE, DIP, TOP, *HYPOCENTER),),
    )


if __name__ == "__main__":
    target = Path(__file__).with_name("rupture.srf")
    rupture = build()
    write_srf(target, rupture)
    largest, last = rupture.slip.max(), rupture.onset.max() + RISE_TIME
    print(
        f"{target.name}: {len(rupture)} points, up to {largest:.2f} m of slip, over in {last:.1f} s"
    )
