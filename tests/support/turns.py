"""Boxes turned and mirrored so that axes become other axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import numpy as np

AXES = "xyz"
SIDES = (("west", "east"), ("south", "north"), ("bottom", "top"))


@dataclass(frozen=True)
class Turn:
    """Axis `a` becomes axis `to[a]`, and its direction is reversed where `signs[a]` is -1."""

    to: tuple[int, int, int]
    signs: tuple[int, int, int]

    def __str__(self) -> str:
        return " ".join(self.direction(name) for name in AXES)

    def triple(self, values: Sequence[Any]) -> list[Any]:
        """Lengths or counts along x, y and z."""
        return [values[self.to.index(axis)] for axis in range(3)]

    def vector(self, values: Sequence[float]) -> list[float]:
        """A vector (x, y, z)."""
        return self.triple([sign * value for sign, value in zip(self.signs, values, strict=True)])

    def direction(self, name: str) -> str:
        """A direction such as "-z"."""
        axis = AXES.index(name[-1])
        is_negative = name.startswith("-") is not (self.signs[axis] < 0)
        return "-" * is_negative + AXES[self.to[axis]]

    def side(self, name: str) -> str:
        """A side such as "west"."""
        ((axis, end),) = [(a, pair.index(name)) for a, pair in enumerate(SIDES) if name in pair]
        return SIDES[self.to[axis]][end if self.signs[axis] > 0 else 1 - end]

    def position(self, axis: int, value: float, size: float) -> float:
        """A position along an axis of the box."""
        return value if self.signs[axis] > 0 else size - value

    def array(self, values: np.ndarray) -> np.ndarray:
        """A scalar field, (nz, ny, nx)."""
        flipped = np.flip(values, [2 - axis for axis in range(3) if self.signs[axis] < 0])
        return np.ascontiguousarray(np.moveaxis(flipped, (2, 1, 0), [2 - a for a in self.to]))

    def flow(self, fields: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """A flow: velocities u, v and w, and scalars."""
        turned = {name: self.array(values) for name, values in fields.items()}
        for axis, name in enumerate("uvw"):
            turned["uvw"[self.to[axis]]] = self.signs[axis] * self.array(fields[name])
        return turned

    def cavity(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """The tables of a cavity's case."""
        fluid, grid = dict(case["fluid"]), dict(case["grid"])
        if "down" in fluid:
            fluid["down"] = self.direction(fluid["down"])
        walls = {}
        for name, wall in case["walls"].items():
            velocity = self.vector(wall.get("velocity", (0, 0, 0)))
            walls[self.side(name)] = {**wall, "velocity": velocity} if "velocity" in wall else wall
        solids = [self.solid(each, grid["size"]) for each in case.get("solid", ())]
        stretching = grid.pop("stretching", None)
        grid = {key: self.triple(values) for key, values in grid.items()}
        if stretching is not None:
            grid["stretching"] = {self.direction(a)[-1]: value for a, value in stretching.items()}
        return {**case, "fluid": fluid, "walls": walls, "grid": grid, "solid": solids}

    def solid(self, solid: Mapping[str, Any], size: Sequence[float]) -> dict[str, Any]:
        """A solid in the box of a cavity of this size."""
        ends = [
            sorted(self.position(axis, solid[end][axis], size[axis]) for end in ("low", "high"))
            for axis in range(3)
        ]
        low, high = (self.triple(corner) for corner in zip(*ends, strict=True))
        return {**solid, "low": low, "high": high}


TURNS = [Turn(to, signs) for to in permutations(range(3)) for signs in product((1, -1), repeat=3)]  # type: ignore[arg-type]
