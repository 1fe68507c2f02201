"""What every command does first: find the plan, compile it, show what is wrong.

In: the command's arguments → Out: a plan, or the process ends with 1 (the model has errors) or 2 (wrong use).
Invariant: a user's mistake ends here, with a message and without a traceback.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import typer

from capgraph.cli.show import Format, show_diagnostics
from capgraph.diagnostics import Diagnostic
from capgraph.model import Value
from capgraph.plan import Plan

FLAGSHIP = "llm-serving"
DEFAULT_FILE = "plan.yaml"


@dataclass(frozen=True, slots=True)
class Settings:
    """How diagnostics are shown. For programs all of them are one JSON array, so they wait for the end."""

    form: Format | None = None
    heard: list[Diagnostic] = field(default_factory=list)

    def show(self, found: Sequence[Diagnostic]) -> None:
        """Show diagnostics, or keep them for the end."""
        if self.form == "json":
            self.heard.extend(found)
        else:
            show_diagnostics(found, self.form)

    def close(self) -> None:
        """Show what was kept."""
        if self.form == "json":
            show_diagnostics(self.heard, "json")


def stop(found: Sequence[Diagnostic], settings: Settings, code: int = 1) -> NoReturn:
    """Show diagnostics and end the process."""
    settings.show(found)
    raise typer.Exit(code)


def default_plan() -> str:
    """Return the plan of the current folder, else the flagship."""
    return DEFAULT_FILE if Path(DEFAULT_FILE).is_file() else FLAGSHIP


def find(argument: str | None, settings: Settings) -> Path:
    """Return the file that PLAN names, or end the process with 2."""
    from capgraph.join import locate

    path = locate(argument or default_plan())
    return path if isinstance(path, Path) else stop((path,), settings, 2)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Compile without collecting: what is made stays to the end, and looking through it takes a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def load(argument: str | None, settings: Settings) -> Plan:
    """Compile the plan that an argument names; warnings are shown, errors end the process."""
    from capgraph.compiler import compile_model

    with _collector_paused():
        compilation = compile_model(find(argument, settings))
    if compilation.plan is None:
        stop(compilation.diagnostics, settings)
    settings.show(compilation.diagnostics)
    return compilation.plan


def chosen_scenarios(plan: Plan, asked: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """Return the scenarios that are asked for, all when none is."""
    from capgraph.diagnostics import did_you_mean, known_names

    known = tuple(plan.model.scenarios)
    wrong = [name for name in asked if name not in known]
    if wrong:
        help_text = did_you_mean(wrong[0], known) or f"scenarios: {known_names(known)}"
        stop((Diagnostic("CG802", f"unknown scenario `{wrong[0]}`", None, help_text),), settings, 2)
    return tuple(dict.fromkeys(asked)) or known


def chosen_quantities(plan: Plan, asked: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """Return the quantities that are asked for, all when none is."""
    from capgraph.diagnostics import did_you_mean

    known = plan.model.quantities
    wrong = [name for name in asked if name not in known]
    if wrong:
        help_text = did_you_mean(wrong[0], known) or "`capgraph eval` prints all of them"
        if "=" in wrong[0]:
            help_text = f"write `--set {wrong[0]}` to set it"
        stop((Diagnostic("CG803", f"unknown quantity `{wrong[0]}`", None, help_text),), settings, 2)
    return tuple(asked) or tuple(known)


def chosen_settings(plan: Plan, asked: Sequence[str], settings: Settings) -> dict[str, Value]:
    """Read `--set name=value` for every quantity that may be set."""
    from capgraph.resolve import resolve_setting

    made: dict[str, Value] = {}
    for text in asked:
        name, value, found = resolve_setting(plan.model, text)
        if value is None:
            stop(found, settings, 2)
        made[name] = value
    return made
