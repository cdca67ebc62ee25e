"""Mutants of cases: keys removed, repeated, or given other values, many of them plausible."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

Content = dict[str, Any]
NUMBERS = [0, -1, 1, 2, 3, 1e-300, 1e300, -1e30, 1e-9, 1e9, 2**31, 2**63]
WORDS = ["", "auto", "none", "0 m", "5 km", "1e300 km", "1 s", "-1 s", "x", "x * y", "1/0"]
PULSE = {"time_function": {"kind": "gaussian", "sigma": "0.05 s"}}
# Keys to add to sections.
EXTRAS: dict[str, list[tuple[str, Any]]] = {
    "run": [
        ("processes", [1, 1, 1]),
        ("codec", "mpc"),
        ("narrow", "bfloat16"),
        ("overlap", False),
        ("transport", "mpi"),
        ("checkpoint", {"minutes": 1e-9}),
    ],
    "output": [("fields", False), ("shaking_map", False), ("record", [])],
    "time": [
        ("local", False),
        ("check_every", 3),
        ("dissipation", 10),
        ("compressibility", 1e-6),
        ("tolerance", 1e-30),
        ("steps", 5),
    ],
    "grid": [("geography", {"center": [179.99, 80]}), ("size", [1, 1, 1e3])],
    "medium": [("floor", {"vs": "1 km/s"}), ("floor", {"rho": 1})],
    "method": [("iterations", 2), ("tolerance", 1e-30), ("degree", 3)],
    "boundary": [("top", "absorbing"), ("sides", "sponge"), ("sides", "periodic")],
}
# Other values of keys that take few; a random value would nearly always be refused.
CHOICES: dict[str, list[Any]] = {
    "precision": ["single", "double"],
    "top": ["free-surface", "absorbing"],
    "sides": ["pml", "sponge", "periodic"],
    "width": [0, 1, 3, 20],
    "model": ["none", "constant"],
    "scheme": ["euler", "rk3", "rk4"],
    "preconditioner": ["none", "jacobi", "multigrid"],
    "what": [["raw"], ["final"], ["max", "rms"], ["raw", "mean"]],
    "formats": [["hdf5"], ["sac"], ["mseed", "hdf5"]],
    "stride": [1, 2, 5, 100],
    "steps": [1, 2, 7],
    "degree": [1, 2, 7, 15],
    "vs": [0, 1, 3000],
    "levels": [1, 2, 9],
    "courant": [0.1, 1, 3],
    "screening": [0, 1e-12, 1, 1e12],
    "magnitude": [-6, 0, 9, 10],
    "fluid": [
        {"kind": "reynolds", "reynolds": 100},
        {"kind": "rayleigh", "rayleigh": 1e3, "prandtl": 7, "down": "x"},
        {"kind": "properties", "viscosity": 1e-3, "diffusivity": 1e-3, "expansion": 3e-3},
        {"kind": "rayleigh", "rayleigh": 1e12},
    ],
    "walls": [
        {"south": {"kind": "periodic"}, "north": {"kind": "periodic"}},
        {"top": {"kind": "adiabatic", "velocity": [1, 0, 0]}, "south": {"kind": "symmetry"}},
        {"north": {"kind": "conducting"}},
        {},
    ],
    "points": [[15, 15, 15], [1, 8, 1], [3, 3, 3], [64, 1, 2]],
    "mesh": [
        {"kind": "box", "counts": [3, 3, 3], "periodic": ["x", "y", "z"]},
        {"kind": "box", "counts": [2, 2, 2], "kershaw": {"eps_y": 0.3, "eps_z": 0.1}},
        {"kind": "box", "counts": [1, 1, 1], "low": [1e9, 0, 0], "size": [1e-9, 1, 1e9]},
        {"kind": "box", "counts": [8, 1, 1], "high": [1, 1, 1e-12]},
    ],
    "equation": [
        {"source": "1 / x"},
        {"source": "where(x < 0.5, 1, -1)", "screening": 0, "mean": 3},
        {"source": "exp(1000 * x)"},
        {"source": 1e300, "exact": "sqrt(x - 0.5)"},
        {"source": 0, "screening": 1},
    ],
    "boundaries": [
        {},
        {"west": {"kind": "flux", "value": "log(y)"}},
        {"top": {"kind": "fixed", "value": 1e200}},
        {side: {"kind": "fixed", "value": "x"} for side in ("west", "east", "north", "top")},
    ],
    "where": [
        {"kind": "all"},
        {"kind": "plane", "normal": "y", "at": 0.5},
        {"kind": "points", "points": [[0.5, 0.5, 0.5], [0.1, 0.2, 0.3]], "method": "cubic"},
        {"kind": "line", "start": [0, 0, 0], "end": [1, 1, 1], "points": 5},
        {"kind": "box", "low": [0, 0, 0], "high": [0.5, 0.5, 0.5], "stride": 3},
    ],
    "file": ["volume.vtkhdf", "a.nc", "seismograms.h5", "b" * 250 + ".nc", "new\nline.nc"],
    "source": [
        [{"kind": "force", "force": [0, 0, 1e10], "x": 1, "y": 1200, "depth": 0, **PULSE}],
        [{"kind": "explosion", "moment": 1e40, "x": 600, "y": 600, "depth": 600, **PULSE}] * 2,
        [{"kind": "double-couple", "strike": 0, "dip": 90, "rake": 180, "magnitude": 5, **PULSE}],
    ],
    "receiver": [[], [{"name": "A" * 9, "x": 0, "y": 0}], [{"name": "A", "x": 1200, "y": 1200}]],
    "attenuation": [
        {"model": "power-law", "exponent": 0.6, "transition": 1},
        {"model": "constant", "reference": "1e6 Hz", "band": ["1 mHz", "1 MHz"]},
    ],
    "start": [
        {"kind": "wave", "modes": [1, 0, 3]},
        {"kind": "pulse", "center": [1e9, 0, 0], "width": 1e-9},
    ],
    "time_function": [
        {"kind": "gaussian", "sigma": "0.01 s", "delay": "0.05 s"},
        {"kind": "ricker", "frequency": "5 Hz"},
        {"kind": "cosine", "rise": "1e6 s"},
        {"kind": "triangle", "rise": "1 ms", "onset": "0.9 s"},
    ],
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to every value inside tables and lists."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in entries:
        yield (*path, key)
        if isinstance(entry, dict | list):
            yield from places(entry, (*path, key))


def mutant(content: Content, rng: np.random.Generator) -> Content:
    """A copy with one to three mutations; the solver stays."""
    found = copy.deepcopy(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if rng.random() < 0.3:
            _extend(found, rng)
            continue
        paths = [path for path in places(found) if path != ("solver",)]
        *way, key = paths[rng.integers(len(paths))]
        table: Any = found
        for part in way:
            table = table[part]
        _mutate(table, key, rng)
    return found


def _extend(content: Content, rng: np.random.Generator) -> None:
    """Add a key to one of the sections that the solver has."""
    section = rng.choice([name for name in EXTRAS if name in content])
    key, value = EXTRAS[section][rng.integers(len(EXTRAS[section]))]
    if isinstance(content[section], dict):
        content[section][key] = copy.deepcopy(value)


def _mutate(table: Any, key: Any, rng: np.random.Generator) -> None:
    kind, value = rng.integers(0, 20), table[key]
    if key in CHOICES and kind < 15:
        table[key] = copy.deepcopy(CHOICES[key][rng.integers(len(CHOICES[key]))])
    elif kind == 0:
        del table[key]
    elif kind == 1:
        table[key] = [*value, *value] if isinstance(value, list) else NUMBERS[rng.integers(12)]
    elif kind == 2:
        table[key] = WORDS[rng.integers(len(WORDS))]
    elif isinstance(value, bool | str | dict | list):
        _vary(table, key, rng)
    else:
        factor = rng.choice([0, 0.01, 0.3, 0.9, 1.1, 3, 100, -1])
        table[key] = type(value)(value * factor)


def _vary(table: Any, key: Any, rng: np.random.Generator) -> None:
    """Another value of the same type."""
    value = table[key]
    if isinstance(value, bool):
        table[key] = not value
    elif isinstance(value, str):
        number, _, unit = value.partition(" ")
        try:
            table[key] = f"{float(number) * rng.choice([0.01, 0.3, 0.9, 1.1, 3, 100]):g} {unit}"
        except ValueError:
            table[key] = WORDS[rng.integers(len(WORDS))]
    elif isinstance(value, list):
        rng.shuffle(value)
    else:
        value[f"{key}x"] = 1
