"""Average materials of elements, which are kept, so that each element is read only once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from groundswell.arrays import Integers, Reals
from groundswell.seismology.media.material import Material


class KeptAverages:
    """The average materials that a rank has needed so far: those of its elements and neighbours.

    Args:
        count: number of elements of all ranks.
        names: the properties that averages have.
        read: returns the averages of elements, arrays (elements,), which do not depend on others.

    Attributes:
        is_read: which elements have been read, (elements of all ranks,).
    """

    def __init__(
        self, count: int, names: Sequence[str], read: Callable[[Integers], Material]
    ) -> None:
        self._found: dict[str, Reals] = {name: np.empty(count) for name in names}
        self.is_read, self._read = np.zeros(count, np.bool_), read

    def at(self, elements: Integers) -> Material:
        """The averages of elements, arrays (elements,); reads those that have not been read."""
        if (new := np.unique(elements[~self.is_read[elements]])).size:
            material = self._read(new)
            for name, values in self._found.items():
                values[new] = getattr(material, name)
            self.is_read[new] = True
        return Material(**{name: values[elements] for name, values in self._found.items()})
