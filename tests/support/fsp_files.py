"""Slip models in FSP, written in columns as SRCMOD and the USGS write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from groundswell.arrays import Floats

STRUCTURE = ((0.0, 4.0, 2.2, 2.4), (6.0, 6.0, 3.4, 2.7), (20.0, 7.0, 4.0, 3.0))
LINE = "% " + 60 * "-"
SIDES = (2.0, 1.5)  # of a subfault along strike and down dip, km


@dataclass
class Segment:
    """A plane of subfaults.

    Args:
        strike, dip: degrees.
        counts: subfaults along strike and down dip.
        columns: values by name; LAT, LON and Z are added.
        corner: longitude, latitude (degrees) and depth (km) of the first subfault.
        sides: of a subfault along strike and down dip, km.
    """

    strike: float
    dip: float
    counts: tuple[int, int]
    columns: Mapping[str, Floats]
    corner: tuple[float, float, float] = (-118.0, 34.0, 3.0)
    sides: tuple[float, float] = SIDES

    @property
    def table(self) -> dict[str, Floats]:
        """All columns; rows are along strike first, then down dip."""
        along, down = np.meshgrid(*(np.arange(n) for n in self.counts))
        angle, dip = np.radians(self.strike), np.radians(self.dip)
        down_dip = self.sides[1] * down * np.cos(dip)
        east = self.sides[0] * along * np.sin(angle) + down_dip * np.cos(angle)
        north = self.sides[0] * along * np.cos(angle) - down_dip * np.sin(angle)
        longitude, latitude, depth = self.corner
        scale = 111.19 * np.cos(np.radians(latitude))
        places = {"LAT": latitude + north / 111.19, "LON": longitude + east / scale}
        places |= {"X==EW": east, "Y==NS": north}
        places["Z"] = depth + self.sides[1] * down * np.sin(dip)
        return {**{name: of.ravel() for name, of in places.items()}, **self.columns}


@dataclass
class Model:
    """A model of one or several segments; `header` has more lines."""

    segments: Sequence[Segment]
    header: Sequence[str] = ()
    structure: Sequence[tuple[float, ...]] = STRUCTURE
    rake: float = 90.0
    moment: float | None = None
    texts: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The file."""
        first = self.segments[0]
        size = "" if self.moment is None else f" Mw = 6.0   Mo = {self.moment:.4e} Nm"
        lines = ["% ---------- FINITE-SOURCE RUPTURE MODEL ----------", "%"]
        lines += [
            "% Event : Nowhere 2021/05/04 [Nobody (2022)]",
            "% EventTAG: s2021NOWHERnobo",
            "%",
        ]
        lines += [
            "% Loc  : LAT  =  34.0000   LON = -118.0000  DEP = 8.0",
            f"% Size : LEN  = {self._length(first)} km   WID =  {self._width(first)} km {size}",
            f"% Mech : STRK = {first.strike}  DIP = {first.dip}  RAKE = {self.rake}  Htop = 2.0 km",
            "% Rupt : HypX = 2 km   HypZ = 3 km   avTr = 1.25 s avVr = 2.7 km/s",
            f"% Invs : Dx = {first.sides[0]} km    Dz = {first.sides[1]} km",
            *self.header,
            "% VELOCITY-DENSITY STRUCTURE",
            f"% No. of layers = {len(self.structure)}",
            "% DEPTH P_VEL S_VEL DENS QP QS",
            "% [km] [km/s] [km/s] [g/cm^3]",
            *("% " + " ".join(map(str, row)) + " 200 100" for row in self.structure),
            LINE,
            "% SOURCE MODEL PARAMETERS",
        ]
        for n, segment in enumerate(self.segments, 1):
            lines += self._segment(n, segment)
        return "\n".join(lines) + "\n"

    @staticmethod
    def _length(segment: Segment) -> float:
        return segment.sides[0] * segment.counts[0]

    @staticmethod
    def _width(segment: Segment) -> float:
        return segment.sides[1] * segment.counts[1]

    def _segment(self, n: int, segment: Segment) -> list[str]:
        names, values = zip(*segment.table.items(), strict=True)
        title = [f"% SEGMENT # {n}: STRIKE = {segment.strike} deg DIP = {segment.dip} deg"]
        title.append(f"% LEN = {self._length(segment)} km WID = {self._width(segment)} km")
        rows = np.column_stack(values)
        return [
            *(title if len(self.segments) > 1 else []),
            f"% Nsbfs = {len(rows)} subfaults",
            "% " + " ".join(names),
            LINE,
            *("  ".join(f"{value:.10g}" for value in row) for row in rows),
        ]


def random_segment(rng: np.random.Generator, *names: str, **place: object) -> Segment:
    """A segment of 3 x 2 subfaults with the columns `names` of random values."""
    ranges = {"SLIP": (0.5, 2), "RAKE": (60, 120), "TRUP": (0, 3), "RISE": (0.5, 2)}
    ranges |= {"TW1": (0.1, 1), "TW2": (0.1, 1), "TW3": (0.1, 1), "rkTW1": (60, 120)}
    columns = {name: rng.uniform(*ranges[name], 6) for name in names}
    return Segment(**{"strike": 30.0, "dip": 60.0, "counts": (3, 2), "columns": columns, **place})  # type: ignore[arg-type]
