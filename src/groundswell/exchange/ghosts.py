"""Ghost layers: how many there are on each side of a block, and whether corners are filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groundswell.arguments import broadcast, flag, integers
from groundswell.errors import InputError, counted
from groundswell.exchange.decomposition import Index


@dataclass(frozen=True)
class Ghosts:
    """The ghost layers that one field needs.

    >>> from groundswell.exchange import Domain, Ghosts
    >>> with Domain((8, 8), ghosts=Ghosts((2, 0), (1, 0))) as domain:  # 2 before, 1 after
    ...     domain.zeros("float32").shape
    (11, 8)

    Args:
        low, high: widths on the low and the high side of each axis, slowest axis first.
        corners: whether points outside the block along several axes are also needed; None for the
            default of the domain, and no where there is none.
        within: for each axis, the range of global indices (start, stop) for which ghosts of the
            other axes are needed; None for all. It may extend beyond a non-periodic boundary, to
            values there that belong to the outermost blocks.
    """

    low: Index
    high: Index
    corners: bool | None = None
    within: tuple[tuple[int, int] | None, ...] = ()

    def __post_init__(self) -> None:
        low, high = integers(self.low) or (), integers(self.high) or ()
        if not len(low) == len(high) > 0 or min(*low, *high) < 0:
            raise InputError(
                f"ghost layers low = {self.low}, high = {self.high}: give one whole number per "
                "axis in each, at least 0"
            )
        within = tuple(None if run is None else integers(run) or () for run in self.within)
        if len(within) not in (0, len(low)) or {len(r) for r in within if r is not None} - {2}:
            raise InputError(f"within = {self.within}: give for each axis None, or (start, stop)")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "within", within)
        if self.corners is not None:
            object.__setattr__(self, "corners", flag("corners", self.corners))

    @property
    def widest(self) -> Ghosts:
        """The same with the wider width on both sides."""
        most = tuple(max(pair) for pair in zip(self.low, self.high, strict=True))
        return replace(self, low=most, high=most)

    def padded(self, shape: Index) -> Index:
        """The shape of a block with its ghost layers."""
        return tuple(a + n + b for a, n, b in zip(self.low, shape, self.high, strict=True))


GhostWidths = int | Sequence[int | tuple[int, int]] | Ghosts  # user input


def as_ghosts(given: GhostWidths, axes: int, corners: bool) -> Ghosts:
    """Ghost layers from user input.

    Args:
        corners: the value for layers that do not set their own.
    """
    if not isinstance(given, Ghosts):
        widths = [broadcast("ghosts", w, 2, "sides") for w in broadcast("ghosts", given, axes)]
        low, high = zip(*widths, strict=True)
        return Ghosts(low, high, corners)
    if len(given.low) != axes:
        raise InputError(
            f"{given} has {counted(len(given.low), 'axis', 'axes')}, and the domain {axes}"
        )
    return replace(given, corners=corners) if given.corners is None else given


def uniform(width: int, axes: int = 3, *, corners: bool = False) -> Ghosts:
    """Equal layers on every side."""
    return Ghosts((width,) * axes, (width,) * axes, corners)
