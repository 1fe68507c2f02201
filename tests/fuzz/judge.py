"""Files → what the compiler made of them, and what is wrong with that.

In: a folder with a model → Out: a word for the outcome. Invariant: anything but finite results, or diagnostics that
each have a code with a page, a message and a place that exists, raises WrongError.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from capgraph.cli.show import concise_text, full_text
from capgraph.cli.values import results_json
from capgraph.compiler import compile_model
from capgraph.diagnostics import LONGEST_TEXT, Diagnostic, Span, has_errors
from capgraph.evaluate import evaluate
from capgraph.reference.codes import codes

MOST_DIAGNOSTICS = 20_000


_CODES = frozenset(codes())


class WrongError(Exception):
    """An outcome that breaks the promise; `kind` is what outcomes that break it likewise have in common."""

    def __init__(self, kind: str, told: str = "") -> None:
        super().__init__(f"{kind}: {told}")
        self.kind = kind


def judge(path: Path) -> str:
    """Compile and evaluate a model; return `results`, or the stage that found errors. Raises WrongError."""
    compilation = compile_model(path)
    _judge_diagnostics(compilation.diagnostics)
    if compilation.plan is None:
        if not has_errors(compilation.diagnostics):
            raise WrongError("neither a plan nor an error")
        return "refused"
    if has_errors(compilation.diagnostics):
        raise WrongError("a plan in spite of an error")
    results, found = evaluate(compilation.plan)
    _judge_diagnostics(found)
    if results is None:
        if not has_errors(found):
            raise WrongError("neither results nor an error")
        return "no value"
    # Raises ValueError for what is not finite.
    results_json(compilation.plan, results, tuple(compilation.plan.model.quantities))
    return "results"


def _judge_diagnostics(found: Iterable[Diagnostic]) -> None:
    items = tuple(found)
    if len(items) > MOST_DIAGNOSTICS:
        raise WrongError("too many diagnostics", str(len(items)))
    for item in items:
        if item.code not in _CODES:
            raise WrongError(f"{item.code} has no page", item.message)
        if not item.message.strip() or max(len(item.message), len(item.help)) > LONGEST_TEXT:
            raise WrongError(f"{item.code} says nothing, or too much", f"{len(item.message)} characters")
        for span in (item.span, *(related.span for related in item.related)):
            if span is not None:
                _judge_place(item, span)
    for item in items[:20]:
        if "\n" in concise_text(item) or not full_text(item).startswith(f"{item.severity}[{item.code}]: "):
            raise WrongError(f"{item.code} is not shown as it should be")


@lru_cache(maxsize=8)
def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n"))


def _judge_place(item: Diagnostic, span: Span) -> None:
    lines = _lines(span.source.text)
    ends = ((span.line, span.column), (span.end_line, span.end_column))
    fits = all(1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 2 for line, column in ends)
    if not fits or ends[0] > ends[1]:
        raise WrongError(f"{item.code} points at no place", f"{span} to {ends[1]}: {item.message}")
    if not Path(span.source.path).is_file():
        raise WrongError(f"{item.code} points into no file", span.source.path)
