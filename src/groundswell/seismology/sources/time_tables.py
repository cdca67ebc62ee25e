"""Functions of time that are given by values: the tables of files, and centroids of samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.errors import InputError
from groundswell.formats.text import parse_numbers, read_text


def read_time_table(file: Path | str) -> Floats:
    """Times and values of a table, (2, rows)."""
    lines = [
        line.partition("#")[0] for line in read_text(file, "a table of time and value").split("\n")
    ]
    values = parse_numbers("\n".join(lines), file)
    ragged = next((n for n, line in enumerate(lines, 1) if len(line.split()) not in (0, 2)), None)
    if ragged:
        raise InputError(f"{file}, line {ragged}: expected two numbers, time (s) and value")
    times, heights = values.reshape(-1, 2).T
    if times.size < 2 or times[0] < 0 or not (np.diff(times) > 0).all():
        raise InputError(
            f"{file}: needs two rows or more, with times that increase from 0 or later"
        )
    if not heights.any():
        raise InputError(f"{file}: all values are zero; give some that are not")
    return np.stack([times, heights])


def centroid_of(times: Reals, values: Reals) -> float:
    """Centroid of the magnitude of a function that is linear between samples, by Simpson's rule.

    Args:
        times, values: samples, (n,), n > 1, not all of them zero.
    """
    steps, sizes = np.diff(times), np.abs(values)
    ends, middles = times * sizes, (times[1:] + times[:-1]) * (sizes[1:] + sizes[:-1])
    first_moment = np.sum(steps / 6 * (ends[1:] + ends[:-1] + middles))
    area = np.sum(steps / 2 * (sizes[1:] + sizes[:-1]))
    return float(first_moment / area)
