"""Values that codes find hard, easy, or strange."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Reals

KINDS = (
    "normal",
    "smooth",
    "zeros",
    "equal",
    "bits",
    "strange",
    "denormal",
    "huge",
    "wide",
    "sparse",
    "alternating",
)


def field_of(kind: str, shape: tuple[int, ...], dtype: str, seed: int = 0) -> Reals:
    """An array of a kind; "bits" and "strange" have values that are no numbers."""
    rng = np.random.default_rng(seed)
    info, normal = np.finfo(dtype), rng.normal(size=shape)
    count = int(np.prod(shape))
    words = {"float32": np.uint32, "float64": np.uint64}[dtype]
    with np.errstate(over="ignore", under="ignore"):
        match kind:
            case "smooth":
                line = np.sin(0.3 * np.arange(count)) + 0.2 * np.sin(0.11 * np.arange(count) + 1)
                field = line.reshape(shape)
            case "zeros":
                field = np.zeros(shape)
            case "equal":
                field = np.full(shape, -1.2345678901234)
            case "bits":
                top = np.iinfo(words).max
                return rng.integers(0, top, shape, words, endpoint=True).view(dtype)
            case "strange":
                quiet = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], dtype)
                strange = rng.choice(quiet, shape).view(words)
                payload = rng.integers(0, 1000, shape).astype(words)
                return np.where(rng.random(shape) < 0.3, strange, strange ^ payload).view(dtype)
            case "denormal":
                field = normal * float(info.tiny) / 8
            case "huge":
                field = np.clip(normal / 3, -1, 1) * float(info.max)
            case "wide":
                powers = np.exp2(rng.uniform(info.minexp - info.nmant, info.maxexp - 4, shape))
                field = normal.clip(-4, 4) * powers
            case "sparse":
                field = np.where(rng.random(shape) < 0.8, 0, normal)
            case "alternating":
                field = np.where(np.indices(shape).sum(axis=0) % 2, 1.0, -1.0) * (1 + 1e-3 * normal)
            case _:
                field = normal
        return np.ascontiguousarray(field.astype(dtype))
