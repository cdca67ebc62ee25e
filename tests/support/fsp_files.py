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

    def shifted(self, up: float = 0.0, back: float = 0.0) -> dict[str, Floats]:
        """The columns, with positions up the dip and back along the strike, in subfaults."""
        angle, dip = np.radians(self.strike), np.radians(self.dip)
        along, down = -back * self.sides[0], -up * self.sides[1]
        east = along * np.sin(angle) + down * np.cos(dip) * np.cos(angle)
        north = along * np.cos(angle) - down * np.cos(dip) * np.sin(angle)
        found, scale = self.table, 111.19 * np.cos(np.radians(self.corner[1]))
        found["LON"], found["LAT"] = found["LON"] + east / scale, found["LAT"] + north / 111.19
        found["Z"] = found["Z"] + down * np.sin(dip)
        return found

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
    """A model of one or several segments.

    Args:
        header: more lines.
        texts: replacements in the file.
        at_top: whether rows are the centres of top edges.
    """

    segments: Sequence[Segment]
    header: Sequence[str] = ()
    structure: Sequence[tuple[float, ...]] = STRUCTURE
    rake: float = 90.0
    moment: float | None = None
    texts: dict[str, str] = field(default_factory=dict)
    at_top: bool = False

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
            f"% Coordinates are given for {'top-' * self.at_top}center of each subfault: |'|",
        ]
        for n, segment in enumerate(self.segments, 1):
            lines += self._segment(n, segment)
        text = "\n".join(lines) + "\n"
        for old, new in self.texts.items():
            assert old in text
            text = text.replace(old, new)
        return text

    @staticmethod
    def _length(segment: Segment) -> float:
        return segment.sides[0] * segment.counts[0]

    @staticmethod
    def _width(segment: Segment) -> float:
        return segment.sides[1] * segment.counts[1]

    def _segment(self, n: int, segment: Segment) -> list[str]:
        table = segment.shifted(up=0.5) if self.at_top else segment.table
        names, values = zip(*table.items(), strict=True)
        title = [f"% SEGMENT # {n}: STRIKE = {segment.strike} deg DIP = {segment.dip} deg"]
        title.append(f"% LEN = {self._length(segment)} km WID = {self._width(segment)} km")
        title += ["% coordinates of top-center:", "% LAT = 34.0, LON = -118.0"]
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
    ranges |= {"T_RIS": (0.2, 2), "T_FAL": (0.2, 2), "SF_MOMENT": (1e16, 5e16)}
    ranges |= {"rakeTW2": (60, 120)}
    ranges |= {"TW1": (0.1, 1), "TW2": (0.1, 1), "TW3": (0.1, 1), "rkTW1": (60, 120)}
    columns = {name: rng.uniform(*ranges[name], 6) for name in names}
    return Segment(**{"strike": 30.0, "dip": 60.0, "counts": (3, 2), "columns": columns, **place})  # type: ignore[arg-type]


def param_text(*segments: Segment, points: tuple[int, int] = (7, 3)) -> str:
    """The segments as the USGS writes them with times of rise and fall: `basic_inversion.param`.

    Args:
        points: of a subfault along strike and down dip. Its row is the first of them, and the
            corners are the outermost ones of the segment.
    """
    lines = [f"#Total number of fault_segments= {len(segments):5d}"]
    back, up = ((n - 1) / (2 * n) for n in points)
    for number, segment in enumerate(segments, 1):
        (nx, ny), (dx, dy) = segment.counts, segment.sides
        lines += [
            f"#Fault_segment = {number:3d} nx(Along-strike)= {nx:2d} Dx= {dx:5.2f}km "
            f"ny(downdip)= {ny:2d} Dy= {dy:5.2f}km",
            f"#Boundary of Fault_segment   {number:3d}. EQ in cell 1,1. Lon: -118.0 Lat: 34.0",
            "#Lon.  Lat.  Depth",
            *_corners(segment, back, up),
            "#Lat. Lon. depth slip rake strike dip t_rup t_ris t_fal mo",
        ]
        table = segment.shifted(up, back)
        names = ("LAT", "LON", "Z", "SLIP", "RAKE", "STRIKE", "DIP", "TRUP", "T_RIS", "T_FAL")
        table |= {"STRIKE": np.full(nx * ny, segment.strike), "DIP": np.full(nx * ny, segment.dip)}
        table |= {"SLIP": 100 * table["SLIP"], "MO": 1e7 * table["SF_MOMENT"]}
        rows = np.column_stack([table[name] for name in (*names, "MO")])
        lines += ["  ".join(f"{value:.10g}" for value in row) for row in rows]
    return "\n".join(lines) + "\n"


def _corners(segment: Segment, back: float, up: float) -> list[str]:
    """The first, last, ... points of the outermost subfaults, and the first one again."""
    first, across, (nx, _) = segment.shifted(up, back), segment.shifted(up, -back), segment.counts
    below, far = segment.shifted(-up, back), segment.shifted(-up, -back)
    places = [(first, 0), (across, nx - 1), (far, -1), (below, -nx), (first, 0)]
    return [" ".join(f"{of[k][n]:.10g}" for k in ("LON", "LAT", "Z")) for of, n in places]
