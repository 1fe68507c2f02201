"""What is installed and whether it works: nothing in → one `Finding` a thing that building a report needs.

Invariant: each thing is tried as a build uses it, not looked up; nothing is written or changed.
"""

from __future__ import annotations

import contextlib
import io
import os
import platform
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import capgraph

DISTRIBUTION = "capgraph"
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*([^;]*)")
_LIBRARIES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing: what was found, and how to get right what is not; without `optional`, a failure stops builds."""

    name: str
    works: bool
    told: str
    way_out: str = ""
    optional: bool = False

    @property
    def stops(self) -> bool:
        """Say whether a build would fail."""
        return not self.works and not self.optional


def examine() -> Iterator[Finding]:
    """Yield one finding after the other, the slow ones last."""
    yield _python()
    yield Finding(DISTRIBUTION, True, f"{capgraph.__version__}, in {Path(capgraph.__file__).parent}")
    yield from map(library, requirements())
    yield _tried("fonts", _fonts)
    yield _templates()
    yield writable(Path("reports"))
    yield _tried("models", _models)
    yield _tried("Pango", _pages)
    yield _office()


def _tried(name: str, check: Callable[[], Finding]) -> Finding:
    """Try one thing; one that cannot even be tried for want of a library does not work."""
    try:
        return check()
    except ImportError as error:
        return Finding(name, False, f"cannot be tried: {error}", "get the libraries right first")


def _python() -> Finding:
    works = sys.version_info >= (3, 11)
    return Finding("Python", works, platform.python_version(), "install Python 3.11 or newer")


def requirements() -> tuple[str, ...]:
    """Return what capgraph needs, as its own package says: `networkx>=3.4`."""
    try:
        found = metadata.requires(DISTRIBUTION) or []
        return tuple(item for item in found if "extra ==" not in item)
    except metadata.PackageNotFoundError:
        # A checkout that is run where it lies.
        project = Path(capgraph.__file__).parents[1] / "pyproject.toml"
        return tuple(tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"])


def library(requirement: str) -> Finding:
    """Say whether a library is installed in a version that will do."""
    parts = _REQUIREMENT.match(requirement)
    assert parts is not None
    name, bounds = parts[1], parts[2].strip().strip("()")
    way_out = f'{sys.executable} -m pip install "{name}{bounds}"'
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, False, f"is not installed; needed is {bounds}", way_out)
    works = all(_fits(version, bound.strip()) for bound in bounds.split(",") if bound.strip())
    return Finding(name, works, version if works else f"{version}; needed is {bounds}", way_out)


def _fits(version: str, bound: str) -> bool:
    least, most = bound.removeprefix(">="), bound.removeprefix("<")
    if least != bound:
        return _numbers(version) >= _numbers(least)
    return most == bound or _numbers(version) < _numbers(most)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.match(r"[\d.]*", version)[0].strip(".").split(".") if part)  # type: ignore[index]


def _fonts() -> Finding:
    from capgraph.emit.fonts import font_faces

    missing = [face.path.name for face in font_faces() if not face.path.is_file()]
    told = (
        f"{', '.join(missing)} missing"
        if missing
        else f"{len(font_faces())} files, none of the machine's own"
    )
    return Finding("fonts", not missing, told, "install font-source-sans-pro and python-barcode again with pip")


def _templates() -> Finding:
    from capgraph.resources import templates_root

    count = sum(file.is_file() for file in templates_root().rglob("*.j2"))
    return Finding("templates", count > 0, f"{count} in {templates_root()}", "install capgraph again")


def writable(folder: Path) -> Finding:
    """Say whether reports can be written to a folder that may have to be made first."""
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    way_out = "make it writable, or build with -o DIR"
    if not nearest.is_dir():
        return Finding("reports", False, f"{folder.absolute()} is a file", "move it, or build with -o DIR")
    try:
        with tempfile.TemporaryFile(dir=nearest):
            state = "can be written" if nearest == folder else "can be made"
            return Finding("reports", True, f"{folder.absolute()} {state}")
    except OSError as error:
        return Finding("reports", False, f"{nearest} cannot be written: {error.strerror}", way_out)


def _models() -> Finding:
    from capgraph.compiler import compile_model
    from capgraph.join import shipped_models
    from capgraph.resources import models_root

    names = shipped_models()
    broken = [name for name in names if compile_model(models_root() / name / "model.yaml").plan is None]
    told = f"{', '.join(names) or 'none'} in {models_root()}"
    if broken:
        told = f"{', '.join(broken)} does not compile"
    return Finding(
        "models", bool(names) and not broken, told, f"capgraph check {broken[0] if broken else ''}".strip()
    )


def _pages() -> Finding:
    """Lay out a page as the memo does, which loads Pango, HarfBuzz and Fontconfig."""
    try:
        # What it cannot load it says on standard output, at length.
        with contextlib.redirect_stdout(io.StringIO()):
            import weasyprint
        page = weasyprint.HTML(string="<p>capgraph</p>").write_pdf()
    except OSError as error:
        told = f"pages cannot be laid out: {str(error).partition(': ')[0]}"
        return Finding("Pango", False, told, _pango_way_out())
    assert page is not None
    return Finding("Pango", page.startswith(b"%PDF"), "lays out pages", _pango_way_out())


def _pango_way_out() -> str:
    if sys.platform == "darwin":
        return "brew install pango"
    if shutil.which("apt-get"):
        return f"sudo apt-get install --no-install-recommends {_LIBRARIES}"
    return f"install with this system's package manager (Debian's names): {_LIBRARIES}"


def _office() -> Finding:
    path = shutil.which("soffice")
    told = path or "not found; only the tests need it, to calculate workbooks a second time"
    return Finding("LibreOffice", path is not None, os.fspath(told), optional=True)
