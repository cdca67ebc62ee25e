"""Amplitudes and phases of oscillations, fitted to samples by least squares.

A value is approximated by a constant plus A sin(2 pi f t + phase), summed over given frequencies f.
The normal equations need only sums of samples times basis functions, which accumulate during the
run. The fit is exact for such oscillations, whether or not the samples span whole periods.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.backends.host_threads import chunks, for_each
from groundswell.errors import InputError, counted

MOST = 30  # largest condition number of the basis functions: errors of samples grow by up to this


def basis_functions(frequencies: Sequence[float], times: Floats) -> Floats:
    """The constant 1, and the sine and cosine of each frequency, (samples, 1 + 2 frequencies)."""
    angles = 2 * np.pi * np.outer(times, frequencies)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(times), -1)
    return np.column_stack([np.ones(len(times)), pairs])


def require_resolved(frequencies: Sequence[float], times: Floats, file: str) -> None:
    """Check that samples at these times determine the amplitudes.

    Raises:
        InputError: the samples span less than a period, are too few, or cannot separate the
            frequencies.
    """
    lowest = 1 / min(frequencies)
    span = times[-1] - times[0] if len(times) else 0.0
    if span < 0.9 * lowest or np.linalg.cond(basis_functions(frequencies, times)) > MOST:
        raise InputError(
            f"the record {file!r} has {counted(len(times), 'sample')} in {span:g} s, from which "
            f"the amplitudes at {', '.join(f'{f:g}' for f in frequencies)} Hz cannot be found; "
            f"record at least one period, {lowest:g} s, with several samples per period, and "
            "frequencies that differ by more than 1 / (recorded time)"
        )


def fit(
    sums: Sequence[Reals], basis: Floats, late: Sequence[float] | None = None
) -> tuple[Reals, Reals]:
    """Amplitudes and phases (degrees) of the least-squares fit, (frequencies, ...).

    Threads compute in double precision; the results have the precision of the sums.

    Args:
        sums: sums of samples times basis functions, (1 + 2 frequencies, ...).
        basis: the basis functions, (samples, 1 + 2 frequencies).
        late: delay of the samples in phase for each frequency, degrees; 0 by default.
    """
    flat, count = [np.ravel(term) for term in sums], len(sums) // 2
    inverse = np.linalg.inv(basis.T @ basis)  # the condition number is at most MOST^2
    shift = np.reshape(late or [0.0] * count, (count, 1))
    amplitudes, phases = (np.empty((count, flat[0].size), flat[0].dtype) for _ in range(2))

    def find(part: slice) -> None:
        given = np.array([term[part] for term in flat], float)
        found = np.einsum("ij,jn->in", inverse[1:], given)
        sines, cosines = found[::2], found[1::2]
        amplitudes[:, part] = np.sqrt(sines**2 + cosines**2)  # much faster than hypot
        turned = np.degrees(np.arctan2(cosines, sines)) - shift
        phases[:, part] = turned - 360 * np.rint(turned / 360)

    for_each(find, chunks(flat[0].size, 1))
    shape = (count, *np.shape(sums[0]))
    return amplitudes.reshape(shape), phases.reshape(shape)
