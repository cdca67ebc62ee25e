"""What the cases of all solvers share: sections, unions of sections, and `Case` itself."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import core_schema

from groundswell.case.problems import Violation, problems_in, reject, translate_errors
from groundswell.case.units import (
    Count,
    CountOrZero,
    Flag,
    NonNegative,
    Number,
    Positive,
    Rate,
    Time,
    Unit,
)
from groundswell.errors import CaseError, did_you_mean, listed


class Section(BaseModel):
    """A table of a case. Unknown keys are refused, and a section never changes.

    Built by keyword it raises `CaseError`; inside a larger case it adds to the case's problems.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __init__(self, /, **content: Any) -> None:
        try:
            super().__init__(**content)
        except ValidationError as error:
            raise CaseError(problems_in(error, content), type(self).__name__) from None

    # Without this mark pydantic would build nested sections through `__init__` too, and the first
    # bad one would end the search for problems.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def violations(self) -> Iterator[Violation]:
        """What is wrong between keys that are each right; for sections to override."""
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _validate(cls, content: Any, handler: Any) -> Any:
        try:
            section = handler(content)
        except ValidationError as error:
            reject(translate_errors(error, cls.model_fields))
        reject(section.violations())
        return section


@dataclass(frozen=True)
class TaggedUnion:
    """Annotation of a union of sections: which one a table is, its key `tag` says."""

    tag: str = "kind"

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        sections = {
            kind: section
            for section in get_args(source)
            for kind in get_args(section.model_fields[self.tag].annotation)
        }
        choose = partial(self._choose, sections)
        return core_schema.with_info_plain_validator_function(choose)

    def _choose(self, sections: dict[str, type[Section]], value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, tuple(sections.values())):
            return value
        if not isinstance(value, dict):
            reject([((), f"must be a table with the key {self.tag}: {listed(sections)}")])
        if self.tag not in value:
            reject([((self.tag,), f"is required; use {listed(sections)}")])
        kind = value[self.tag]
        if not isinstance(kind, str) or kind not in sections:
            allowed = f"must be {listed(sections)}{did_you_mean(kind, sections)}"
            reject([((self.tag,), allowed)])
        return sections[kind].model_validate(value, context=info.context)


def exactly_one(section: Section, *names: str) -> Iterator[Violation]:
    """The fault of a section that gives none, or several, of the keys `names`."""
    given = [name for name in names if getattr(section, name) is not None]
    if not given:
        yield (), f"give {listed(names)}"
    elif len(given) > 1:
        yield (given[-1],), f"give only one of {' and '.join(names)}"


