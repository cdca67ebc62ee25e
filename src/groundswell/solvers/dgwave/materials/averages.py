"""Average materials of elements, which are kept, so that each element is read only once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from groundswell.arrays import Integers, Mask, Reals
from groundswell.seismology.media.material import Material


class KeptAverages(ABC):
    """The average materials that a rank has needed so far: those of its elements and neighbours."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of elements of all ranks."""

    @property
    @abstractmethod
    def properties(self) -> Sequence[str]:
        """The properties that averages have."""

    @abstractmethod
    def read(self, elements: Integers) -> Material:
        """The average material of elements, arrays (elements,), which do not depend on others."""

    def averages(self, elements: Integers) -> Material:
        """The same; reads the elements that have not been read before."""
        found, is_read = self._found
        if (new := np.unique(elements[~is_read[elements]])).size:
            material = self.read(new)
            for name, values in found.items():
                values[new] = getattr(material, name)
            is_read[new] = True
        return Material(**{name: values[elements] for name, values in found.items()})

    @cached_property
    def _found(self) -> tuple[dict[str, Reals], Mask]:
        """The averages by property, and which elements have one."""
        found: dict[str, Reals] = {name: np.empty(self.count) for name in self.properties}
        return found, np.zeros(self.count, np.bool_)
