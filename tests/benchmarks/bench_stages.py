"""Times of `check` and `build` on the flagship, each stage's share, and the floor under each.

Run by `make bench`; nothing here asserts wall time. The floor is what the libraries cost on the same work: imports,
WeasyPrint on the same HTML, openpyxl on the same cells. Ratios compare within one run, since machines drift.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from statistics import median

import openpyxl
import pytest

FLAGSHIP = "llm-serving"
CHECK_IMPORTS = "import typer, yaml, pydantic.main, numpy, pint, networkx"
BUILD_IMPORTS = f"{CHECK_IMPORTS}, openpyxl, jinja2.sandbox, weasyprint"


def _seconds(work: Callable[[], object], runs: int = 3) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)


def _process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)


def _row(what: str, seconds: float, floor: float | None = None) -> None:
    ratio = f"   {seconds / floor:5.2f} x the floor of {floor:.2f} s" if floor else ""
    print(f"  {what:<34} {seconds:6.2f} s{ratio}")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The flagship's reports, and what `build` printed, in one folder."""
    folder = tmp_path_factory.mktemp("reports")
    printed = _process("-m", "capgraph", "build", FLAGSHIP, "-o", str(folder)).stdout
    (folder / "printed.txt").write_text(printed)
    return folder


def test_check_against_the_imports_it_needs() -> None:
    floor = _seconds(lambda: _process("-c", CHECK_IMPORTS), 5)
    print(f"\ncapgraph check {FLAGSHIP}")
    _row("whole process", _seconds(lambda: _process("-m", "capgraph", "check", FLAGSHIP), 5), floor)


def test_build_stage_by_stage(built: Path) -> None:
    whole = _seconds(lambda: _process("-m", "capgraph", "build", FLAGSHIP, "-o", str(built)), 3)
    print(f"\ncapgraph build {FLAGSHIP}")
    _row("whole process", whole, _seconds(lambda: _process("-c", BUILD_IMPORTS)))
    print("  " + (built / "printed.txt").read_text().strip().splitlines()[-1])


def test_memo_against_weasyprint_on_the_same_html(built: Path) -> None:
    script = (
        "import sys, time, weasyprint; html = open(sys.argv[1], encoding='utf-8').read(); start = time.perf_counter();"
        "weasyprint.HTML(string=html).write_pdf(); print(time.perf_counter() - start)"
    )
    floor = median(float(_process("-c", script, str(built / f"{FLAGSHIP}.html")).stdout) for _ in range(3))
    stages = (built / "printed.txt").read_text().rsplit("\n", 2)[-2]
    memo = float(stages.split("memo (PDF) ")[1].split(" s")[0])
    print("\nmemo (PDF)")
    _row("its stage, imports and charts too", memo, floor)


def test_workbook_against_openpyxl_on_the_same_cells(built: Path) -> None:
    source = openpyxl.load_workbook(built / f"{FLAGSHIP}.xlsx")
    cells = {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in source}

    def plain() -> None:
        book = openpyxl.Workbook()
        for title, rows in cells.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        book.save(BytesIO())

    stages = (built / "printed.txt").read_text().rsplit("\n", 2)[-2]
    workbook = float(stages.split("workbook ")[1].split(" s")[0])
    print(f"\nworkbook: {sum(len(rows) for rows in cells.values())} rows")
    _row("its stage, imports and styles too", workbook, _seconds(plain))