def _filled(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    if not entries:
        reject([((), "must not be empty")])
    return entries


# Checked after the entries, so that bad ones do not make a list look empty.
NotEmpty = AfterValidator(_filled)


def repeated(place: str, entries: tuple[Any, ...]) -> Iterator[Violation]:
    """The faults of a list that names something twice."""
    for n, entry in enumerate(entries):
        if entry in entries[:n]:
            yield (place, n), "is in the list already; name each once"


# --- files ----------------------------------------------------------------------------------------


def _in_folder(value: Any, info: ValidationInfo) -> Path:
    """The path that a name stands for: relative names start in the case file's folder."""
    if not isinstance(value, str | PurePath) or not str(value).strip() or "\0" in str(value):
        reject([((), 'must be the name of a file or folder, such as "model.csv"')])
    return (info.context or {}).get("folder", Path()) / Path(value)


def _existing(path: Path) -> Path:
    try:
        found = path.is_file()
    except (OSError, ValueError):  # a name too long for the system, or not in its encoding
        found = False
    if not found:
        reject([((), "is not there; relative names start in the case file's folder")])
    return path


FileName = Annotated[Path, PlainValidator(_in_folder)]
DataFile = Annotated[FileName, AfterValidator(_existing)]


# --- the sections all solvers have ----------------------------------------------------------------


class TimeSection(Section):
    """`[time]`: how long, and the step in seconds, or "auto" for the longest stable one."""

    duration: Annotated[Time, Positive]
    step: Annotated[
        float | Literal["auto"],
        Unit("s", "a time", "5 ms", word="auto"),
    ] = "auto"

    def violations(self) -> Iterator[Violation]:
        """A step that is not positive, or longer than the run."""
        if self.step != "auto" and not 0 < self.step <= self.duration:
            yield ("step",), f"must be positive and at most the duration, {self.duration:g} s"


class OutputSection(Section):
    """`[output]`: the folder of the results; solvers add what they can record."""

    directory: FileName = Field(default=Path("results"), validate_default=True)


class CheckpointSection(Section):
    """`checkpoint = { minutes = 10 }` or `{ steps = 1000 }`: how often the state is saved."""

    minutes: Annotated[Number, Positive] | None = None
    steps: Count | None = None

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of the two."""
        yield from exactly_one(self, "minutes", "steps")


TRANSPORTS = ("fused", "direct", "peer", "nccl", "mpi-gpu", "mpi", "mpi-thread")


def _transport(value: str) -> str:
    """A transport, or two as in "peer+mpi": one within hosts, one between them."""
    if value != "auto" and (value.count("+") > 1 or set(value.split("+")) - set(TRANSPORTS)):
        reject([((), f'must be "auto", {listed(TRANSPORTS)}, or two as in "peer+mpi"')])
    return value


def _codec(value: str) -> str:
    """A codec of messages."""
    if value not in CODECS and not _ZFP.fullmatch(value):
        reject([((), f'must be {listed(CODECS)}, or as in "zfp16"')])
    return value


CODECS = ("auto", "none", "mpc", "bitcomp", "ans")

_ZFP = re.compile("zfp([4-9]|[12][0-9]|3[0-2])")


class LinkSection(Section):
    """`link = { bandwidth = "25 GB/s", latency = "2 us" }`: a slower link, imposed on ranks.

    `gap` is what each message takes of it, however short it is.
    """

    bandwidth: Annotated[Rate, Positive]
    latency: Annotated[Time, NonNegative] = 0.0
    gap: Annotated[Time, NonNegative] = 0.0


class RunSection(Section):
    """`[run]`: where the case runs and in which floating-point type; how ranks share it.

    `processes` are ranks along x, y and z, 0 where that is left open. `narrow` is a type that ghost
    values are rounded to on their way; that, and codecs with loss, alone change results. `codec` is
    what messages are coded with: "auto" tries one without loss where links may be slow, and `lossy`
    if it is given.
    """

    backend: Literal["cpu", "cuda"] = "cpu"
    precision: Literal["single", "double"] = "single"
    checkpoint: CheckpointSection | None = None
    processes: tuple[CountOrZero, CountOrZero, CountOrZero] | None = None
    transport: Annotated[str, AfterValidator(_transport)] = "auto"
    overlap: Flag | Literal["auto"] = "auto"
    narrow: Literal["float32", "bfloat16"] | None = None
    codec: Annotated[str, AfterValidator(_codec)] = "auto"
    lossy: Annotated[str, AfterValidator(_codec)] | None = None
    link: LinkSection | None = None

    @property
    def codecs(self) -> list[str]:
        """The codecs that may be tried."""
        if self.codec != "auto" or self.narrow:
            return ["none" if self.codec == "auto" else self.codec]
        return ["none", "mpc", *([self.lossy] if self.lossy else [])]

    def violations(self) -> Iterator[Violation]:
        """Messages in another type than one narrower than the run's."""
        allowed = {"single": "bfloat16", "double": "float32"}[self.precision]
        if self.narrow not in (None, allowed):
            yield ("narrow",), f'must be "{allowed}" where precision = "{self.precision}"'
        if self.narrow and self.codec not in ("auto", "none"):
            yield ("narrow",), f'cannot be given with codec = "{self.codec}"; choose one of the two'
        if self.lossy and (self.narrow or self.codec != "auto"):
            yield ("lossy",), 'is for codec = "auto" without narrow; leave it out'
        if self.lossy and not _ZFP.fullmatch(self.lossy):
            yield ("lossy",), 'must be a codec with loss, as in "zfp16"'


class Case(Section):
    """A whole case: everything that decides what a run computes. Solvers add their sections."""

    solver: str
    title: str = ""
    time: Section | None = None
    # Defaults are validated because names of files depend on the folder.
    output: OutputSection = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: RunSection = RunSection()
    _folder: Path = PrivateAttr(default_factory=Path)

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], folder: str | Path = "", source: str = "case"
    ) -> Self:
        """The case that the tables `content` of a case file describe.

        Args:
            folder: where its relative file names start; the current folder if empty.
            source: name of the case in messages.

        Raises `CaseError`, which lists every problem.
        """
        where = Path(folder).absolute()
        try:
            case = cls.model_validate(content, context={"folder": where})
        except ValidationError as error:
            raise CaseError(problems_in(error, content), source) from None
        case._folder = where
        return case

    @property
    def source_path(self) -> Path:
        """The folder in which the case's relative file names start."""
        return self._folder

    def resolve(self, name: str | Path) -> Path:
        """The path of a file that belongs to the case, such as a result."""
        return self._folder / name

    def data_files(self) -> list[Path]:
        """The files that the case names and that exist, in the order of its content."""
        return [path for path in _paths(self.model_dump()) if path.is_file()]

    def canonical(self, without: tuple[str, ...] = ()) -> str:
        """The validated content, in SI, as JSON with sorted keys; arrays appear as checksums.

        Args:
            without: top-level sections to leave out.
        """
        content = self.model_dump(exclude=set(without), exclude_none=True)
        return json.dumps(content, sort_keys=True, default=self._plain)

    def digest(self, without: tuple[str, ...] = ()) -> str:
        """The SHA-256 of the canonical content: equal for cases that say the same.

        Data files count by name, not by content.
        """
        return hashlib.sha256(self.canonical(without).encode()).hexdigest()

    def _plain(self, value: Any) -> Any:
        """What JSON does not know: paths, as the user wrote them, and arrays."""
        if isinstance(value, PurePath):
            inside = value.is_relative_to(self._folder)
            return (value.relative_to(self._folder) if inside else value).as_posix()
        checksum = hashlib.sha256(value.tobytes()).hexdigest()
        return {"shape": value.shape, "dtype": str(value.dtype), "sha256": checksum}


def _paths(content: Any) -> Iterator[Path]:
    """Every path in nested mappings and sequences."""
    if isinstance(content, Path):
        yield content
    elif isinstance(content, Mapping):
        for value in content.values():
            yield from _paths(value)
    elif isinstance(content, (list, tuple)):
        for value in content:
            yield from _paths(value)
