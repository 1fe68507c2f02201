"""The README is run: its files are written, its commands typed, its output compared."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest
from typer.testing import CliRunner

from capgraph.cli.main import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
BLOCK = re.compile(r"^```(yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHANGING = re.compile(r"\d+(?:\.\d+)? s\b|\([\d,]+ KiB\)")


def _blocks(kind: str) -> Iterator[str]:
    return (body for found, body in BLOCK.findall(README) if found == kind)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new folder with the README's files in it."""
    made = tmp_path_factory.mktemp("newcomer")
    for body in _blocks("yaml"):
        name = body.splitlines()[0].removeprefix("# ")
        (made / name).write_text(body, "utf-8")
    return made


def _commands() -> Iterator[tuple[str, str]]:
    for body in _blocks("console"):
        first, _, output = body.partition("\n")
        yield first.removeprefix("$ "), output


def _typed(command: str) -> str:
    """Return what a command of the README stands for: `make report` builds the flagship."""
    return "capgraph build" if command == "make report" else command


def _same(text: str) -> list[str]:
    return [CHANGING.sub("…", line.rstrip()) for line in text.strip().splitlines()]


@pytest.mark.parametrize(("command", "expected"), [pytest.param(*pair, id=pair[0]) for pair in _commands()])
def test_command_prints_what_the_readme_shows(
    command: str, expected: str, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # `make report` runs in the checkout, where no plan.yaml lies; the other commands run beside the README's files.
    monkeypatch.chdir(tmp_path if command == "make report" else folder)
    program, *arguments = shlex.split(_typed(command))
    assert program == "capgraph"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == (1 if "wrong" in command else 0), result.output
    if expected:
        assert _same(result.output) == _same(expected)
    else:
        assert result.stdout.strip()


def test_make_report_is_the_build_of_the_flagship() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "MODEL ?= llm-serving" in makefile
    assert "/capgraph build $(MODEL)" in makefile


def test_row_in_the_workbook(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert CliRunner().invoke(app, ["build", "archive.yaml", "--only", "xlsx"]).exit_code == 0
    path = folder / "reports" / "photo-archive" / "photo-archive.xlsx"
    formulas, values = openpyxl.load_workbook(path)["Model"], openpyxl.load_workbook(path, data_only=True)["Model"]
    shown = re.search(r"^\| (Cost) \| (\S+) \| (\S+) \| `(.+)` \|$", README, re.MULTILINE)
    assert shown
    label, unit, number, formula = shown.groups()
    row = next(row for row in formulas.iter_rows() if any(cell.value == label for cell in row))
    cells = {cell.value: cell.coordinate for cell in row}
    assert {unit, formula} <= set(cells)
    assert f"{values[cells[formula]].value:,.0f}" == number


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
