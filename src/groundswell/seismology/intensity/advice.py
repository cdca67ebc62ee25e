"""Intensity measures in `groundswell check`: the memory of maps, and warnings."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi

from groundswell.case.quantities import Quantity, byte_size
from groundswell.errors import counted
from groundswell.seismology.case.intensity import FEWEST, IntensityOutput
from groundswell.seismology.intensity.maps import map_bytes, steps_between


def map_quantities(
    section: IntensityOutput | None, points: int, itemsize: int, dt: float, group: str
) -> Iterator[Quantity]:
    """Yield the periods of maps, how often their oscillators advance, and their memory.

    Args:
        points: of the maps.
        itemsize: bytes of a value.
        dt: time step, s.
    """
    if section is None or not section.maps:
        return
    interval = steps_between(section, dt) * dt
    memory = map_bytes(section, points, itemsize)
    text = f"{counted(len(section.periods), 'period')}, oscillators every {interval:.3g} s, "
    shown = text * section.has_oscillators + byte_size(memory)
    yield Quantity("intensity_map_interval", interval, unit="s", group=group)
    yield Quantity("intensity_map_memory", memory, "intensity maps", "B", shown, group)


def intensity_warnings(
    section: IntensityOutput | None, resolved: float, dt: float, duration: float
) -> Iterator[str]:
    """Yield warnings about periods whose spectral values are unreliable.

    Args:
        resolved: highest frequency that the grid resolves, Hz.
        dt: time step, s.
        duration: of the run, s.
    """
    if section is None or not {"psa", "rotd50", "rotd100"} & {*section.measures, *section.maps}:
        return
    short = [period for period in section.periods if period < 1 / resolved]
    if short:
        yield (
            f"output.intensity has {counted(len(short), 'period')} below {1 / resolved:.3g} s, but "
            f"waves are resolved up to {resolved:.3g} Hz only, so that these spectral "
            "accelerations are too small; leave the periods out, or refine the grid"
        )
    if (longest := max(section.periods)) > duration:
        yield (
            f"output.intensity has a period of {longest:g} s, longer than time.duration = "
            f"{duration:g} s, so that its peaks may occur later; lengthen the run, or leave it out"
        )
    if section.has_oscillators and (shortest := min(section.periods)) < FEWEST * dt:
        yield (
            f"output.intensity has a period of {shortest:g} s, but maps advance its oscillator in "
            f"steps of {dt:.3g} s, so that its peaks are underestimated by up to "
            f"{_missed(dt / shortest):.2g} %; leave it out, or shorten time.step"
        )


def _missed(ratio: float) -> float:
    """Largest underestimate of a peak between samples `ratio` periods apart, per cent."""
    return 100 * (1 - cos(min(pi, pi * ratio)))
