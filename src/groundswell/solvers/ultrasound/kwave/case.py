"""The case of an input file of k-Wave, and what to record of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from groundswell.case.common import Case, FileName, OutputSection
from groundswell.case.problems import reject
from groundswell.case.units import Count, Flag
from groundswell.errors import listed
from groundswell.solvers.ultrasound.case import OverlapSection, UltrasoundRun

OUTPUTS = {
    "p_raw": "time series of the pressure; the default if no output is chosen",
    "p_rms": "root mean square of the pressure",
    "p_max": "maximum of the pressure",
    "p_min": "minimum of the pressure",
    "p_max_all": "maximum of the pressure at all grid points",
    "p_min_all": "minimum of the pressure at all grid points",
    "p_final": "pressure of the last step at all grid points",
    "u_raw": "time series of the velocity, on the staggered grid",
    "u_non_staggered_raw": "time series of the velocity, at pressure points",
    "u_rms": "root mean square of the velocity",
    "u_max": "maximum of the velocity",
    "u_min": "minimum of the velocity",
    "u_max_all": "maximum of the velocity at all grid points",
    "u_min_all": "minimum of the velocity at all grid points",
    "u_final": "velocity of the last step at all grid points",
}
OUTPUT_FILE = "output.h5"  # in a results folder


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    for n, name in enumerate(names):
        if name not in OUTPUTS:
            reject([((n,), f"must be {listed(OUTPUTS)}")])
    return tuple(sorted(set(names)))


class KWaveOutput(OutputSection):
    """`[output]`: the datasets of the output file; see OUTPUTS.

    `start` is the step of the first sample, from 1. With `copy_mask`, the file repeats the sensor
    mask.
    """

    datasets: Annotated[tuple[str, ...], AfterValidator(_known)] = ("p_max_all", "p_raw")
    start: Count = 1
    copy_mask: Flag = False


class KWaveCase(Case):
    """An input file of k-Wave as a case.

    `steps` replaces the number of steps in the file. With `keep_going`, the simulation goes on
    when the pressure is no longer finite, as that of k-Wave does.
    """

    solver: Literal["ultrasound"] = "ultrasound"
    file: FileName
    steps: Count | None = None
    keep_going: Flag = False
    overlap: OverlapSection = OverlapSection()
    output: KWaveOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: UltrasoundRun = UltrasoundRun()


def read_case(path: Path) -> KWaveCase:
    """The case of an input file of k-Wave, with the default outputs."""
    return KWaveCase.from_dict({"file": path.name}, path.parent, path.name)
