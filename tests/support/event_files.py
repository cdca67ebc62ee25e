"""Small event files: QuakeML and CMTSOLUTION as ObsPy writes them, NDK and FOCMEC in columns."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ORIGIN = "2021-05-04T03:02:01.500000"
TENSOR = (1.25, -0.75, -0.5, 2.5, -1.5, 0.875)  # rr, tt, pp, rt, rp, tp, 1e17 N m
UNIT = 1e17
COMPONENTS = ("m_rr", "m_tt", "m_pp", "m_rt", "m_rp", "m_tp")


@dataclass
class Quake:
    """A made-up earthquake.

    Args:
        name: its code.
        origin: its date.
        hypocentre, centroid: longitude, latitude (degrees) and depth (m).
        shift: centroid time after the origin time, s.
        tensor: rr, tt, pp, rt, rp, tp, N m.
        half_duration: s.
    """

    name: str = "202105040302A"
    origin: str = ORIGIN
    hypocentre: tuple[float, float, float] = (11.25, 44.5, 9000.0)
    centroid: tuple[float, float, float] = (11.3, 44.55, 12500.0)
    shift: float = 3.5
    tensor: tuple[float, ...] = field(default=tuple(UNIT * c for c in TENSOR))
    half_duration: float = 2.0


def obspy_event(quake: Quake, **moment: Any) -> Any:
    """The earthquake as an ObsPy event; `moment` replaces attributes of its moment tensor."""
    from obspy import UTCDateTime
    from obspy.core import event as core

    time = UTCDateTime(quake.origin)
    places = ((quake.hypocentre, 0.0, "hypocenter"), (quake.centroid, quake.shift, "centroid"))
    origins = [
        core.Origin(
            time=time + shift, longitude=at[0], latitude=at[1], depth=at[2], origin_type=kind
        )
        for at, shift, kind in places
    ]
    content = {
        "derived_origin_id": origins[1].resource_id,
        "tensor": core.Tensor(**dict(zip(COMPONENTS, quake.tensor, strict=True))),
        "source_time_function": core.SourceTimeFunction(
            type="triangle", duration=2 * quake.half_duration
        ),
    }
    return core.Event(
        resource_id=f"smi:local/event/{quake.name}",
        event_descriptions=[core.EventDescription(text=f"Quake {quake.name}")],
        origins=origins,
        magnitudes=[core.Magnitude(mag=5.4, magnitude_type="Mw")],
        focal_mechanisms=[core.FocalMechanism(moment_tensor=core.MomentTensor(**content | moment))],
    )


def written(catalogue: list[Any], kind: str) -> bytes:
    """ObsPy events in a format that ObsPy writes."""
    from obspy import Catalog

    buffer = io.BytesIO()
    Catalog(catalogue).write(buffer, format=kind)
    return buffer.getvalue()


def quakeml(*quakes: Quake) -> bytes:
    return written([obspy_event(quake) for quake in quakes or (Quake(),)], "QUAKEML")


def cmtsolution(*quakes: Quake) -> bytes:
    """Global CMT's file of each event: km, and dyn cm."""
    return "\n".join(map(_cmtsolution, quakes or (Quake(),))).encode()


def _cmtsolution(quake: Quake) -> str:
    date, clock = quake.origin.split("T")
    year, month, day = map(int, date.split("-"))
    hour, minute, second = clock.split(":")
    when = f"{year:4d} {month:2d} {day:2d} {int(hour):2d} {int(minute):2d} {float(second):5.2f}"
    longitude, latitude, depth = quake.hypocentre
    place = f"{latitude:8.4f} {longitude:9.4f} {depth / 1e3:5.1f} 5.1 5.3 NORTHERN ITALY"
    longitude, latitude, depth = quake.centroid
    values = {
        "time shift": f"{quake.shift:.4f}",
        "half duration": f"{quake.half_duration:.4f}",
        "latitude": f"{latitude:.4f}",
        "longitude": f"{longitude:.4f}",
        "depth": f"{depth / 1e3:.4f}",
    }
    names = ("Mrr", "Mtt", "Mpp", "Mrt", "Mrp", "Mtp")
    values |= {n: f"{m * 1e7:.6e}" for n, m in zip(names, quake.tensor, strict=True)}
    lines = [f" PDE {when} {place}", f"event name:     {quake.name}"]
    return (
        "\n".join([*lines, *(f"{f'{name}:':15}{value}" for name, value in values.items())]) + "\n"
    )


def ndk(*quakes: Quake, rate: str = "TRIHD") -> bytes:
    """Five lines of 80 columns for each event, as Global CMT describes them."""
    return "".join(_ndk(quake, rate) for quake in quakes or (Quake(),)).encode()


def _ndk(quake: Quake, rate: str) -> str:
    date, clock = quake.origin.replace("-", "/").split("T")
    (x, y, z), (cx, cy, cz) = quake.hypocentre, quake.centroid
    exponent = int(np.floor(np.log10(np.abs(quake.tensor).max() * 1e7)))
    parts = [m * 1e7 / 10.0**exponent for m in quake.tensor]
    errors = " ".join(f"{part:6.3f} 0.010" for part in parts)
    lines = [
        f"PDEW {date} {clock[:10]} {y:6.2f} {x:7.2f} {z / 1e3:5.1f} 5.1 5.3 NORTHERN ITALY",
        f"{quake.name:16} B: 10   20  40 S: 11   21  50 M: 12   22 125 CMT: 1 "
        f"{rate}:{quake.half_duration:5.1f}",
        f"CENTROID:{quake.shift:9.1f} 0.1 {cy:6.2f} 0.01 {cx:7.2f} 0.01 {cz / 1e3:5.1f}  0.4 "
        "FREE S-20210601000000",
        f"{exponent:2d} {errors}",
        "V10   3.100 73 100   0.100  8 216  -3.200 15 308   3.150  49 30  106 211 61   81",
    ]
    return "".join(f"{line:80}"[:80] + "\n" for line in lines)


def focmec(*planes: tuple[float, float, float]) -> bytes:
    """Solutions (dip, strike, rake) of FOCMEC's program, in the format of its `.out` files."""
    head = ["  Tue May  4 14:54:58 2021 for program Focmec", " Four stations", " Input from a file"]
    head += [" Made for a test", "   4 P Pol.  0 SV Pol.  0 SH Pol.  0.0 allowed (weighted) errors"]
    head += ["    Dip   Strike   Rake    Pol: P     SV    SH  AccR/TotR  RMS RErr  AbsMaxDiff"]
    rows = [
        f"{dip:8.2f}{strike:8.2f}{rake:8.2f}       0.00  0.00  0.00    11/11    0.0852    0.1543"
        for dip, strike, rake in planes or ((60.0, 30.0, -80.0),)
    ]
    return "\n".join([*head, *rows, ""]).encode()
