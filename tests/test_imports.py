"""Which module may import which: read from the source, so that a lazy import counts too.

`LAYERS` is the rule, lowest first: a module imports its own layer and those below, never one above, and no
two modules import each other in a ring. A new module gets a line here before it is written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

LAYERS: tuple[tuple[str, ...], ...] = (
    ("capgraph", "capgraph.diagnostics", "capgraph.resources", "capgraph.units", "capgraph.yamltree"),
    ("capgraph.formula", "capgraph.formula.*"),
    ("capgraph.declarations", "capgraph.decode", "capgraph.lay", "capgraph.join"),
    (
        "capgraph.model",
        "capgraph.resolve",
        "capgraph.resolve.*",
        "capgraph.graph",
        "capgraph.advise",
        "capgraph.check",
        "capgraph.elaborate",
        "capgraph.plan",
        "capgraph.lower",
    ),
    (
        "capgraph.expression",
        "capgraph.calculate",
        "capgraph.evaluate",
        "capgraph.results",
        "capgraph.findings",
        "capgraph.notation",
        "capgraph.message",
    ),
    ("capgraph.measurement", "capgraph.measurement.*"),
    ("capgraph.analysis", "capgraph.analysis.*"),
    ("capgraph.emit", "capgraph.emit.*"),
    ("capgraph.compiler", "capgraph.schema", "capgraph.reference", "capgraph.reference.*"),
    ("capgraph.cli", "capgraph.cli.*", "capgraph.__main__"),
)

# A library and the only modules that may import it.
ONLY_IN: dict[str, tuple[str, ...]] = {
    "networkx": ("capgraph.graph",),
    "typer": ("capgraph.cli", "capgraph.cli.*"),
    "rich": ("capgraph.cli", "capgraph.cli.*"),
    "scipy": ("capgraph.measurement.least_squares",),
}

# A library whose import is slow, and the only modules that may import it when they are imported themselves.
AT_MODULE_LEVEL_ONLY_IN: dict[str, tuple[str, ...]] = {
    "weasyprint": ("capgraph.emit.*",),
    "openpyxl": ("capgraph.emit.*",),
    "scipy": (),
}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name in full, its line, and whether it is imported as soon as the module is."""

    name: str
    line: int
    at_module_level: bool


def modules() -> dict[str, Path]:
    """Return every module of the package and its file."""
    files = sorted((ROOT / "capgraph").rglob("*.py"))
    return {_module_name(file): file for file in files}


def _module_name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, package: str) -> Iterator[Import]:
    """Yield what a module in `package` imports; `from a import b` yields `a.b`."""
    pending: list[tuple[ast.AST, bool]] = [(ast.parse(source), True)]
    while pending:
        node, at_module_level = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, at_module_level)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Import(f"{_base(node, package)}.{alias.name}", node.lineno, at_module_level)
        inside = at_module_level and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        pending.extend((child, inside) for child in ast.iter_child_nodes(node))


