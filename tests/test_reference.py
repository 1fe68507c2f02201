"""The reference commands: their content is held against the compiler, not against a layout."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from compiling import inside, model_of, run_text, tree_of
from typer.testing import CliRunner

from capgraph.cli.main import app
from capgraph.formula.functions import FUNCTIONS, UnitRule
from capgraph.formula.reductions import INTERPOLATE, REDUCTIONS
from capgraph.formula.tree import Binary, BinaryOp, Expr, Unary, UnaryOp
from capgraph.join import shipped_models
from capgraph.reference import doctor
from capgraph.reference.language import OPERATORS, RULES, Entry, Operator, functions, reductions
from capgraph.reference.unit_table import UnitEntry, prefixes, units
from capgraph.units import known_units, parse_unit

ROOT = Path(__file__).parent.parent
ENTRIES = (*functions(), *OPERATORS)


def invoked(*arguments: str) -> tuple[int, str, str]:
    """Run a command; return its exit code, output and diagnostics."""
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout, result.stderr


def printed(*arguments: str) -> str:
    """Return what a command prints that works."""
    code, output, _ = invoked(*arguments)
    assert code == 0
    return output


def test_functions_are_those_of_the_tables() -> None:
    assert [entry.written.partition("(")[0] for entry in functions()] == ["if", *FUNCTIONS]
    assert [entry.written.partition("(")[0] for entry in reductions()] == [*REDUCTIONS, INTERPOLATE]
    assert set(RULES) == set(get_args(UnitRule))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.written)
def test_an_example_gives_what_is_said(entry: Entry) -> None:
    for formula, expected in entry.examples:
        unit = "yes/no" if isinstance(expected, bool) else "count"
        assert run_text(model_of(formula, unit)).values["result"] == expected, formula


def test_operators_are_those_of_the_parser() -> None:
    told = [symbol for entry in OPERATORS for symbol in entry.symbols]
    assert sorted(told) == sorted([*get_args(BinaryOp), *get_args(UnaryOp)])


def _outermost(formula: str) -> str:
    tree: Expr = tree_of(formula)
    assert isinstance(tree, Binary | Unary)
    return tree.op


@pytest.mark.parametrize(
    ("tight", "loose"),
    [pair for pair in product(OPERATORS, repeat=2) if pair[0].level < pair[1].level],
    ids=lambda entry: entry.written,
)
def test_precedence_is_the_parsers(tight: Operator, loose: Operator) -> None:
    for inner, outer in product(tight.symbols, loose.symbols):
        if loose.written.startswith(outer):
            assert _outermost(f"{outer} a {inner} b") == outer
        elif tight.written.startswith(inner):
            assert _outermost(f"{inner} a {outer} b") == outer
        else:
            assert _outermost(f"a {inner} b {outer} c") == outer
            assert _outermost(f"a {outer} b {inner} c") == outer


def test_functions_are_printed_with_all_that_the_table_says() -> None:
    text = printed("functions")
    for entry in (*ENTRIES, *reductions()):
        (line,) = [line for line in text.splitlines() if line.startswith(f"{entry.written}  ")]
        assert entry.gives in line
        assert entry.units in line
        assert entry.excel in line
        assert all(formula in line for formula, _ in entry.examples)


def test_functions_for_programs() -> None:
    told = json.loads(printed("functions", "--json"))
    assert set(told) == {"functions", "reductions", "operators"}
    ceil = next(entry for entry in told["functions"] if entry["written"] == "ceil(x)")
    assert ceil["excel"] == "(-INT(-ROUND(x,9)))"
    assert ["ceil(2.1)", 3.0] in ceil["examples"]
    assert {"+", "-"} <= {symbol for entry in told["operators"] for symbol in entry["symbols"]}


def test_every_unit_that_is_known_is_told() -> None:
    told = {name for entry in units() for name in (entry.name, *entry.symbols)}
    assert told - {"percent"} == set(known_units())


@pytest.mark.parametrize("entry", units(), ids=lambda entry: entry.name)
def test_a_unit_is_what_its_definition_says(entry: UnitEntry) -> None:
    assert {parse_unit(name).size for name in (entry.name, *entry.symbols)} == {entry.size}
    if not entry.definition:
        assert entry.size == 1
        assert dict(entry.dimension) in ({}, {entry.name: 1})
        return
    number, _, of = re.fullmatch(r"([\d.]*) ?(.*?)(?: / (\d+))?", entry.definition).groups()  # type: ignore[union-attr]
    times = Fraction(number or 1) / Fraction(of or 1)
    unit = parse_unit(re.sub(r"^[\d.]+ | / \d+$", "", entry.definition))
    assert (unit.size * times, unit.dimension) == (entry.size, entry.dimension)


def test_a_prefix_multiplies_as_it_is_told() -> None:
    assert len(prefixes()) >= 14
    for prefix in prefixes():
        for symbol in prefix.symbols:
            assert parse_unit(f"{symbol}B").size == Fraction(prefix.factor)
        assert parse_unit(f"{prefix.name}byte").size == Fraction(prefix.factor)


def test_units_are_printed_with_the_finance_month() -> None:
    text = printed("units")
    assert re.search(r"^GPU +a dimension of its own$", text, re.MULTILINE)
    assert re.search(r"^hour +h +3600 second$", text, re.MULTILINE)
    assert re.search(r"^Gi +gibi +1073741824$", text, re.MULTILINE)
    assert re.search(
        r"month is its own dimension: a plan says how many days or billed hours its month has", text
    )
    assert re.search(r"^year +12 month$", text, re.MULTILINE)


def test_units_for_programs() -> None:
    told = json.loads(printed("units", "--json"))
    byte, bit = (next(item for item in told["units"] if item["name"] == name) for name in ("byte", "bit"))
    assert (byte["symbols"], byte["definition"]) == (["B"], "")
    assert (bit["size"], bit["dimension"]) == (0.125, {"byte": "1"})
    assert {"name": "kibi", "symbols": ["Ki"], "factor": "1024"} in told["prefixes"]


def test_explain_lists_all_pages_and_shows_one() -> None:
    text = printed("explain")
    assert re.search(r"^  CG401  Unknown name in a formula$", text, re.MULTILINE)
    one = printed("explain", "CG401")
    assert one.startswith("CG401: Unknown name in a formula\n")
    assert "## Wrong" in one
    assert (
        one == printed("explain", "cg401") == printed("explain", "401") == printed("explain", "error[CG401]")
    )


@pytest.mark.parametrize(("asked", "way_out"), [("CG999", "did you mean `CG9"), ("units", "lists all codes")])
def test_an_unknown_code_is_wrong_use(asked: str, way_out: str) -> None:
    code, output, message = invoked("explain", asked)
    assert (code, output) == (2, "")
    assert "error[CG804]" in message
    assert way_out in message


def test_doctor_says_that_all_is_well_here() -> None:
    code, text, _ = invoked("doctor")
    assert code == 0, text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = [re.split(r"[><]", requirement)[0] for requirement in project["dependencies"]]
    for name in (*names, "Python", "fonts", "templates", "reports", "models", "Pango"):
        assert re.search(rf"^ok  {re.escape(name)} ", text, re.MULTILINE | re.IGNORECASE), name
    assert all(model in text for model in shipped_models())


@pytest.mark.parametrize(
    ("requirement", "works"),
    [
        ("numpy>=2.1", True),
        ("numpy>=99", False),
        ("numpy<1", False),
        ("pydantic>=2.10,<3", True),
        ("pydantic>=2.10,<2.11", False),
        ("no-such-library>=1", False),
    ],
)
def test_doctor_judges_a_library(requirement: str, works: bool) -> None:
    found = doctor.library(requirement)
    assert found.works == works
    assert found.stops != works
    name, bounds = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()  # type: ignore[union-attr]
    assert found.way_out.endswith(f'-m pip install "{name}{bounds}"')
    assert works or bounds.split(",")[0] in found.told


def test_doctor_writes_nothing(tmp_path: Path) -> None:
    with inside(tmp_path):
        assert invoked("doctor")[0] == 0
        assert list(tmp_path.iterdir()) == []


def test_doctor_exits_with_1_where_a_build_would_fail(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("in the way")
    with inside(tmp_path):
        code, text, _ = invoked("doctor")
        assert code == 1
        assert re.search(
            r"^NO  reports .* is a file\n +do this: move it, or build with -o DIR$", text, re.MULTILINE
        )
        assert invoked("build", "llm-serving", "--only", "json")[0] == 2


@pytest.mark.parametrize(
    ("missing", "lines"), [("networkx", ["models"]), ("weasyprint", ["Pango"]), ("numpy", ["models"])]
)
def test_doctor_goes_on_where_a_library_is_broken(missing: str, lines: list[str]) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['capgraph', 'doctor']\n"
    program += "from capgraph.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert set(lines) <= set(re.findall(r"^NO  (\w+) +cannot be tried: ", done.stdout, re.MULTILINE))
