"""What every command does first: find the plan, compile it, show what is wrong.

In: the command's arguments → Out: a plan, or the process ends with 1 (the model has errors) or 2 (wrong use).
Invariant: a user's mistake ends here, with a message and without a traceback.
"""

from __future__ import annotations

import datetime
import gc
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import typer

from capgraph.cli.show import Format, show_diagnostics
from capgraph.diagnostics import Diagnostic
from capgraph.model import Value
from capgraph.notation import show_setting
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


def stated_time(plan: Plan, settings: Settings) -> datetime.datetime:
    """Return the time that output states: SOURCE_DATE_EPOCH, or the model's date, never the clock."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not epoch:
        day = datetime.datetime.fromisoformat(plan.model.as_of or "2000-01-01")
        return day.replace(tzinfo=datetime.UTC)
    try:
        return datetime.datetime.fromtimestamp(int(epoch), datetime.UTC)
    except (ValueError, OverflowError, OSError):
        message = f"SOURCE_DATE_EPOCH is `{epoch}`; needed are seconds since 1970"
        stop((Diagnostic("CG801", message, None, "unset it, or correct it"),), settings, 2)


@contextmanager
def spinner(what: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done, on a terminal only; what is yielded changes the text."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    # Not as they are: rich would read `[a]` in a name as its own mark-up.
    with Console(stderr=True).status(Text(what)) as status:
        yield lambda text: status.update(Text(text))


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


def written_settings(settings: Mapping[str, Value]) -> tuple[str, ...]:
    """Return settings as a person types each after `--set`."""
    return tuple(f"{name}={show_setting(value)}" for name, value in settings.items())


def finite(value: float) -> float | None:
    """Return a number as JSON can hold it; None for one that is none."""
    return value if math.isfinite(value) else None
