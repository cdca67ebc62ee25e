"""Problems of a case: raised by its sections, reported with key, value and what is allowed."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from groundswell.case.units import Unit
from groundswell.errors import CaseProblem, did_you_mean, quoted

Location = tuple[str | int, ...]
Violation = tuple[Location, str]  # location relative to a section, what is allowed there

_FINAL = "final"  # type of errors whose text is shown as it is
_ABSENT = object()
WHOLE = "case"  # key of a problem of the whole content
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

_SENTENCES = {
    "int_type": "must be a whole number, without quotes",
    "bool_type": "must be true or false, without quotes",
    "string_type": "must be text in quotes",
    "string_unicode": "must be text in Unicode",
    "list_type": "must be a list, [ ... ]",
    "tuple_type": "must be a list, [ ... ]",
    "dict_type": "must be a table: a [section], or {{ key = value, ... }}",
    "model_type": "must be a table: a [section], or {{ key = value, ... }}",
    "model_attributes_type": "must be a table: a [section], or {{ key = value, ... }}",
    "too_long": "must have {max_length} entries",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
    "none_required": "is not for this solver; leave it out",
    "invalid_key": "is not a key; keys are text",
}


# --- raising --------------------------------------------------------------------------------------


def reject(violations: Iterable[Violation]) -> None:
    """Raise one `ValidationError` that lists all `violations`, if there are any."""
    details = [
        InitErrorDetails(
            type=PydanticCustomError(_FINAL, "{text}", {"text": text}), loc=place, input=None
        )
        for place, text in violations
    ]
    if details:
        raise ValidationError.from_exception_data("case", details)


def translate_errors(
    error: ValidationError, fields: Mapping[str, FieldInfo], meaning_of: Callable[[str], str]
) -> Iterator[Violation]:
    """Yield the pydantic errors of a section as violations.

    Args:
        fields: of the section, by key.
        meaning_of: the meaning of a key, for keys that are missing.
    """
    for item in error.errors(include_url=False):
        yield item["loc"], _sentence(item, fields, meaning_of)


def _sentence(item: Any, fields: Mapping[str, FieldInfo], meaning_of: Callable[[str], str]) -> str:
    kind, place = item["type"], item["loc"]
    if kind in (_FINAL, "quantity"):
        return str(item["msg"])
    if kind == "extra_forbidden":
        return f"is not a key here{did_you_mean(place[0], fields)}; keys are: {', '.join(fields)}"
    if kind == "missing":
        if place[1:]:
            return "is missing: the list is too short"
        return _required(fields[place[0]], meaning_of(place[0]))
    if kind not in _SENTENCES:
        return str(item["msg"])
    if kind in ("list_type", "tuple_type") and isinstance(item["input"], Mapping):
        return "must be a list, [ ... ]; tables in a list have double brackets, [[ ... ]]"
    text = _SENTENCES[kind].format(**item.get("ctx", {}))
    if kind != "literal_error":
        return text
    words = re.findall(r"'([^']*)'", text)
    return text.replace("'", '"') + did_you_mean(item["input"], words)


def _required(field: FieldInfo, meaning: str) -> str:
    unit = next((m for m in field.metadata if isinstance(m, Unit)), None)
    what = f" ({short(meaning)})" if meaning else ""
    return f"is required{what}; give {unit.expected}" if unit else f"is required{what}"


def short(meaning: str) -> str:
    """The first part of a meaning, for the middle of a sentence: "size of the region"."""
    first = re.split(r"[.:;] |[.]$", meaning)[0]
    is_name = re.match(r"[A-Z][a-z]*[A-Z]|[A-Z]\W|Prandtl|Rayleigh|Reynolds", first)
    return first if is_name else first[:1].lower() + first[1:]


# --- reporting ------------------------------------------------------------------------------------


def problems_in(error: ValidationError, content: Any) -> list[CaseProblem]:
    """All distinct problems of the validated `content`, with the values that the user gave."""
    problems = []
    for item in error.errors(include_url=False, include_input=False):
        key, value = locate(item["loc"], content)
        problems.append(CaseProblem(key or WHOLE, format_value(value), item["msg"]))
    return list(dict.fromkeys(problems))


def locate(location: Location, content: object) -> tuple[str, object]:
    """Key path (`source[2].depth`) and value at a location.

    The path ends at the value in the file: at the number where one number stands for three.
    """
    key, value = "", content
    for part in location:
        if isinstance(value, Mapping):
            value = value.get(part, _ABSENT)
        elif isinstance(value, BaseModel):
            value = getattr(value, str(part), _ABSENT)
        elif isinstance(value, list | tuple) and isinstance(part, int):
            value = value[part] if part < len(value) else _ABSENT
        elif value is not _ABSENT:
            break
        key += f"[{part}]" if isinstance(part, int) else f"{'.' if key else ''}{_bare(part)}"
    return key, value


def _bare(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) and len(key) <= 60 else quoted(key)


def format_value(value: object) -> str:
    """A value as in a case file, shortened to one line; empty for a table."""
    if value is _ABSENT or isinstance(value, Mapping | BaseModel):
        return ""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list | tuple):
        shown = [format_value(v) if not isinstance(v, list | tuple) else "[...]" for v in value[:4]]
        return f"[{', '.join(v or '{...}' for v in shown)}{', ...' if len(value) > 4 else ''}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > 64:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, int | float | datetime.date | datetime.time):
        return str(value)
    return f"a Python {type(value).__name__}"
