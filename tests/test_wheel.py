"""The wheel stands alone: built, installed in a new environment, used away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

import capgraph

ROOT = Path(__file__).resolve().parents[1]

MAGIC = {".xlsx": b"PK\x03\x04", ".pdf": b"%PDF-", ".html": b"<!DOCTYPE html>"}

pytestmark = pytest.mark.slow


@dataclass(frozen=True, slots=True)
class Installation:
    """A wheel, and an environment whose capgraph comes from it; its libraries are the running one's."""

    wheel: Path
    python: Path
    elsewhere: Path

    def run(self, *command: str) -> str:
        """Run a program of the environment in a folder that is not the checkout; return what it printed."""
        program = str(self.python.parent / command[0])
        return _run(program, *command[1:], cwd=self.elsewhere)


def _run(*command: str, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", str(python))
    _run(*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel), cwd=folder)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    # A folder that a .pth file names is searched, but its own .pth files are not read: so an editable
    # capgraph in this environment stays out of sight.
    libraries = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    (site / "libraries.pth").write_text("\n".join(libraries) + "\n")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    return Installation(wheel, python, elsewhere)


def test_the_wheel_carries_models_templates_and_types(installation: Installation) -> None:
    with ZipFile(installation.wheel) as archive:
        names = set(archive.namelist())
    shipped = {
        f"capgraph/_data/{file.relative_to(ROOT).as_posix()}"
        for folder in ("models", "templates")
        for file in (ROOT / folder).rglob("*")
        if file.is_file()
    }
    assert shipped - names == set()
    assert {"capgraph/py.typed", "capgraph/units.txt"} <= names
    folders = {name.partition("/")[0] for name in names}
    assert folders == {"capgraph", f"capgraph-{capgraph.__version__}.dist-info"}


def test_the_installed_package_is_the_wheels(installation: Installation) -> None:
    program = "from capgraph import resources as r; print(r.__file__, r.models_root(), r.templates_root())"
    site = installation.python.parents[1]
    for path in installation.run("python", "-c", program).split():
        assert Path(path).is_relative_to(site)
        assert Path(path).exists()


def test_the_installed_command_builds_the_flagship(installation: Installation, tmp_path: Path) -> None:
    installation.run("capgraph", "build", "llm-serving", "-o", str(tmp_path))
    for suffix, magic in MAGIC.items():
        (report,) = tmp_path.rglob(f"*{suffix}")
        assert report.read_bytes()[: len(magic)].lower() == magic.lower()
