"""The last exchange of NumPy arrays, and its repetition for arrays of the same layout.

Programs often alternate between two arrays, the old and the new one. Then only addresses change,
and the views and the plan of the last exchange serve again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from groundswell.exchange.plan import Plan


class Places(NamedTuple):
    """Where arrays are: for each array its address and whether it is read-only, and its layout."""

    data: list[tuple[int, bool]]
    layouts: list[dict[str, object]]  # shape, strides and type


def places_of(arrays: Sequence[object]) -> Places | None:
    """The places of NumPy arrays; None if there are arrays of other kinds."""
    layouts = [array.__array_interface__ for array in arrays if type(array) is np.ndarray]
    if len(layouts) < len(arrays):
        return None
    return Places([layout.pop("data") for layout in layouts], layouts)


@dataclass
class LastExchange:
    """An exchange that has been run.

    Args:
        places: of its arrays.
        plan: its plan.
        components: number of fields of each array.
    """

    places: Places
    plan: Plan
    components: Sequence[int]

    def repeat(self, places: Places) -> bool:
        """Exchange arrays; False, without doing so, if they differ in more than their addresses."""
        (data, layouts), (old, same) = places, self.places
        if layouts != same or any(a[1] != b[1] for a, b in zip(data, old, strict=True)):
            return False
        if data != old:
            if not self.plan.rebindable:
                return False
            each = zip(data, old, self.components, strict=True)
            self.plan.move([a[0] - b[0] for a, b, fields in each for _ in range(fields)])
            self.places = places
        self.plan.run_again()
        return True
