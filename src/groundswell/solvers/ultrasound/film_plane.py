"""The samples of a film: the pressure in a plane along the beam."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.quantities import Quantity, byte_size
from groundswell.case.recording import RecordSection
from groundswell.plotting.film import MOST_FRAMES
from groundswell.solvers.ultrasound.case import FILM_FILE
from groundswell.solvers.ultrasound.source_case import SourceSection
from groundswell.solvers.ultrasound.source_waves import frequencies
from groundswell.solvers.ultrasound.units import MHZ, MM, US

if TYPE_CHECKING:
    from groundswell.solvers.ultrasound.wave_setup import WaveSetup

FEWEST = 4.0  # frames of a period; with fewer, waves seem to move too slowly, or backwards
_NORMALS = (1, 2, 0)  # axes in the order in which planes across them are preferred


def records_of(setup: WaveSetup) -> tuple[RecordSection, ...]:
    """The records of a case, those of its maps, and that of its film."""
    output = setup.case.output
    records: tuple[RecordSection, ...] = output.records
    return (*records, film_record(setup)) if output.film else records


def film_record(setup: WaveSetup) -> RecordSection:
    """Samples of the film's plane at equal intervals: at most MOST_FRAMES."""
    normal, at = plane_of(setup)
    where = {"kind": "plane", "normal": "xyz"[normal], "at": at}
    content = {"fields": ["p"], "where": where, "every": _every(setup), "file": FILM_FILE}
    return RecordSection.model_validate(content)


def _every(setup: WaveSetup) -> int:
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


# --- what `groundswell check` prints --------------------------------------------------------------


def film_quantities(setup: WaveSetup) -> Iterator[Quantity]:
    """Number, size and interval of the frames."""
    film = setup.case.output.film
    yield Quantity("film", film, "film" * film, text=_description(setup) if film else "")


def _description(setup: WaveSetup) -> str:
    """The frames of a film as text."""
    normal, at = plane_of(setup)
    record, recording = film_record(setup), setup.recording(setup.whole)
    frames = recording.schedule(record).samples(setup.steps)
    cells = [n for axis, n in enumerate(setup.grid.region) if axis != normal]
    plane = f" at {'xyz'[normal]} = {at / MM:.4g} mm" if setup.axes == 3 else ""
    size = byte_size(frames * recording.sample_bytes(record, recording.select(record)))
    return (
        f"{frames} frames of {cells[0]} x {cells[1]} points{plane}, "
        f"{_every(setup) * setup.dt / US:.3g} µs apart; {FILM_FILE} has {size}"
    )


def film_warnings(setup: WaveSetup) -> Iterator[str]:
    """Too few frames for the periods of the sources."""
    highest = max(frequencies(setup.source_sections), default=0.0)
    if not setup.case.output.film or not highest:
        return
    frames = 1 / (highest * _every(setup) * setup.dt)
    if frames < FEWEST:
        longest = setup.dt * setup.steps * frames / FEWEST
        yield (
            f"the film has {frames:.2g} frames in a period of {highest / MHZ:g} MHz, in which "
            f"waves seem to move too slowly or backwards; for {FEWEST:g} frames, shorten "
            f'time.duration to "{longest / US:.3g} us"'
        )
