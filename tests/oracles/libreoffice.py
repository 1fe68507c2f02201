"""LibreOffice, made to calculate: files in → their cells, calculated from the formulas alone.

Left alone it trusts the cached values, and a comparison would compare our numbers with themselves; the
profile made here sets recalculation on load to always. It exits with 0 on a broken input, so the output is
looked for.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from oracles.cells import Cell, stored

_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""


def recalculated(paths: Sequence[Path]) -> list[dict[str, dict[str, Cell]]]:
    """Return the cells of each file after LibreOffice has calculated it; all in one start."""
    with tempfile.TemporaryDirectory() as folder:
        written = convert(paths, "xlsx", Path(folder))
        return [stored(path) for path in written]


def convert(paths: Sequence[Path], kind: str, folder: Path) -> list[Path]:
    """Write each file anew as `xlsx` or `pdf` into a folder. File names must differ."""
    profile, output = folder / "profile", folder / "output"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_PROFILE)
    command = ["soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless", "--convert-to", kind]
    subprocess.run(
        [*command, "--outdir", str(output), *map(str, paths)], check=True, capture_output=True, timeout=300
    )
    written = [output / f"{path.stem}.{kind}" for path in paths]
    missing = [path.name for path in written if not path.exists()]
    assert not missing, f"LibreOffice wrote no {missing}"
    return written
