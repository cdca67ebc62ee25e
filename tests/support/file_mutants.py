"""Mutants of a file: each is read, or refused with one message that names the file."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from damage import damaged, mutated_text

from groundswell.errors import InputError


def mutant_of(content: bytes, seed: int) -> bytes:
    """The content cut off, with bytes changed, or with words or lines replaced."""
    rng = np.random.default_rng(seed)
    kind = rng.random()
    if kind < 0.15:
        return content[: int(rng.random() * len(content))]
    if kind < 0.5:
        return damaged(content, rng)
    return mutated_text(content.decode("latin-1"), rng).encode()


def refused_mutants(
    path: Path, content: bytes, read: Callable[[Path], object], count: int = 100
) -> int:
    """Read mutants of a file, without warnings and other errors; the number that are refused."""
    refused = 0
    for seed in range(count):
        path.write_bytes(mutant_of(content, seed))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                read(path)
            except InputError as error:
                refused += 1
                assert path.name in str(error), f"mutant {seed}: {error}"
                assert len(str(error).splitlines()) < 13, f"mutant {seed}: {error}"
            except Exception as error:
                raise AssertionError(f"mutant {seed}") from error
    return refused
