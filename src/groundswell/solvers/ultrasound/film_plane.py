"""The samples of a film: the pressure in a plane along the beam."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.recording import RecordSection
from groundswell.plotting.film import MOST_FRAMES
from groundswell.solvers.ultrasound.case import FILM_FILE, UltrasoundOutput
from groundswell.solvers.ultrasound.source_case import SourceSection
from groundswell.solvers.ultrasound.wave_setup import WaveSetup

_NORMALS = (1, 2, 0)  # axes in the order in which planes across them are preferred


def records_of(output: UltrasoundOutput, setup: WaveSetup) -> tuple[RecordSection, ...]:
    """The records of a case, those of its maps, and that of its film."""
    return (*output.records, film_record(setup)) if output.film else output.records


def film_record(setup: WaveSetup) -> RecordSection:
    """Samples of the film's plane at equal intervals: at most MOST_FRAMES."""
    normal, at = plane_of(setup)
    where = {"kind": "plane", "normal": "xyz"[normal], "at": at}
    content = {"fields": ["p"], "where": where, "every": steps_apart(setup), "file": FILM_FILE}
    return RecordSection.model_validate(content)


def steps_apart(setup: WaveSetup) -> int:
    """Number of steps from frame to frame."""
    return max(1, -(-setup.steps // MOST_FRAMES))


def plane_of(setup: WaveSetup) -> tuple[int, float]:
    """Normal axis (0 to 2) and position (m) of the film's plane.

    The plane contains the axis of the first transducer, as nearly as planes of the grid can, and
    its focus. Without a transducer that has an axis, it is the middle plane across y.
    """
    first, count = np.array(setup.origin), np.array(setup.grid.region)
    last = first + (count - 1) * np.array(setup.grid.spacing)
    if setup.axes == 2:
        return 2, float(first[2])
    found = next(filter(None, map(_axis_of, setup.source_sections)), None)
    if found is None:
        return 1, float(first[1] + last[1]) / 2
    direction, focus = found
    normal = min(_NORMALS, key=lambda axis: round(abs(float(direction[axis])), 6))
    inside = first[normal] <= focus[normal] <= last[normal]
    return normal, float(focus[normal] if inside else (first[normal] + last[normal]) / 2)


def _axis_of(source: SourceSection) -> tuple[Floats, Floats] | None:
    """Direction and focus of a transducer; of a plane one its centre; None without an axis."""
    if source.mask:
        return None
    shape = source.shapes[0]
    centres = [getattr(each, "apex", getattr(each, "centre", ())) for each in source.shapes]
    if not all(centres):
        return None
    centre = np.mean(np.array(centres, float), axis=0)
    focus = source.steering or getattr(shape, "focus", None)
    direction = np.array(shape.normal if focus is None else np.subtract(focus, centre), float)
    length = float(np.linalg.norm(direction)) or 1.0
    return direction / length, np.array(centre if focus is None else focus)
