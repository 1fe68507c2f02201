"""What is too large is refused with a message, and what is just not too large works."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import run_path, run_text
from generated import large_model
from typer.testing import CliRunner, Result

from capgraph.cli.build import MAX_SCENARIOS, MAX_VALUES
from capgraph.cli.main import app
from capgraph.join import MAX_FILES
from capgraph.resolve.sweeps import MAX_POINTS
from capgraph.yamltree import MAX_ALIASED_NODES, MAX_BYTES, MAX_DEPTH

MODEL = "model: m\nquantities:\n  a: {unit: GB, value: 1, source: x}\n  b: {unit: GB, formula: a * 2}\n"


@pytest.mark.slow
def test_bytes() -> None:
    comment = "# " + "x" * (MAX_BYTES - len(MODEL) - 3) + "\n"
    assert run_text(MODEL + comment).codes == []
    assert run_text(MODEL + comment + "\n").codes == ["CG111"]


def test_keys_and_values(monkeypatch: pytest.MonkeyPatch) -> None:
    text = MODEL + f"key_figures: [{', '.join(['a'] * 100)}]\n"
    assert run_text(text).codes == []
    monkeypatch.setattr("capgraph.yamltree.MAX_NODES", 100)
    assert run_text(text).codes == ["CG111"]
    assert "more than 100 keys and values" in run_text(text).only.message


def included(number: int, tmp_path: Path) -> list[str]:
    """Compile a model of so many files."""
    names = [f"f{place}.yaml" for place in range(number - 1)]
    for name in names:
        (tmp_path / name).write_text("section: A\n")
    (tmp_path / "model.yaml").write_text(MODEL + f"include: [{', '.join(names)}]\n")
    return run_path(tmp_path / "model.yaml").codes


def test_files(tmp_path: Path) -> None:
    assert included(MAX_FILES, tmp_path) == []
    assert included(MAX_FILES + 1, tmp_path) == ["CG117"]
    assert included(MAX_FILES + 50, tmp_path) == ["CG117"]


def test_a_long_line_of_parents(tmp_path: Path) -> None:
    (tmp_path / "p0.yaml").write_text(MODEL)
    for number in range(1, MAX_FILES + 1):
        (tmp_path / f"p{number}.yaml").write_text(f"extends: p{number - 1}.yaml\nplan: p{number}\n")
    assert run_path(tmp_path / f"p{MAX_FILES - 1}.yaml").codes == []
    assert run_path(tmp_path / f"p{MAX_FILES}.yaml").codes == ["CG117"]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 1_000, 100_000])
def test_nesting(opening: str, depth: int) -> None:
    closing = {"[": "]", "{a: ": "}"}.get(opening, "")
    start = "\n  " if opening == "- " else ""
    assert run_text(f"{MODEL}title: {start}{opening * depth}x{closing * depth}\n").codes == ["CG106"]


def test_aliases() -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
    found = run_text(MODEL + "\n".join(lines)).found
    assert "CG105" in [item.code for item in found]
    assert str(MAX_ALIASED_NODES) in next(item.message for item in found if item.code == "CG105")


@pytest.mark.parametrize(
    ("points", "codes"), [(MAX_POINTS, []), (MAX_POINTS + 1, ["CG311"]), (10**9, ["CG311"])]
)
def test_points_of_a_sweep(points: int, codes: list[str]) -> None:
    sweep = f"sweeps: {{s: {{over: a, from: 1, to: 100000, points: {points}, shows: [b]}}}}\n"
    run = run_text(MODEL + "  c: {unit: GB, formula: sum(b over s)}\n" + sweep)
    assert [item.code for item in run.found if item.severity == "error"] == codes


def build(tmp_path: Path, text: str, only: str) -> Result:
    """Build reports of a model."""
    (tmp_path / "model.yaml").write_text(text)
    return CliRunner().invoke(
        app, ["build", str(tmp_path / "model.yaml"), "--only", only, "-o", str(tmp_path / "out")]
    )


def with_scenarios(number: int) -> str:
    """Return a small model of many scenarios."""
    return (
        MODEL
        + "scenarios:\n"
        + "".join(f"  s{place}: {{set: {{a: {place + 1}}}}}\n" for place in range(number))
    )


@pytest.mark.parametrize("only", ["xlsx", "pdf", "html", "xlsx,json"])
def test_more_scenarios_than_a_workbook_has_room_for(only: str, tmp_path: Path) -> None:
    made = build(tmp_path, with_scenarios(MAX_SCENARIOS + 1), only)
    assert made.exit_code == 2
    assert "error[CG704]: the model has 1,001 scenarios; a report has room for 1,000" in made.stderr
    assert not (tmp_path / "out").exists()


def test_a_program_gets_any_number_of_scenarios(tmp_path: Path) -> None:
    assert build(tmp_path, with_scenarios(MAX_SCENARIOS + 1), "json").exit_code == 0


@pytest.mark.slow
def test_as_many_scenarios_as_a_workbook_has_room_for(tmp_path: Path) -> None:
    assert build(tmp_path, with_scenarios(MAX_SCENARIOS), "xlsx").exit_code == 0


def test_more_values_than_a_report_has_room_for(tmp_path: Path) -> None:
    scenarios = 30
    made = build(tmp_path, large_model(MAX_VALUES // scenarios + 10, scenarios), "xlsx")
    assert made.exit_code == 2
    assert f"values; a report has room for {MAX_VALUES:,}" in made.stderr


@pytest.mark.slow
def test_two_thousand_quantities_in_thirty_scenarios_make_a_workbook(tmp_path: Path) -> None:
    made = build(tmp_path, large_model(2_000, 30), "xlsx")
    assert made.exit_code == 0, made.stderr
    assert (tmp_path / "out" / "large.xlsx").stat().st_size > 500_000
