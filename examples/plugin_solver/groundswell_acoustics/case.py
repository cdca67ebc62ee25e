"""What a user may ask for: the case file, and `.wave` files, a format of this solver's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from groundswell.case import Case, Section
from groundswell.case.common import OutputSection, TaggedUnion, TimeSection
from groundswell.case.recording import Recordable
from groundswell.case.units import Count, CountOrZero, Length, Positive, Speed
from groundswell.errors import InputError, listed
from groundswell.formats.text import parse_numbers, read_text

Edge = Annotated[Length, Positive]


class GridSection(Section):
    """`[grid]`: cells along x, y and z, and the edge of a cell."""

    cells: tuple[Count, Count, Count]
    spacing: Edge


class MediumSection(Section):
    """`[medium]`: how fast sound is."""

    speed: Annotated[Speed, Positive]


class WaveStart(Section):
    """`kind = "wave"`: a standing wave with so many wavelengths along x, y and z."""

    kind: Literal["wave"]
    modes: tuple[CountOrZero, CountOrZero, CountOrZero] = (1, 0, 0)


class PulseStart(Section):
    """`kind = "pulse"`: a Gaussian of that width around a place."""

    kind: Literal["pulse"]
    center: tuple[Length, Length, Length]
    width: Edge


class AcousticsOutput(OutputSection):
    """`[output]`: the folder, and records of the pressure."""

    recordable: ClassVar[Recordable] = Recordable(("p",))


class AcousticsCase(Case):
    """Waves in a periodic box: `[grid]`, `[medium]`, `[start]`, `[time]`."""

    solver: Literal["acoustics"] = "acoustics"
    grid: GridSection
    medium: MediumSection
    start: Annotated[WaveStart | PulseStart, TaggedUnion()]
    time: TimeSection
    output: AcousticsOutput = Field(default_factory=dict, validate_default=True)  # type: ignore


# --- another input format -------------------------------------------------------------------------

FINAL = {"fields": "p", "where": {"kind": "all"}, "what": "final", "file": "pressure.nc"}
KEYS = {"cells": 3, "spacing": 1, "speed": 1, "duration": 1, "pulse": 4}  # and how many numbers


def read_wave(path: Path) -> AcousticsCase:
    """The case in a `.wave` file: a key and its numbers (SI) on each line, as in KEYS.

    Raises:
        InputError: a line that is none of these.
    """
    found: dict[str, list[float]] = {}
    for number, line in enumerate(read_text(path, "a wave").splitlines(), 1):
        key, _, numbers = line.partition(" ")
        found[key] = [*parse_numbers(numbers, path, number)]
        if key and len(found[key]) != KEYS.get(key):
            raise InputError(f"{path}, line {number}: give {listed(KEYS)} with its numbers")
    if missing := KEYS.keys() - found:
        raise InputError(f"{path} lacks {', '.join(sorted(missing))}")
    cells = [int(n) if n == int(n) else n for n in found["cells"]]
    content = {
        "grid": {"cells": cells, "spacing": found["spacing"][0]},
        "medium": {"speed": found["speed"][0]},
        "start": {"kind": "pulse", "center": found["pulse"][:3], "width": found["pulse"][3]},
        "time": {"duration": found["duration"][0]},
        "output": {"record": [FINAL]},
    }
    return AcousticsCase.from_dict(content, path.parent, path.name)
