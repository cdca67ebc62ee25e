"""From an input file to a validated case: TOML, or a format that an installed solver reads."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from groundswell import registry
from groundswell.case.common import Case
from groundswell.errors import CaseError, InputError, Problem, listed, quoted

TOML = (".toml", "")  # suffixes of case files
_LARGEST = 16 * 2**20  # bytes; what is larger is data, given as a case by mistake


def as_case(case: Case | str | Path, **run: str | None) -> Case:
    """A case, or that of an input file, with some values of its `[run]` replaced.

    Args:
        run: values by key; None leaves the case's own.

    Raises what `load_case` raises, and `CaseError` for values that `[run]` does not allow.
    """
    return (case if isinstance(case, Case) else load_case(case)).with_run(**run)


def load_case(path: str | Path) -> Case:
    """Read and validate a case file (TOML), or another input file that an installed solver reads.

    Raises `InputError` if there is no such file or nothing reads its suffix, and `CaseError`, which
    lists every problem with its key or line, if it does not describe a valid case.
    """
    path = Path(path)
    if path.suffix.lower() in TOML:
        return read_case(_read(path), path.parent, path.name)
    return _load_with_solver(path)


def _load_with_solver(path: Path) -> Case:
    """The case in an input file of another format than TOML."""
    _require_file(path)
    found = registry.reader_of(path.suffix.lower())
    if found is None:
        others = ", ".join(
            sorted({suffix for info in registry.solvers() for suffix in info.readers})
        )
        raise InputError(
            f"{path}: no installed solver reads {quoted(path.suffix)} files; give a case file "
            f"(.toml){f' or one of {others}' if others else ''}"
        )
    info, reader = found
    with _readable(path):
        case: Case = info.resolve(reader)(path)
    return case


def read_case(text: str | bytes, folder: str | Path = "", source: str = "case") -> Case:
    """The case that TOML `text` describes; relative file names start in `folder`.

    Raises `CaseError`, in which the case is called `source`.
    """
    content = _parse(text, source)
    return _schema(content, source).from_dict(content, folder, source)


def _read(path: Path) -> bytes:
    with _readable(path):
        _require_file(path)
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path} is larger than 16 MiB; a case is a short TOML text file")
        return path.read_bytes()


def _require_file(path: Path) -> None:
    with _readable(path):
        if path.is_dir():
            raise InputError(
                f"{path} is a folder; give the case file in it, such as {path}/case.toml"
            )
        path.stat()  # raises if there is nothing
        if not path.is_file():
            raise InputError(f"{path} is not a file; a case is a TOML text file")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turns an operating-system error met while reading into an `InputError`."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file; `groundswell new` writes one to start from"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}") from None


def _parse(text: str | bytes, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text if isinstance(text, str) else text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        problem = Problem(f"line {line}", "", "is not UTF-8 text; save the file as UTF-8")
    except RecursionError:
        problem = Problem("case", "", "has lists or tables nested too deep")
    except ValueError as error:
        # Numbers with too many digits come as a bare ValueError, without a line.
        reason, _, place = str(error).partition(" (at ")
        problem = Problem(place.rstrip(")") or "case", "", f"is not TOML: {reason}")
    raise CaseError([problem], source)


def _schema(content: dict[str, Any], source: str) -> type[Case]:
    if "solver" not in content:
        allowed = f"is required; use {listed(registry.names())}"
        raise CaseError([Problem("solver", "", allowed)], source)
    try:
        schema: type[Case] = registry.find(str(content["solver"])).load("case")
    except InputError as error:
        raise CaseError([Problem("solver", "", str(error))], source) from None
    return schema