def _base(node: ast.ImportFrom, package: str) -> str:
    if node.level == 0:
        return node.module or ""
    parents = package.split(".")
    kept = parents[: len(parents) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def layer(module: str) -> int | None:
    """Return the layer of `module`, counted from the lowest, or nothing when the table lacks it."""
    return next((number for number, patterns in enumerate(LAYERS) if _matches(module, patterns)), None)


def _matches(module: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(module, pattern) for pattern in patterns)


def _imported_module(name: str, known: frozenset[str]) -> str:
    """Return the module that `name` is or lies in: `capgraph.plan.Plan` is in `capgraph.plan`."""
    while name not in known and "." in name:
        name = name.rpartition(".")[0]
    return name


def violations(module: str, source: str, known: frozenset[str]) -> list[str]:
    """Return one line for every import in `source` that the tables forbid to `module`."""
    own = layer(module)
    if own is None:
        return [f"{module} stands in no layer: add it to LAYERS"]
    package = module if _is_package(module, known) else module.rpartition(".")[0]
    found = []
    for imported in imports(source, package):
        place = f"{module}:{imported.line} imports {imported.name}"
        library = imported.name.partition(".")[0]
        if library == "capgraph":
            target = layer(_imported_module(imported.name, known))
            if target is None:
                found.append(f"{place}, which stands in no layer")
            elif target > own:
                found.append(f"{place}, which is above it")
        elif library in ONLY_IN and not _matches(module, ONLY_IN[library]):
            found.append(f"{place}: only {', '.join(ONLY_IN[library])} may")
        elif imported.at_module_level and not _matches(module, AT_MODULE_LEVEL_ONLY_IN.get(library, ("*",))):
            found.append(f"{place} as soon as it is imported itself: do so inside the function that needs it")
    return found


def _is_package(module: str, known: frozenset[str]) -> bool:
    return any(other.startswith(f"{module}.") for other in known)


def test_every_import_is_allowed() -> None:
    files = modules()
    known = frozenset(files)
    found = [line for module, file in files.items() for line in violations(module, file.read_text(), known)]
    assert found == []


def test_no_modules_import_each_other_in_a_ring() -> None:
    files = modules()
    known = frozenset(files)
    imported: dict[str, set[str]] = {}
    for module, file in files.items():
        package = module if _is_package(module, known) else module.rpartition(".")[0]
        names = (found.name for found in imports(file.read_text(), package))
        imported[module] = {_imported_module(name, known) for name in names} & known - {module}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(f"these modules import each other: {' → '.join(error.args[1])}")


def test_layers_name_each_module_once() -> None:
    for module in modules():
        assert sum(_matches(module, patterns) for patterns in LAYERS) == 1, module


KNOWN = frozenset(
    {
        "capgraph",
        "capgraph.check",
        "capgraph.cli",
        "capgraph.cli.main",
        "capgraph.compiler",
        "capgraph.emit",
        "capgraph.emit.memo",
        "capgraph.evaluate",
        "capgraph.formula",
        "capgraph.formula.tree",
        "capgraph.graph",
        "capgraph.plan",
    }
)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("capgraph.check", "from capgraph.evaluate import evaluate"),
        ("capgraph.check", "import capgraph.compiler"),
        ("capgraph.check", "from . import evaluate"),
        ("capgraph.check", "from .evaluate import evaluate"),
        ("capgraph.formula.tree", "from ..plan import Plan"),
        ("capgraph.formula", "from ..plan import Plan"),
        ("capgraph.check", "def late():\n    from capgraph.emit import memo"),
        ("capgraph.emit.memo", "from capgraph.cli.main import run"),
        ("capgraph.check", "import networkx as nx"),
        ("capgraph.check", "def late():\n    from networkx.algorithms import dag"),
        ("capgraph.compiler", "from rich.console import Console"),
        ("capgraph.evaluate", "def late():\n    import typer"),
        ("capgraph.cli.main", "import weasyprint"),
        ("capgraph.compiler", "try:\n    from openpyxl import chart\nexcept ImportError:\n    raise"),
        ("capgraph.compiler", "class Book:\n    import openpyxl"),
        ("capgraph.misc", "import ast"),
        ("capgraph.check", "from capgraph.misc import anything"),
    ],
)
def test_a_forbidden_import_is_found(module: str, source: str) -> None:
    assert len(violations(module, source, KNOWN | {"capgraph.misc"})) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("capgraph.graph", "import networkx as nx"),
        ("capgraph.check", "from capgraph.plan import Plan\nfrom .formula.tree import Node"),
        ("capgraph.formula", "from .tree import Node"),
        ("capgraph.check", "from capgraph import __version__"),
        ("capgraph.emit.memo", "import weasyprint"),
        ("capgraph.compiler", "def late():\n    import openpyxl\n    from capgraph.emit import memo"),
        ("capgraph.cli.main", "import typer\nfrom capgraph.compiler import compile"),
    ],
)
def test_an_allowed_import_is_not_reported(module: str, source: str) -> None:
    assert violations(module, source, KNOWN) == []
