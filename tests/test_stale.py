"""A fit whose data have changed is told; one whose data are as they were, or not there, is not."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from capgraph.compiler import compile_model

DATA = "batch,measured.step [ms]\n16,12.9\n"
MODEL = """
quantities:
  read: {{value: 11, unit: ms, source: a fit}}
  batch: {{value: 16, unit: count, source: load test}}
  add: {{value: 0.11, unit: ms/count, source: load test}}
  step: {{unit: ms, formula: read + batch * add}}
fits:
  step:
    {{of: step, parameters: {{read: [10, 12]}}, rows: 40, error: 6%, date: 2026-11-20, data: speed.csv,
     sha256: {digest}}}
"""


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (DATA.encode(), []),
        (DATA.replace("\n", "\r\n").encode(), []),
        (DATA.encode("utf-8-sig"), []),
        (DATA.replace("12.9", "12.8").encode(), ["CG227"]),
        (b"\xff\xfe", ["CG227"]),
        (None, []),
    ],
)
def test_a_fit_is_stale_when_its_data_say_something_else(
    data: bytes | None, codes: list[str], tmp_path: Path
) -> None:
    (tmp_path / "model.yaml").write_text(MODEL.format(digest=sha256(DATA.encode()).hexdigest()))
    if data is not None:
        (tmp_path / "speed.csv").write_bytes(data)
    compiled = compile_model(tmp_path / "model.yaml")
    assert compiled.plan is not None
    assert [item.code for item in compiled.diagnostics] == codes
