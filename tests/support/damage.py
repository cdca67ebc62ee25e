"""Damaged copies of files, and mutants of texts: what disks, networks and editors do to them."""

from __future__ import annotations

import re
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from groundswell.errors import InputError

WORDS = [
    "nan",
    "inf",
    "-1",
    "0",
    "1e999",
    "-1e30",
    "99999999999999999999",
    "x",
    "",
    '"',
    "1,2",
    "é",
]
SLOWEST, LARGEST = 5.0, 500e6  # seconds of a file, bytes of memory more than before
_CUT = 0.15  # share of mutants that are cut off


def count_refused(
    read: Callable[[Path], object],
    path: Path,
    content: bytes,
    seeds: range,
    *,
    words: float = 0.0,
    lines: int = 1,
) -> int:
    """Read mutants of a file; the number that are refused, each soon and with one message.

    Each message names the file. Reading gives no warnings and no other errors.

    Args:
        read: what to do with a file.
        path: the name of the file, to which the number of the mutant is added.
        content: the sound file.
        words: share of mutants with other words rather than bytes, for texts.
        lines: the most lines of a message, for those that list several problems.
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused = 0
    for seed in seeds:
        mutant = path.with_name(f"a{seed}{path.name}")
        mutant.write_bytes(mutant_of(content, seed, words))
        start = time.perf_counter()
        message = _refusal(read, mutant, f"mutant {seed}")
        assert time.perf_counter() - start < SLOWEST, f"mutant {seed}"
        if message is not None:
            refused += 1
            assert mutant.name in message, f"mutant {seed}: {message}"
            assert len(message.splitlines()) <= lines, f"mutant {seed}: {message}"
        mutant.unlink()
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert grown < LARGEST
    return refused


def _refusal(read: Callable[[Path], object], path: Path, mutant: str) -> str | None:
    """The message with which a file is refused; None if it is read."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            read(path)
        except InputError as error:
            return str(error)
        except Exception as error:
            raise AssertionError(mutant) from error
    return None


def mutant_of(content: bytes, seed: int, words: float = 0.0) -> bytes:
    """The content cut off, with bytes changed, or, of a share, with words or lines replaced."""
    rng = np.random.default_rng(seed)
    kind = rng.random()
    if kind < _CUT:
        return content[: int(rng.random() * len(content))]
    if kind < 1 - words * (1 - _CUT):
        return damaged(content, rng)
    return mutated_text(content.decode("latin-1"), rng).encode()


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """A copy with one to three defects: bytes flipped, replaced, inserted, lost or repeated."""
    found = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        _damage(found, rng)
    return bytes(found)


def _damage(data: bytearray, rng: np.random.Generator) -> None:
    start = int(rng.integers(0, len(data) + 1))
    length = int(rng.choice([1, 1, 1, 4, 8, 60, 500]))
    stop, noise = start + length, rng.bytes(length)
    kind = rng.integers(0, 8)
    if kind == 0 and start < len(data):
        data[start] ^= 1 << int(rng.integers(0, 8))
    elif kind == 1:
        data[start:stop] = noise[: len(data[start:stop])]
    elif kind == 2:
        data[start:stop] = bytes(len(data[start:stop]))
    elif kind == 3:
        data[start:stop] = b"\xff" * len(data[start:stop])
    elif kind == 4:
        data[start:start] = noise
    elif kind == 5:
        del data[start:stop]
    elif kind == 6:
        data[start:start] = data[start:stop]
    else:
        del data[start:]


def mutated_text(text: str, rng: np.random.Generator) -> str:
    """A copy of a text with one to three words replaced, or lines lost or repeated."""
    parts = re.findall(r"[^\s,<>=]+|.|\n", text)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(0, len(parts)))
        kind = rng.integers(0, 4)
        if kind < 2:
            parts[place] = str(rng.choice(WORDS))
        elif kind == 2:
            del parts[place]
        else:
            parts[place:place] = parts[place : place + 5]
        parts = parts or [""]
    return "".join(parts)
