"""Warnings about cases that will run but may give poor results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

# From where on it is worth a warning.
Q_MISFIT = 0.1  # of Q
QP_QS = 1.001  # of the limit; published models round their Q
MORE_STEPS = 1.3  # times those of the longest step
SHIFT = 0.1  # of a sampling interval
MAGNITUDE_ERROR = 0.1


def find_warnings(setup: Setup) -> list[str]:
    """Sentences, each with its cure; none where all is well."""
    concerns = (_resolution, _material, _attenuation, _quiet, _step, _sampling, _magnitude)
    return [sentence for concern in concerns for sentence in concern(setup)]


def _resolution(setup: Setup) -> Iterator[str]:
    resolved, sent = setup.resolved_frequency, setup.source_frequency
    if sent > resolved:
        cell = max(setup.grid.spacing) * resolved / sent
        yield (
            f"the sources hold energy up to {sent:.3g} Hz, but the grid resolves {resolved:.3g} "
            f"Hz; low-pass the results there, lengthen the source, or use cells of {cell:.3g} m"
        )


def _material(setup: Setup) -> Iterator[str]:
    cells = np.prod(setup.grid.region, dtype=float)
    for name, count in setup.statistics.floored.items():
        if count:
            yield f"medium.floor raised {name} in {count} cells ({100 * count / cells:.3g} %)"


def _attenuation(setup: Setup) -> Iterator[str]:
    if setup.relaxation is None:
        return
    if (setup.statistics.qp_qs_max or 0) > QP_QS:
        yield (
            "qp / qs exceeds 3/4 (vp / vs)^2 somewhere, so that pure compression gains energy; "
            "lower qp there"
        )
    if setup.relaxation.error > Q_MISFIT:
        yield (
            f"Q(f) misses what was asked for by up to {100 * setup.relaxation.error:.0f} %; "
            "narrow attenuation.band"
        )
    if setup.resolved_frequency > (highest := setup.relaxation.band[1]):
        yield (
            f"the grid resolves {setup.resolved_frequency:.3g} Hz, but Q is fitted up to "
            f"{highest:g} Hz; widen attenuation.band"
        )


def _quiet(setup: Setup) -> Iterator[str]:
    """Receivers that not even the fastest wave reaches in time."""
    reach = setup.fastest * setup.case.time.duration
    places = np.array([source.position for source in setup.sources])
    names = [
        receiver.name
        for receiver in setup.receivers
        if np.linalg.norm(places - receiver.position, axis=1).min() > reach
    ]
    if names:
        listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        yield f"the run ends before any wave reaches {listed}; lengthen time.duration"


def _step(setup: Setup) -> Iterator[str]:
    """A sampling interval that costs many steps."""
    if setup.case.time.step == "auto" and setup.longest_step > MORE_STEPS * setup.dt:
        yield (
            f"output.seismograms.interval shortens the step from {setup.longest_step:.3g} s to "
            f"{setup.dt:.3g} s; just below a multiple of the former it would cost fewer steps"
        )


def _sampling(setup: Setup) -> Iterator[str]:
    """Intervals that are rounded noticeably to whole steps."""
    for name, interval in setup.sampling.items():
        asked = getattr(setup.case.output, name).interval
        if asked is not None and abs(interval - asked) > SHIFT * asked:
            yield f"output.{name}.interval = {asked:g} s becomes {interval:.4g} s, in whole steps"


def _magnitude(setup: Setup) -> Iterator[str]:
    named, released = setup.case.event.magnitude, setup.release.magnitude
    if named is not None and released is not None and abs(named - released) > MAGNITUDE_ERROR:
        yield f"event.magnitude is {named:g}, but the sources release Mw {released:.2f}"
