"""The work of the command `focus`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from groundswell.case.load import load_case
from groundswell.errors import InputError, quoted
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.solvers.ultrasound.aberration import phase_correction
from groundswell.solvers.ultrasound.case import UltrasoundCase
from groundswell.solvers.ultrasound.corrected_case import corrected_name, write_corrected
from groundswell.solvers.ultrasound.units import MM


def focus_case(
    path: Path, target: str, output: str | None, *, amplitudes: bool, quiet: bool
) -> Iterator[str]:
    """Write the case that focuses on a target; yield what the command prints.

    All ranks of a job must call it. Rank 0 writes the case.

    Args:
        path: the case, a TOML file.
        target: coordinates in mm, separated by commas.
        output: name of the new case.

    Raises:
        InputError: the case or the target do not suit this, or the new file exists.
        RunFailed: the run failed.
    """
    job = get_communicator()
    case, at = job.collective_try(lambda: (_load(path), _position(target)))
    new = job.bcast(job.collective_try(lambda: corrected_name(path, output) if job.first else path))
    found = phase_correction(case, at, amplitudes=amplitudes, quiet=quiet)
    job.collective_try(
        lambda: write_corrected(path, new, found, amplitudes=amplitudes) if job.first else None
    )
    count = sum(map(len, found.phases))
    yield f"elements           {count}"
    yield f"without correction {100 * found.efficiency:.3g} % of the pressure of elements in phase"
    yield f"with correction    {found.gain:.4g} times the pressure at the target"
    yield f"wrote {new}; next: groundswell run {new}"


def _load(path: Path) -> UltrasoundCase:
    case = load_case(path)
    if not isinstance(case, UltrasoundCase) or path.suffix != ".toml":
        raise InputError(f"{path} is not an ultrasound case in TOML; give one")
    return case


def _position(text: str) -> list[float]:
    """A position, m, from coordinates in mm."""
    try:
        return [float(word) * MM for word in text.split(",")]
    except ValueError:
        raise InputError(
            f"--target {quoted(text)}: give coordinates in mm, as in 30,17.5"
        ) from None
