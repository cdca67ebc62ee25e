"""Settings replace values of a case file by path; a wrong path is refused with the nearest name."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundswell.case import load_case, parse_settings, read_case, set_values
from groundswell.errors import CaseError, InputError
from groundswell.simulation.preparation import check
from groundswell.solvers.earthquake import case as schema

TEMPLATE = Path(schema.__file__).with_name("template.toml")
DOCUMENT: dict[str, Any] = {
    "solver": "earthquake",
    "time": {"duration": 3.0},
    "grid": {"size": ["4 km", "3 km", "2 km"]},
    "source": [{"x": 1, "time_function": {"kind": "gaussian"}}, {"x": 2}],
}


@pytest.mark.parametrize(
    ("path", "value", "changed"),
    [
        ("time.duration", 2.0, lambda d: d["time"]["duration"]),
        ("time.step", "5 ms", lambda d: d["time"]["step"]),
        ("source.1.x", "300 m", lambda d: d["source"][1]["x"]),
        ("source[1].x", 7, lambda d: d["source"][1]["x"]),
        ("source.0.time_function.width", 0.1, lambda d: d["source"][0]["time_function"]["width"]),
        ("grid.size.2", "5 km", lambda d: d["grid"]["size"][2]),
        ("title", "new", lambda d: d["title"]),
        ("run.precision", "double", lambda d: d["run"]["precision"]),
        ('time."with a.dot"', 1, lambda d: d["time"]["with a.dot"]),
    ],
)
def test_a_value_at_a_path(path: str, value: object, changed: Any) -> None:
    before = deepcopy(DOCUMENT)
    document = set_values(DOCUMENT, {path: value})
    assert changed(document) == value
    assert before == DOCUMENT and document != DOCUMENT


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("tim.duration", r'the case has no key "tim" \(did you mean "time"\?\)'),
        ("sorce.0.x", 'did you mean "source"'),
        ("source.2.x", 'source is a list of 2 entries; give a number from 0 to 1, not "2"'),
        ("source.first.x", 'not "first"'),
        ("source.-1.x", 'not "-1"'),
        ("source.2", "source is a list of 2 entries"),
        ("source.0.time_funktion.kind", r'source.0 has no key "time_funktion" .*"time_function"'),
        ("time.duration.x", "time.duration is neither a table nor a list"),
        ("grid.size.0.x", "grid.size.0 is neither"),
        ("", "not the path of a value"),
        (".time", "not the path of a value"),
        ("time..step", "not the path of a value"),
        ("time.", "not the path of a value"),
        ("time duration", "not the path of a value"),
        (3, "not the path of a value"),
    ],
)
def test_a_path_that_leads_nowhere(path: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        set_values(DOCUMENT, {path: 1})


def test_values_are_copies() -> None:
    sources = [{"x": 1}]
    document = set_values(DOCUMENT, {"source": sources, "source.0.x": 5})
    assert document["source"] == [{"x": 5}] and sources == [{"x": 1}]


@given(st.text(max_size=30))
def test_any_path_is_set_or_refused(path: str) -> None:
    """No path raises another error or changes the given document."""
    before = deepcopy(DOCUMENT)
    try:
        set_values(DOCUMENT, {path: 1})
    except InputError as error:
        assert "\n" not in str(error)
    assert before == DOCUMENT


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2.0", 2.0),
        ("3", 3),
        ("true", True),
        ("[1, 2]", [1, 2]),
        ('{ kind = "ricker" }', {"kind": "ricker"}),
        ('"300 m"', "300 m"),
        ("300 m", "300 m"),
        ("double", "double"),
        ("a = b", "a = b"),
        ("1, other = 2", "1, other = 2"),
        ("1 # not a comment", "1 # not a comment"),
        ("1 }\n[more", "1 }\n[more"),
        ("[" * 10_000, "[" * 10_000),
    ],
)
def test_values_of_the_command_line(text: str, value: object) -> None:
    assert parse_settings([f"some.path={text}"]) == {"some.path": value}


@pytest.mark.parametrize("text", ["time.duration", "=2", "time.duration=", ""])
def test_texts_that_set_nothing(text: str) -> None:
    with pytest.raises(InputError, match="sets nothing; give PATH=VALUE"):
        parse_settings([text])


def test_a_case_with_settings_is_the_case_with_these_values(tmp_path: Path) -> None:
    text = TEMPLATE.read_text()
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "case.toml"
    path.write_text(text)
    case = load_case(path, {"time.duration": "1.5 s", "output.directory": "elsewhere"})
    assert case.time.duration == 1.5  # type: ignore[union-attr]
    assert case.resolve(case.output.directory) == tmp_path / "folder" / "elsewhere"
    assert case.settings == {"time.duration": '"1.5 s"', "output.directory": '"elsewhere"'}
    assert read_case(text, settings={}).digest() == read_case(text).digest()


def test_a_wrong_value_is_a_problem_of_the_case() -> None:
    with pytest.raises(CaseError, match=r'time.duration = "long": is not a number') as caught:
        read_case(TEMPLATE.read_text(), settings={"time.duration": "long", "grid.spacin": 5})
    assert 'did you mean "spacing"' in str(caught.value)


def test_settings_are_for_toml_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"input\.h5: settings .* TOML case files only"):
        load_case(tmp_path / "input.h5", {"time.duration": 1})
    with pytest.raises(InputError, match="build this case with other values"):
        check(read_case(TEMPLATE.read_text()), settings={"time.duration": 1})


def test_check_shows_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text(TEMPLATE.read_text())
    found = check(path, settings={"time.duration": 0.5})
    assert found["settings"] == {"time.duration": "0.5"} and "settings" not in check(path)
    assert found["quantities"][0]["text"] == "time.duration = 0.5"
    table = check(path, settings={"output.surface": {"interval": "0.1 s"}})
    assert table["quantities"][0]["text"] == "output.surface = {...}"
