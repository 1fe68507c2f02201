"""`capgraph diagnose`: what a person reads, what a program reads, and with which exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from compiling import inside
from test_analysis_diagnosis import FITTED, FLEET, SUSPECTS
from typer.testing import CliRunner, Result

from capgraph.cli.main import app


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plan.yaml").write_text(FLEET + SUSPECTS)
    (tmp_path / "fitted.yaml").write_text(FITTED)
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    with inside(folder):
        return CliRunner().invoke(app, ["diagnose", *arguments])


def test_a_person_reads_what_why_and_where_to_look(folder: Path) -> None:
    result = run(folder, "throughput=290")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "fleet, base:"
    assert lines[1] == "  Throughput  [throughput]: 290 1/s measured, 28% below the 400 of the model"
    assert lines[lines.index("  1. The processors ran hot  [hot]") + 1 :][:3] == [
        "     rate 100 → 72.5 1/s, within 50 to 100 1/s",
        "     why: They slow down.",
        "     check: The clock rate.",
    ]
    assert "     checked = yes" in lines
    assert "     leads to 296 1/s" in lines
    assert any(
        line.startswith("     checked = yes, overhead 0 → 0.000207 s, within 0 to 0.005 s") for line in lines
    )
    assert "     4 → 2.9, no range is stated" in lines


def test_the_command_at_the_end_gives_the_measurement(folder: Path) -> None:
    printed = run(folder, "throughput=290").stdout.splitlines()[-1]
    command = re.sub(r"^Try the first: capgraph ", "", printed).split()
    with inside(folder):
        told = CliRunner().invoke(app, command).stdout
    assert told.startswith("throughput in base: 290 1/s")


def test_what_agrees_is_no_error(folder: Path) -> None:
    result = run(folder, "throughput=410")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "The model agrees within 5%" in result.stdout
    assert "The model agrees" not in run(folder, "throughput=410", "--within", "0.01").stdout


def test_what_nothing_explains_is_a_warning_with_the_nearest(folder: Path) -> None:
    result = run(folder, "throughput=90000")
    assert result.exit_code == 0
    assert "warning[CG832]" in result.stderr
    assert "What does not explain it alone" in result.stdout
    assert re.search(r"\[servers\]: 4 → 40 leads to 4,000 1/s", result.stdout)


def test_what_is_known_of_the_run_is_left_alone(folder: Path) -> None:
    result = run(folder, "plan.yaml", "throughput=290", "--set", "rate=95", "--set", "checked=false")
    assert "the 380 of the model" in result.stdout
    assert "[rate]" not in result.stdout
    assert "--set rate=95 --set checked=false --set" in result.stdout


def test_a_field_of_a_row_is_no_setting(folder: Path) -> None:
    result = run(folder, "fitted.yaml", "y=1.3")
    assert result.exit_code == 0
    assert "[kind.share]" in result.stdout
    assert "Try the first" not in result.stdout


def test_a_program_reads_all_of_it(folder: Path) -> None:
    told = json.loads(run(folder, "throughput=290", "--json").stdout)
    assert told["quantities"] == {"throughput": {"unit": "1/s", "measured": 290, "predicted": 400}}
    assert (told["model"], told["scenario"], told["within"], told["fits"]) == ("fleet", "base", 0.05, False)
    first = told["explanations"][0]
    assert first["needed"] == pytest.approx(72.5)
    assert {key: first[key] for key in ("cause", "declared", "quantity", "unit", "now", "range", "plausible")} == {
        "cause": "hot", "declared": True, "quantity": "rate", "unit": "1/s", "now": 100, "range": [50, 100],
        "plausible": True,
    }  # fmt: skip
    assert [item["cause"] for item in told["explanations"]][:3] == ["hot", "checks", "rest"]
    assert told["explanations"][1]["set"] == {"checked": True}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing", "throughput=3"], "CG115", "no file, folder or shipped model called `missing`"),
        (["throughputt=3"], "CG304", "unknown quantity `throughputt` (did you mean `throughput`?)"),
        (["throughput=three"], "CG207", "`three` is not a number"),
        (["throughput=3 GB"], "CG502", ""),
        (["throughput=-3"], "CG830", "needs a number above zero"),
        (["throughput=3", "--scenario", "x"], "CG802", "unknown scenario `x`"),
        (["throughput=3", "--within", "200%"], "CG801", "`200%` is no share"),
    ],
)
def test_wrong_use_is_told(folder: Path, arguments: list[str], code: str, message: str) -> None:
    result = run(folder, *arguments)
    assert result.exit_code == 2
    assert f"[{code}]" in result.stderr
    assert message in result.stderr
