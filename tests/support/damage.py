"""Damaged copies of files, and mutants of texts: what disks, networks and editors do to them."""

from __future__ import annotations

import re

import numpy as np

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
