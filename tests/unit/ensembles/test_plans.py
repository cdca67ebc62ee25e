"""Plans: tables, lists, products and samples become rows; what is wrong is told by row."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from ensemble_plans import DEPTH, write_plan
from hypothesis import given
from hypothesis import strategies as st

from groundswell import ensembles
from groundswell.ensembles.base_case import BaseCase, require_set_ups, require_valid
from groundswell.ensembles.plan import Plan, load_plan
from groundswell.ensembles.rows import Row, combined
from groundswell.errors import CaseError, InputError

GUIDE = Path(__file__).parents[3] / "docs" / "ensembles.md"

values = st.one_of(st.integers(), st.text(max_size=4), st.floats(allow_nan=False))
lists = st.lists(values, min_size=1, max_size=4)


def plan_of(tmp_path: Path, text: str) -> Plan:
    """A plan with the text, for an empty case."""
    (tmp_path / "case.toml").touch()
    (tmp_path / "plan.toml").write_text(f'case = "case.toml"\n{text}')
    return load_plan(tmp_path / "plan.toml")


def rows_of(tmp_path: Path, text: str) -> list[tuple[str, dict[str, Any]]]:
    return [(row.name, dict(row.settings)) for row in plan_of(tmp_path, text).rows]


def test_a_table(tmp_path: Path) -> None:
    """A cell is a TOML value or text; an empty one leaves the key as it is."""
    table = 'name,source.0.depth,a,b\n007,1 km,2,true\n# a comment\ns-2,2.5e3,,"[1, 2]"\n'
    (tmp_path / "shots.csv").write_text(table)
    assert rows_of(tmp_path, 'table = "shots.csv"') == [
        ("007", {"source.0.depth": "1 km", "a": 2, "b": True}),
        ("s-2", {"source.0.depth": 2500.0, "b": [1, 2]}),
    ]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("a,b\n1\n", r"line 2: 1 cell for 2 columns"),
        ("a,a\n1,2\n", r'column 2 of the header is "a"; give each column the path of another key'),
        ("a\n", "needs a header and at least one row"),
    ],
)
def test_a_table_that_is_wrong(tmp_path: Path, table: str, told: str) -> None:
    (tmp_path / "shots.csv").write_text(table)
    with pytest.raises(InputError, match=told):
        plan_of(tmp_path, 'table = "shots.csv"')


def test_lists_are_zipped_and_products_combined(tmp_path: Path) -> None:
    text = """
    columns = { name = ["u", "v"], "source.0.x" = [1, 2] }
    [product]
    medium.vs = ["1 km/s", "2 km/s"]
    "time.step" = [0.1]
    """
    assert rows_of(tmp_path, text) == [
        (f"{name}-{number}", {"source.0.x": x, "medium.vs": vs, "time.step": 0.1})
        for name, x in (("u", 1), ("v", 2))
        for number, vs in (("0001", "1 km/s"), ("0002", "2 km/s"))
    ]


@given(first=lists, second=lists)
def test_a_product_has_each_combination_once(first: list[Any], second: list[Any]) -> None:
    from groundswell.ensembles.rows import combinations

    found = [tuple(row.values()) for row in combinations({"a": first, "b": second})]
    assert found == [(a, b) for a in first for b in second]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_combined_rows_have_names_of_their_own(lengths: list[int]) -> None:
    parts = [[{f"key{n}": k} for k in range(length)] for n, length in enumerate(lengths)]
    rows = combined(parts)
    assert len({row.name for row in rows}) == len(rows)
    assert len({str(row.settings) for row in rows}) == len(rows)
    assert rows[0].name == "run-0001"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no runs; give a table, .columns., .product. or .sample."),
        ("colums = { a = [1] }", 'colums: is not a key here .did you mean "columns"'),
        ("columns = { a = [1, 2], b = [1] }", "equal lengths, but have: a 2, b 1"),
        ("columns = { a = [1] }\nproduct = { a = [1] }", "a is set by two of table, columns"),
        ('columns = { name = ["x y"] }', "x y: is not a valid name of a run"),
        ('columns = { name = ["a", "a"] }', "a: is also the name of another row"),
        ('columns = { name = ["log"] }', "log: is the name of another entry"),
        ('table = "no.csv"', "table .*does not exist"),
        ("columns = [", "plan.toml is not TOML"),
        ("columns = { a = [1] }\nranks_per_run = 0", "ranks_per_run = 0"),
        ("columns = { a = [] }", "columns.a = ..: must not be empty"),
        ("product = { a = [1], b = [] }", "product.b = ..: must not be empty"),
        ("columns = { a = [1] }\nresults = []", "results = ..: must not be empty"),
        (
            f"product = {{ {', '.join(f'a{n} = {[*range(9)]}' for n in range(9))} }}",
            "387,420,489 runs",
        ),
    ],
)
def test_a_plan_that_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        plan_of(tmp_path, text)


def test_tables_with_too_many_combinations() -> None:
    with pytest.raises(InputError, match="1,002,000 runs; at most 1,000,000 are possible"):
        combined([[{"a": n} for n in range(1000)], [{"b": n} for n in range(1002)]])


def test_the_store_is_beside_the_plan(tmp_path: Path) -> None:
    assert plan_of(tmp_path, "columns = { a = [1] }").store == tmp_path / "plan.zarr"
    chosen = plan_of(tmp_path, 'store = "other.zarr"\ncolumns = { a = [1] }')
    assert chosen.store == tmp_path / "other.zarr"


def test_the_plan_of_the_guide(tmp_path: Path) -> None:
    [text] = re.findall(r"```toml\ncase = .*?\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (tmp_path / "shots.csv").write_text("name,source.0.x\na,1 km\nb,2 km\n")
    rows = rows_of(tmp_path, text)
    assert len(rows) == 2 * 2 * 6 * 200 and rows[0][0] == "a-north-0001-0001"
    assert list(rows[0][1]) == [
        *("source.0.x", "source.0.y", "medium.qs", "source.0.dip"),
        *("source.0.strike", "medium.vs", "source.0.depth", "source.0.rake"),
    ]


def test_the_plans_of_the_examples() -> None:
    folder = GUIDE.parents[1] / "examples" / "ensembles"
    for name, count in (("survey", 12), ("ground", 8)):
        plan = load_plan(folder / f"{name}.toml")
        assert len(checked(plan)) == count


# --- rows and their cases -------------------------------------------------------------------------


def checked(plan: Plan) -> Any:
    return require_valid(BaseCase.of(plan), plan.rows, plan.source)


def test_rows_set_keys_of_the_case(tmp_path: Path) -> None:
    plan = load_plan(write_plan(tmp_path, 2))
    cases = checked(plan)
    assert [case.source[0].depth for case in cases.values()] == [400, 405]
    assert checked(plan.with_backend("cuda"))["run-0001"].run.backend == "cuda"


def test_all_wrong_rows_are_told_at_once(tmp_path: Path) -> None:
    """Each problem once, with the rows that have it."""
    depths = ["400 m", "4 kg", "5 kg", "-3 m", "410 m", "4 kg", "4 kg", "4 kg", "4 kg"]
    plan = load_plan(write_plan(tmp_path, 0, columns={DEPTH: depths}))
    with pytest.raises(InputError) as raised:
        checked(plan)
    told = str(raised.value).splitlines()
    assert told[0] == "plan.toml has rows that cannot run:"
    assert told[1] == "  run-0002, run-0006, run-0007, run-0008 and 1 more row:"
    assert told[2].startswith('    source[0].depth = "4 kg": is not a length')
    assert told[3] == "  run-0003:"
    assert told[5] == "  run-0004:" and "source[0].depth" in told[6]


def test_a_base_case_of_another_program(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"input\.h5 is not a TOML case, so rows cannot"):
        BaseCase.of(Plan.of(tmp_path / "input.h5", [{"a": 1}], tmp_path / "a.zarr"))


def test_a_wrong_path_is_told_by_row(tmp_path: Path) -> None:
    columns = {"source.0.dept": ["400 m"], "mediun.vs": [1000]}
    plan = load_plan(write_plan(tmp_path, 0, columns=columns))
    with pytest.raises(InputError, match=r"run-0001:\n.*(dept|mediun)"):
        checked(plan)


def test_a_row_whose_set_up_fails_is_told(tmp_path: Path) -> None:
    """The case of each row is valid, but its time step is not stable."""
    plan = load_plan(write_plan(tmp_path, 0, columns={"time.step": [0.01, 0.02]}))
    cases = checked(plan)
    with pytest.raises(InputError, match=r"run-0002:\n.*0\.02"):
        require_set_ups(cases, plan.source)


def test_an_unknown_result_is_refused_before_the_run(tmp_path: Path) -> None:
    path = write_plan(tmp_path, 1, results=["seismogram"])
    with pytest.raises(InputError, match='did you mean "seismograms"'):
        ensembles.run(path)
    assert not (tmp_path / "plan.zarr").exists()


def test_a_plan_built_in_python() -> None:
    plan = Plan.of("case.toml", [{"a": 1}, {"a": 2}], "store.zarr")
    assert plan.rows == [Row("run-0001", {"a": 1}), Row("run-0002", {"a": 2})]
    with pytest.raises(CaseError, match="x/y: is not a valid name"):
        Plan.of("case.toml", [{"name": "x/y"}], "store.zarr")


@pytest.mark.parametrize("path", ["b.c", "b", "b.cd"])
def test_settings_have_an_effect_on_some_row(path: str) -> None:
    plan = Plan.of("case.toml", [{"a": 1}, {"a": 2, "b.c": 3}], "store.zarr")
    assert dataclasses.replace(plan, settings={path: 5}).settings == {path: 5}


@pytest.mark.parametrize("path", ["a.b", "a.b.c"])
def test_settings_that_every_row_replaces(path: str) -> None:
    plan = Plan.of("case.toml", [{"a.b": 1}, {"a.b": 2}], "store.zarr")
    with pytest.raises(CaseError, match=rf"{path}: is set by every row of the plan"):
        dataclasses.replace(plan, settings={path: 5})
