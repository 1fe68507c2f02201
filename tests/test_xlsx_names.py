"""Defined names and sheet titles: what an id becomes, so that no spreadsheet reads it as something else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook
from openpyxl.workbook.defined_name import DefinedName
from oracles import formualizer, libreoffice
from oracles.ironcalc import Calculation

from capgraph.emit.xlsx.names import LONGEST, allot_names, quoted, safe_name, sheet_titles

CELL_LIKE = (
    "a100",
    "H100",
    "tp8",
    "TP8",
    "kv1",
    "fp8",
    "int8",
    "hbm3",
    "co2",
    "q1",
    "fy26",
    "p50",
    "nvl72",
    "log10",
)
ROW_COLUMN_LIKE = ("r", "C", "rc", "RC", "r1c1", "R2C", "r5", "c7", "rc3")
RESERVED = ("true", "FALSE", "print_area", "Print_Titles", "database", "criteria", "auto_open", "_xlnm")
SAFE = (
    "kv_per_token",
    "gpu.memory",
    "check.weights_fit",
    "rule.1",
    "größe",
    "rate",
    "sum",
    "row",
    "r1c1x",
    "abcd1",
)


@pytest.mark.parametrize("spelling", [*CELL_LIKE, *ROW_COLUMN_LIKE, *RESERVED])
def test_a_name_that_reads_as_something_else_gets_a_tail(spelling: str) -> None:
    assert safe_name(spelling) == f"{spelling}_"


@pytest.mark.parametrize("spelling", SAFE)
def test_a_safe_name_keeps_its_spelling(spelling: str) -> None:
    assert safe_name(spelling) == spelling


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("h100.memory", "h100_.memory"),
        ("fleet-4xh100/fp8", "fleet_4xh100_fp8"),
        ("a b", "a_b"),
        ("2nd", "_2nd"),
        (".x", "_.x"),
        ("", "_"),
        ("ok\x00", "ok_"),
    ],
)
def test_what_no_name_may_hold_is_replaced(spelling: str, name: str) -> None:
    assert safe_name(spelling) == name


def test_names_differ_by_more_than_case_and_earlier_ones_choose_first() -> None:
    wanted = ("tp8", "TP8", "tp8_", "x", "X", "x_", "x.y")
    assert allot_names((key, key) for key in wanted) == {
        "tp8": "tp8_", "TP8": "TP8__", "tp8_": "tp8__2", "x": "x", "X": "X_", "x_": "x__", "x.y": "x.y",
    }  # fmt: skip


def test_a_long_name_stays_within_what_spreadsheets_take() -> None:
    names = allot_names((number, "n" * 300) for number in range(3))
    assert len({name.casefold() for name in names.values()}) == 3
    assert all(len(name) <= LONGEST for name in names.values())


@given(st.lists(st.text(max_size=300), max_size=30))
def test_any_ids_become_different_legal_names(spellings: list[str]) -> None:
    names = tuple(allot_names(enumerate(spellings)).values())
    assert len({name.casefold() for name in names}) == len(spellings)
    for name in names:
        assert re.fullmatch(r"[^\W\d][\w.]{0,254}", name)
        assert not re.fullmatch(r"[A-Za-z]{1,3}\d+|[Rr]\d*|[Cc]\d*|[Rr]\d*[Cc]\d*", name)


NAMED = (*CELL_LIKE, *ROW_COLUMN_LIKE, *RESERVED, *SAFE, "h100.memory", "Model", "model.x", "xfd1", "xfe1")


def named_workbook(path: Path) -> Path:
    """Write a workbook that gives each cell of column B a name and reads it by that name in column A."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "model"
    for row, name in enumerate(allot_names((name, name) for name in NAMED).values(), 1):
        sheet.cell(row, 2, float(row))
        sheet.cell(row, 1, f"=2*{name}")
        book.defined_names[name] = DefinedName(name, attr_text=f"{quoted('model')}!$B${row}")
    book.save(path)
    return path


def test_engines_read_every_name_as_a_name(tmp_path: Path) -> None:
    path = named_workbook(tmp_path / "names.xlsx")
    calculation = Calculation(path)
    wanted = {"model": {f"A{row}": 2.0 * row for row in range(1, len(NAMED) + 1)}}
    assert calculation.values(wanted) == wanted
    assert formualizer.calculated(path, wanted) == wanted


@pytest.mark.office
def test_libreoffice_reads_every_name_as_a_name(tmp_path: Path) -> None:
    (cells,) = libreoffice.recalculated([named_workbook(tmp_path / "names.xlsx")])
    assert [cells["model"][f"A{row}"] for row in range(1, len(NAMED) + 1)] == [
        2.0 * row for row in range(1, len(NAMED) + 1)
    ]


def test_sheet_titles_are_short_legal_and_different() -> None:
    wanted = ("gpus", "Model", "a/b[c]:d*e?f\\g", "x" * 40, "x" * 41, "History", "'quoted'", "", "GPUS")
    titles = sheet_titles(wanted, ("Model",))
    assert titles == (
        "gpus", "Model_2", "a_b_c__d_e_f_g", "x" * 31, "x" * 29 + "_2", "History_2", "quoted", "_", "GPUS_2",
    )  # fmt: skip


def test_a_sheet_title_is_always_quoted() -> None:
    assert quoted("Bob's 1") == "'Bob''s 1'"
