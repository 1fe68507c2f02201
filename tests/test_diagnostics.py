"""Wrong models and what is said of them: a file is a test.

`cases/CG###-what.yaml`, or a folder of that name with a `model.yaml` or a `command`, holds one mistake; beside it
stands the text that a person reads. `UPDATE_APPROVED=1 pytest tests/test_diagnostics.py` rewrites the texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from approving import approve
from compiling import inside
from typer.testing import CliRunner

from capgraph.cli.main import app
from capgraph.cli.show import concise_text, full_text
from capgraph.diagnostics import (
    Diagnostic,
    Source,
    Span,
    did_you_mean,
    has_errors,
    known_names,
    sort_diagnostics,
)
from capgraph.join import MAX_FILES
from capgraph.yamltree import MAX_BYTES

CASES = Path(__file__).parent / "cases"
NAMES = sorted({path.stem if path.is_file() else path.name for path in CASES.iterdir()})


def _write_large(folder: Path) -> None:
    with (folder / "model.yaml").open("wb") as file:
        file.truncate(MAX_BYTES + 1)


def _write_many(folder: Path) -> None:
    names = [f"part-{number}.yaml" for number in range(MAX_FILES)]
    for name in names:
        (folder / name).write_text("section: Part\n")
    (folder / "model.yaml").write_text("include:\n" + "".join(f"  - {name}\n" for name in names))


def _write_large_data(folder: Path) -> None:
    (folder / "model.yaml").write_text("quantities:\n  x: {unit: count, formula: 1 + 1}\n")
    (folder / "command").write_text("backtest model.yaml log.txt\n")
    with (folder / "log.txt").open("wb") as file:
        file.truncate(MAX_BYTES + 1)


# Mistakes that are too large to lie in a folder.
WRITTEN: dict[str, Callable[[Path], None]] = {
    "CG111-too-large": _write_large,
    "CG117-too-many-files": _write_many,
    "CG851-too-large": _write_large_data,
}


# A library that is missing: tests/test_cli.py. A model of a thousand scenarios: tests/test_bounds.py.
ELSEWHERE = {"CG703", "CG704"}


def said(folder: Path, *arguments: str) -> str:
    """Run a command where the case lies, and return what it says on standard error."""
    with inside(folder):
        result = CliRunner().invoke(app, ["--format", "full", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.stderr


def judge(name: str, text: str) -> None:
    """A case is one message, of the code that it is named for, and says a way out."""
    assert re.findall(r"^(?:error|warning)\[(CG\d{3})\]", text, re.MULTILINE) == [name[:5]]
    assert "= help: " in text
    approve(f"{name}.txt", text.rstrip() + "\n", CASES)


def said_in(folder: Path) -> str:
    """Run what a case asks for in its folder: its command, or a check of its model."""
    command = folder / "command"
    return said(folder, *(command.read_text().split() if command.is_file() else ("check", "model.yaml")))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WRITTEN])
def test_a_mistake_is_one_message_that_a_person_has_read(name: str) -> None:
    folder = CASES / name
    judge(name, said_in(folder) if folder.is_dir() else said(CASES, "check", f"{name}.yaml"))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_mistake_of_size_is_one_message_that_a_person_has_read(name: str, tmp_path: Path) -> None:
    WRITTEN[name](tmp_path)
    judge(name, said_in(tmp_path))


def test_every_code_has_a_case() -> None:
    source = Path(__file__).parents[1] / "capgraph"
    codes = {code for file in source.rglob("*.py") for code in re.findall(r'"(CG\d{3})"', file.read_text())}
    assert len(codes) > 60
    assert codes - ELSEWHERE == {name[:5] for name in (*NAMES, *WRITTEN)}


def span(
    line: int, column: int, end_column: int, name: str = "a.yaml", text: str = "one\ntwo\nthree"
) -> Span:
    return Span(Source(name, text, f"somewhere/{name}"), line, column, line, end_column)


def test_diagnostics_are_sorted_by_file_and_place_each_once() -> None:
    late, early, other = (
        Diagnostic("CG1", "m", span(*place)) for place in ((3, 1, 2), (1, 2, 3), (1, 1, 2, "b.yaml"))
    )
    nowhere = Diagnostic("CG2", "m")
    assert sort_diagnostics((other, late, early, late, nowhere)) == (nowhere, early, late, other)


def test_only_an_error_is_an_error() -> None:
    warning = Diagnostic("CG1", "m", severity="warning")
    assert not has_errors([warning])
    assert has_errors([warning, Diagnostic("CG1", "m")])


@pytest.mark.parametrize(
    ("name", "legal", "answer"),
    [
        ("hbm_bandwith", ("hbm_bandwidth", "bandwidth"), "did you mean `hbm_bandwidth`?"),
        ("Users", ("users", "uses"), "did you mean `users`?"),
        ("xyz", ("users", "size"), ""),
        ("a", (), ""),
    ],
)
def test_a_near_name_is_offered(name: str, legal: tuple[str, ...], answer: str) -> None:
    assert did_you_mean(name, legal) == answer


def test_a_long_list_of_names_is_cut() -> None:
    assert known_names(("b", "a")) == "`a`, `b`"
    assert known_names(map(str, range(12))).endswith("and 4 more")


def shown(text: str, first: int, last: int, message: str = "m", help_text: str = "h") -> list[str]:
    """Return the lines of a diagnostic at characters `first`..`last` of a one-line text."""
    return full_text(
        Diagnostic("CG1", message, span(1, first + 1, last + 1, text=text), help_text)
    ).splitlines()


@pytest.mark.parametrize(
    ("text", "what", "line", "caret"),
    [
        ("a + bb * c", "bb", "1 | a + bb * c", "  |     ^^"),
        ("größe + bb", "bb", "1 | größe + bb", "  |         ^^"),
        ("容量 + 内存", "内存", "1 | 容量 + 内存", "  |        ^^^^"),
        ("a\t+ bb", "bb", "1 | a + bb", "  |     ^^"),
        ("a\x1b[31m bb", "bb", "1 | a\ufffd[31m bb", "  |        ^^"),
        ("a \u202ebb", "bb", "1 | a \ufffdbb", "  |    ^^"),
    ],
)
def test_the_caret_stands_under_what_it_points_at(text: str, what: str, line: str, caret: str) -> None:
    first = text.index(what)
    lines = shown(text, first, first + len(what))
    assert (lines[3], lines[4]) == (line, caret)


@pytest.mark.parametrize("before", [0, 30, 500, 100_000])
@pytest.mark.parametrize("behind", [0, 30, 500])
def test_a_long_line_is_cut_around_the_caret(before: int, behind: int) -> None:
    text = "x" * before + "HERE" + "y" * behind
    lines = shown(text, before, before + 4)
    assert max(map(len, lines)) <= 140
    place = lines[4].index("^")
    assert lines[3][place : place + 4] == "HERE"
    assert lines[4].count("^") == 4


def test_what_spans_lines_is_marked_to_the_end_of_the_first() -> None:
    source = Source("a.yaml", "key: |\n  one\n  two\n")
    text = full_text(Diagnostic("CG1", "m", Span(source, 1, 6, 3, 6)))
    assert text.splitlines()[3:5] == ["1 | key: |", "  |      ^"]


def test_a_message_is_one_line_and_steers_no_terminal() -> None:
    item = Diagnostic("CG1", "`a\nb\x1b[2J` is wrong", span(1, 1, 2), "write\n`b`")
    assert concise_text(item) == "somewhere/a.yaml:1:1: error[CG1]: `a b\ufffd[2J` is wrong (write `b`)"
    assert len(concise_text(Diagnostic("CG1", "x" * 10_000))) < 500
    assert "\x1b" not in full_text(item)
