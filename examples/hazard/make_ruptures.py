"""Write the subfaults of two faults, ruptures of parts of them with their rates, and variations.

    python make_ruptures.py

`subfaults.csv` lists the points where runs record strain. `ruptures.csv` lists the ruptures; for
each, the folder `ruptures` has a table of the subfaults that slip, and one of variations.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FOLDER = Path(__file__).parent
EDGE = 1200.0  # of a subfault, m
STRIKE = 270.0  # of both faults, degrees
RIGIDITY = 30e9  # Pa, for slip
B_VALUE = 1.0  # of the magnitudes (Gutenberg & Richter)
YEAR = 365.25 * 86400.0
VARIATIONS = 24


@dataclass(frozen=True)
class Fault:
    """A plane along the x axis that dips towards positive y: its strike is 270 degrees.

    Args:
        corner: upper end with the smallest x, (x, y, depth), m.
        columns, rows: number of subfaults along strike and down dip.
        dip, rake: degrees.
        slip_rate: mean slip in a year, m.
        parts: lengths of ruptures, in columns, with the first columns of each.
    """

    name: str
    corner: tuple[float, float, float]
    columns: int
    rows: int
    dip: float
    rake: float
    slip_rate: float
    parts: dict[int, tuple[int, ...]]

    def centres(self, first: int, columns: int, rows: int) -> Floats:
        """Centres (x, y, depth) of a rectangle of subfaults at half depth, m, (n, 3)."""
        top = (self.rows - rows) // 2
        along = EDGE * (np.arange(first, first + columns) + 0.5)
        down = EDGE * (np.arange(top, top + rows) + 0.5)
        along, down = (each.ravel() for each in np.meshgrid(along, down))
        x, y, depth = self.corner
        dip = np.radians(self.dip)
        return np.stack([x + along, y + down * np.cos(dip), depth + down * np.sin(dip)], axis=1)


FAULTS = (
    Fault(
        *("north", (6e3, 24e3, 1e3), 30, 10, 90.0, 180.0, 4e-3),
        {30: (0,), 20: (0, 5, 10), 15: (0, 5, 10, 15), 10: (0, 5, 10, 15, 20)}
        | {6: (0, 3, 6, 9, 12, 15, 18, 21, 24)},
    ),
    Fault(
        *("south", (12e3, 8e3, 1e3), 18, 9, 50.0, 90.0, 1e-3),
        {18: (0,), 12: (0, 3, 6), 9: (0, 3, 6, 9), 6: (0, 3, 6, 9, 12), 4: (0, 4, 7, 10, 14)},
    ),
)


@dataclass(frozen=True)
class Rupture:
    """A rectangle of subfaults that slips."""

    fault: Fault
    first: int
    columns: int

    @property
    def rows(self) -> int:
        """Number of subfaults down dip: as many as along strike, if the fault has them."""
        return min(self.columns, self.fault.rows)

    @property
    def area(self) -> float:
        """Area, m^2."""
        return self.columns * self.rows * EDGE**2

    @property
    def magnitude(self) -> float:
        """Moment magnitude of the area (Wells & Coppersmith 1994, table 2A, all slip types)."""
        return float(4.07 + 0.98 * np.log10(self.area / 1e6))

    @property
    def moment(self) -> float:
        """Seismic moment, N m (Hanks & Kanamori 1979)."""
        return float(10 ** (1.5 * self.magnitude + 9.05))

    @property
    def top(self) -> tuple[float, float, float]:
        """Centre of the top edge (x, y, depth), m."""
        x, y, depth = self.fault.corner
        down, dip = EDGE * ((self.fault.rows - self.rows) // 2), np.radians(self.fault.dip)
        along = EDGE * (self.first + self.columns / 2)
        return x + along, float(y + down * np.cos(dip)), float(depth + down * np.sin(dip))

    def slip(self) -> Floats:
        """Slip of each subfault, m, (n,): half an ellipse along both axes, with this moment."""
        u, v = (2 * (np.arange(n) + 0.5) / n - 1 for n in (self.columns, self.rows))
        shape = np.sqrt((1 - u**2) * (1 - v[:, None] ** 2)).ravel()
        return np.asarray(shape * self.moment / (RIGIDITY * EDGE**2 * shape.sum()))


def rates(ruptures: list[Rupture]) -> Floats:
    """Occurrences of each rupture of a fault in a year: Gutenberg-Richter, with all of its slip."""
    moments = np.array([rupture.moment for rupture in ruptures])
    lengths = [rupture.columns for rupture in ruptures]
    weights = np.array([10 ** (-B_VALUE * each.magnitude) for each in ruptures])
    weights /= [lengths.count(length) for length in lengths]
    fault = ruptures[0].fault
    released = RIGIDITY * fault.columns * fault.rows * EDGE**2 * fault.slip_rate
    return np.asarray(weights * released / (weights @ moments))


def variations(rupture: Rupture, rng: np.random.Generator) -> Iterator[list[float]]:
    """Hypocentres, rupture speeds, rise times and factors of slip."""
    places = rupture.fault.centres(rupture.first, rupture.columns, rupture.rows)
    for place in places[rng.integers(len(places), size=VARIATIONS)]:
        speed, rise = rng.uniform(2200, 2900), rng.uniform(1.0, 2.5)
        yield [*place, speed, rise, float(np.exp(0.2 * rng.standard_normal()))]


def write(path: Path, header: str, rows: Iterable[Iterable[object]]) -> None:
    """Write a table with a header."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header.split())
        for row in rows:
            table.writerow(f"{x:.6g}" if isinstance(x, float) else x for x in row)


def main() -> None:
    """Write all tables."""
    rng = np.random.default_rng(7)
    planes = [[fault.centres(0, fault.columns, fault.rows), fault] for fault in FAULTS]
    subfaults = ([*map(float, c), STRIKE, fault.dip] for centres, fault in planes for c in centres)
    write(FOLDER / "subfaults.csv", "x y depth strike dip", subfaults)
    (FOLDER / "ruptures").mkdir(exist_ok=True)
    table = []
    for fault in FAULTS:
        ruptures = [Rupture(fault, k, n) for n, firsts in fault.parts.items() for k in firsts]
        for rupture, rate in zip(ruptures, rates(ruptures), strict=True):
            name = f"{fault.name}-{rupture.columns:02d}-{rupture.first:02d}"
            write_rupture(name, rupture, rng)
            shape = [STRIKE, fault.dip, rupture.columns * EDGE, rupture.rows * EDGE]
            about = [rupture.magnitude, float(rate), fault.rake]
            table.append([name, *about, *rupture.top, *shape])
    header = "name magnitude rate rake x y depth strike dip length width"
    write(FOLDER / "ruptures.csv", header, table)


def write_rupture(name: str, rupture: Rupture, rng: np.random.Generator) -> None:
    """Write the subfaults and the variations of a rupture."""
    fault = rupture.fault
    centres = fault.centres(rupture.first, rupture.columns, rupture.rows)
    same = [STRIKE, fault.dip, fault.rake, EDGE**2]
    rows = (
        [*map(float, c), *same, float(s), 1.5] for c, s in zip(centres, rupture.slip(), strict=True)
    )
    folder = FOLDER / "ruptures"
    write(folder / f"{name}.csv", "x y depth strike dip rake area slip rise_time", rows)
    header = "hypocentre_x hypocentre_y hypocentre_depth rupture_speed rise_time slip_scale"
    write(folder / f"{name}_variations.csv", header, variations(rupture, rng))


if __name__ == "__main__":
    main()
