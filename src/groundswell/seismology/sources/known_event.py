"""An event of a file, completed by a case, as a point source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from groundswell.errors import InputError, listed
from groundswell.seismology.case.events import ALL, EventFile
from groundswell.seismology.case.sources import Components, DoubleCouple, MomentTensor
from groundswell.seismology.formats.event_choice import describe, moment_of
from groundswell.seismology.formats.events import CatalogueEvent, Mechanism, Place
from groundswell.seismology.sources.moment import magnitude_from_moment, moment_from_magnitude
from groundswell.seismology.sources.time_functions import TimeFunction, Trapezoid, Triangle

_COMPONENTS = ("rr", "tt", "pp", "rt", "rp", "tp")
_BOX_RAMPS = 1 / 9  # of the duration of a box car, at each of its ends
# The half duration of Global CMT, 1.05e-8 s for M0 = 1 dyn cm, grows with the cube root of M0:
# Ekstroem, Nettles & Dziewonski (2012), Phys. Earth Planet. Inter. 200-201, 1-9.
_HALF_DURATION = 1.05e-8 * 1e7 ** (1 / 3)  # s, for 1 N m
_LONGEST = 3600.0  # time from zero to an event, and duration, s; more is taken for a mistake
_SHALLOW = 100.0  # m; depths of a few metres are probably in km
_SIZE_ERROR = 0.2  # difference of Mw between a tensor and the stated moment


@dataclass(frozen=True)
class KnownEvent:
    """What a case and a file say about an event; the case takes precedence."""

    section: EventFile
    event: CatalogueEvent
    mechanism: Mechanism

    @property
    def place(self) -> Place | None:
        return self.mechanism.centroid or self.event.hypocentre

    @property
    def moment(self) -> float | None:
        """Scalar moment, N m."""
        if self.section.magnitude is not None:
            return moment_from_magnitude(self.section.magnitude)
        return moment_of(self.mechanism, self.event)

    @property
    def position(self) -> dict[str, float | None]:
        section, place = self.section, self.place
        depth = section.depth if section.depth is not None or not place else place.depth
        if section.x is not None and section.select != ALL:
            return {"x": section.x, "y": section.y, "depth": depth}
        own = place if section.longitude is None else section
        longitude, latitude = (getattr(own, name, None) for name in ("longitude", "latitude"))
        return {"longitude": longitude, "latitude": latitude, "depth": depth}

    def require_complete(self) -> None:
        """Check that the source is complete.

        Raises:
            InputError: something is missing; lists all of it.
        """
        missing = [name for name, value in self.position.items() if value is None]
        if self.mechanism.tensor is None and self.mechanism.plane is None:
            raise InputError(
                f"{self.section.file}: the event ({describe(self.event)}) has neither a moment "
                "tensor nor a nodal plane; choose another one, or give the source in the case"
            )
        if self.moment is None and self.mechanism.tensor is None:
            missing.append("magnitude")
        if missing:
            lacks = listed(["Mw" if name == "magnitude" else name for name in missing])
            what = listed(missing).replace(" or ", " and ")
            raise InputError(
                f"{self.section.file}: the event ({describe(self.event)}) has no {lacks}; give "
                f"{what} in the source"
            )

    def point(self, zero: datetime | None) -> MomentTensor | DoubleCouple:
        """The event as a source of a case."""
        tensor, plane = self.mechanism.tensor, self.mechanism.plane
        if tensor is not None:
            return self._from_tensor(tensor, zero)
        assert plane is not None  # as the source is complete
        angles = dict(zip(("strike", "dip", "rake"), plane, strict=True))
        more: dict[str, Any] = {**self.position, "time_function": self.time_function(zero)}
        return DoubleCouple(kind="double-couple", **more, **angles, moment=self.moment)

    def _from_tensor(self, tensor: tuple[float, ...], zero: datetime | None) -> MomentTensor:
        own = moment_of(self.mechanism, self.event)
        scale = self.moment / own if self.moment and own else 1.0
        values = (scale * value for value in tensor)
        components = Components(**dict(zip(_COMPONENTS, values, strict=True)))
        more: dict[str, Any] = {**self.position, "time_function": self.time_function(zero)}
        return MomentTensor(kind="moment-tensor", **more, components=components)

    def time_function(self, zero: datetime | None) -> TimeFunction:
        """The time function of the case or of the file, in its place on the time axis."""
        function = self.section.time_function or self._shape()
        if function.onset is not None or function.centroid is not None:
            return function
        return function.model_copy(update=self._moved(zero))

    def _moved(self, zero: datetime | None) -> dict[str, float]:
        """The onset or the centroid of the time function, s."""
        centroid, hypocentre = self.mechanism.centroid, self.event.hypocentre
        key = "centroid" if centroid and centroid.time else "onset"
        date = centroid.time if centroid and centroid.time else getattr(hypocentre, "time", None)
        seconds = (date - zero).total_seconds() if date and zero else 0.0
        if abs(seconds) > _LONGEST:
            raise InputError(
                f"{self.section.file}: the event is at {date}, but time 0 at {zero}; correct "
                "event.origin_time, or choose another event"
            )
        return {key: seconds}

    def _shape(self) -> TimeFunction:
        """The time function of the file, or else the usual one for the moment."""
        mechanism, duration = self.mechanism, self.duration
        if duration > _LONGEST:
            raise InputError(
                f"{self.section.file}: the duration of the source is {duration:g} s, and at most "
                f"{_LONGEST:g} s is allowed; correct it, or give a time_function"
            )
        if mechanism.shape == "trapezoid" and mechanism.rise and mechanism.decay:
            return Trapezoid(duration=duration, rise=mechanism.rise, decay=mechanism.decay)
        if mechanism.shape == "box car":
            ramp = duration * _BOX_RAMPS
            return Trapezoid(duration=duration + ramp, rise=ramp)
        return Triangle(rise=duration)

    @property
    def duration(self) -> float:
        """The duration of the moment rate, s."""
        if self.has_duration:
            assert self.mechanism.duration is not None
            return self.mechanism.duration
        return 2 * _HALF_DURATION * float(self.moment or 0.0) ** (1 / 3)

    @property
    def has_duration(self) -> bool:
        """Whether the file has a duration; 0 means none."""
        return bool(self.mechanism.duration)

    def warnings(self) -> Iterator[str]:
        """Yield what the file lacks or contradicts."""
        name = self.section.file.name
        if self.section.time_function is None and not self.has_duration:
            yield (
                f"{name} has no duration of the source; the run uses a triangle of "
                f"{self.duration:.3g} s, the average for this moment (Ekstroem et al. 2012). To "
                "choose, give a time_function"
            )
        depth = self.position["depth"]
        if self.section.depth is None and depth is not None and 0 < depth < _SHALLOW:
            yield (
                f"{name}: the event is {depth:g} m deep; if the file has km where m are due, give "
                "depth in the source"
            )
        stated, own = self.mechanism.moment, moment_of(self.mechanism, self.event)
        sizes = [magnitude_from_moment(m) for m in (stated, own) if m and m > 0]
        if len(sizes) == 2 and abs(sizes[0] - sizes[1]) > _SIZE_ERROR:
            yield (
                f"{name}: the scalar moment is that of Mw {sizes[0]:.2f}, but the tensor has "
                f"Mw {sizes[1]:.2f}, which the run uses; correct one of them, or give magnitude"
            )
