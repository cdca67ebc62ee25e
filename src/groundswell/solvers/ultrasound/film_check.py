"""What `groundswell check` prints of a film: its frames, and whether they are enough."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.case.quantities import Quantity, byte_size
from groundswell.solvers.ultrasound.case import FILM_FILE
from groundswell.solvers.ultrasound.film_plane import film_record, plane_of, steps_apart
from groundswell.solvers.ultrasound.setup import Setup
from groundswell.solvers.ultrasound.source_waves import frequencies
from groundswell.solvers.ultrasound.units import MHZ, MM, US

FEWEST = 4.0  # frames of a period; with fewer, waves seem to move too slowly, or backwards


def film_quantities(setup: Setup) -> Iterator[Quantity]:
    """Number, size and interval of the frames."""
    film = setup.case.output.film
    yield Quantity("film", film, "film" * film, text=_description(setup) if film else "")


def _description(setup: Setup) -> str:
    """The frames of a film as text."""
    normal, at = plane_of(setup)
    record, recording = film_record(setup), setup.recording(setup.whole)
    frames = recording.schedule(record).samples(setup.steps)
    cells = [n for axis, n in enumerate(setup.grid.region) if axis != normal]
    plane = f" at {'xyz'[normal]} = {at / MM:.4g} mm" if setup.axes == 3 else ""
    size = byte_size(frames * recording.sample_bytes(record, recording.select(record)))
    return (
        f"{frames} frames of {cells[0]} x {cells[1]} points{plane}, "
        f"{steps_apart(setup) * setup.dt / US:.3g} µs apart; {FILM_FILE} has {size}"
    )


def film_warnings(setup: Setup) -> Iterator[str]:
    """Too few frames for the periods of the sources."""
    highest = max(frequencies(setup.source_sections), default=0.0)
    if not setup.case.output.film or not highest:
        return
    frames = 1 / (highest * steps_apart(setup) * setup.dt)
    if frames < FEWEST:
        longest = setup.dt * setup.steps * frames / FEWEST
        yield (
            f"the film has {frames:.2g} frames in a period of {highest / MHZ:g} MHz, in which "
            f"waves seem to move too slowly or backwards; for {FEWEST:g} frames, shorten "
            f'time.duration to "{longest / US:.3g} us"'
        )
