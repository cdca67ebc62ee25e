"""A rank's yielding rock: the tables of kernels/yielding.h."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Self

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Integers, Reals
from groundswell.solvers.dgwave.plasticity.model import YieldingRock

NEVER = -1  # instead of a row: the element does not yield


@dataclass(frozen=True, eq=False)
class RankRock:
    """What yielding needs at the nodes of a rank's elements.

    Elements with the same values share a row. In bricks with layers, few rows fit into the cache.

    Args:
        rows: row of each element, or NEVER, (elements,).
        table: strength without waves (Pa), sine of the angle of friction and, if the initial stress
            has one, its deviator (Pa) in the order of the fields, (rows, values, nodes).
        relaxation_time: in which stress beyond the strength decays to 1/e, s; 0 without delay.
        is_sheared: whether the initial stress has a deviator, on any rank.
    """

    rows: NDArray[np.int32]
    table: Reals
    relaxation_time: float
    is_sheared: bool

    @classmethod
    def of(cls, rock: YieldingRock, elements: Integers, linear: Integers, dtype: str) -> Self:
        """The part of a rank with these elements, with tables of this type.

        Args:
            linear: indices of elements that do not yield.
        """
        numbers: dict[bytes, int] = {}
        rows, found = np.full(len(elements), NEVER, np.int32), list[Reals]()
        yields = rock.can_yield(elements)
        yields[linear] = False
        chosen = np.flatnonzero(yields)
        for part in rock.chunks(len(chosen)):
            tables = rock.table(elements[chosen[part]]).astype(dtype)
            for n, values in zip(chosen[part], tables, strict=True):
                rows[n] = numbers.setdefault(values.tobytes(), len(numbers))
                if rows[n] == len(found):
                    found.append(values)
        table = np.array(found or [np.zeros((rock.values, rock.nodes))], dtype)
        return cls(rows, table, rock.relaxation_time, rock.is_sheared)

    def remembered(self, dt: float) -> float:
        """The part of the stress beyond the strength that is left after a time, s."""
        return exp(-dt / self.relaxation_time) if self.relaxation_time else 0.0
