"""Names of intensity measures, such as `pga` and `rotd50(1.0)`, and their units."""

from __future__ import annotations

import re
from dataclasses import dataclass

from groundswell.errors import InputError, quoted

GRAVITY = 9.80665  # m/s^2
_NAME = re.compile(
    r"\s*(?P<name>[A-Za-z][A-Za-z0-9_]*)\s*(?:\(\s*(?P<period>[^()]*?)\s*s?\s*\))?\s*"
)
ACCELERATIONS = ("pga", "psa", "sa", "rotd50", "rotd100")
_TITLES = {
    "pga": "peak ground acceleration",
    "pgv": "peak ground velocity",
    "pgd": "peak ground displacement",
}
_UNITS = {"pgv": (0.01, "cm/s"), "pgd": (0.01, "cm")}


@dataclass(frozen=True, order=True)
class Measure:
    """An intensity measure: the name of a variable, in lower case, and optionally a period (s)."""

    name: str
    period: float | None = None

    @classmethod
    def parse(cls, text: str) -> Measure:
        """The measure in text such as "PGA" or "rotd50(1.0)".

        Raises:
            InputError: the text is not a measure.
        """
        match = _NAME.fullmatch(text) if len(text) < 60 else None
        try:
            period = None if match is None or match["period"] is None else float(match["period"])
        except ValueError:
            match = None
        if match is None or (period is not None and not 0 < period < 1e3):
            raise InputError(
                f'{quoted(text)} is not an intensity measure; write "pga", or with a period in s, '
                '"psa(1.0)"'
            )
        return cls(match["name"].lower(), period)

    def __str__(self) -> str:
        return self.name if self.period is None else f"{self.name}({self.period:g})"

    @property
    def base(self) -> str:
        """The name without the direction: `pga` for `pga_rotd50`."""
        return self.name.split("_")[0]

    @property
    def is_spectral(self) -> bool:
        """Whether it is the response of an oscillator."""
        return self.period is not None

    @property
    def unit(self) -> tuple[float, str]:
        """The unit of pictures and tables: its value in SI, and its name."""
        return (GRAVITY, "g") if self.base in ACCELERATIONS else _UNITS.get(self.base, (1.0, ""))

    @property
    def title(self) -> str:
        """The name in pictures."""
        if self.period is not None:
            return f"spectral acceleration at {self.period:g} s"
        return _TITLES.get(self.base, self.name)

    @property
    def axis(self) -> str:
        """The label of an axis of levels."""
        unit = f" ({self.unit[1]})" if self.unit[1] else ""
        return self.title[0].upper() + self.title[1:] + unit

    @property
    def file_name(self) -> str:
        """The name in file names, such as `rotd50-1s`."""
        return self.name if self.period is None else f"{self.name}-{self.period:g}s"

    @property
    def openquake(self) -> str:
        """The name in OpenQuake, such as SA(1.0)."""
        if self.period is not None:
            return f"SA({float(self.period)!r})"
        return self.base.upper()
