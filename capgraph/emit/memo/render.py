"""The memo as HTML text.

In: plan, results, findings, making → Out: the view, and the HTML that the templates make of it for one medium.
Invariant: model text is data: it is escaped, and never read as a template, a style or an address.
"""

from __future__ import annotations

from typing import Literal

from jinja2 import BytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from jinja2.sandbox import ImmutableSandboxedEnvironment

from capgraph.analysis.derivation import REST, Line, derive
from capgraph.analysis.subject import results_of
from capgraph.analysis.taken import taken
from capgraph.emit.artifact import Artifact, Making
from capgraph.emit.fonts import font_faces
from capgraph.emit.memo.backlinks import backlinks
from capgraph.emit.memo.backtests import backtest_views
from capgraph.emit.memo.case import Case
from capgraph.emit.memo.change import change, swing_views
from capgraph.emit.memo.charts import draw
from capgraph.emit.memo.cite import Citations, cite
from capgraph.emit.memo.evidence import (
    assumption_groups,
    attached,
    files,
    row_views,
    step_groups,
)
from capgraph.emit.memo.front import (
    check_views,
    deciding,
    option_views,
    recommendation,
    rule_views,
)
from capgraph.emit.memo.graphs import draw_graphs
from capgraph.emit.memo.rests import fit_views, rests_of
from capgraph.emit.memo.variants import cost_labels, lever_views, scenario_views, suspect_views, together_view
from capgraph.emit.memo.view import Memo
from capgraph.findings import Findings
from capgraph.formula.text import print_maths
from capgraph.formula.tree import references
from capgraph.model import Formula
from capgraph.plan import Plan
from capgraph.resources import templates_root
from capgraph.results import Results

Medium = Literal["pdf", "page"]


class _Compiled(BytecodeCache):
    """Templates compiled in this process: both media share them, and compiling takes longer than rendering."""

    def __init__(self) -> None:
        self._found: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._found:
            bucket.bytecode_from_string(self._found[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._found[bucket.key] = bucket.bytecode_to_string()


_COMPILED = _Compiled()


def view(
    plan: Plan,
    results: Results,
    findings: Findings,
    made: Making,
    attachments: tuple[Artifact, ...],
) -> Memo:
    """Return everything that the memo shows."""
    model, selected = plan.model, results.selected
    chain = derivation(plan, results, findings)
    case = Case(plan, results, findings, _citations(plan, results, findings, chain))
    options, swings = option_views(case), swing_views(case)
    graphs = draw_graphs(case)
    changes = change(case, tuple(graph for graph, of_costs in graphs if of_costs))
    asked, why = recommendation(case), deciding(case)
    found = tuple(case.citations.figure(name) for name in results_of(plan))
    backtests = backtest_views(case)
    held = (*(view.of for view in fit_views(case)), *(view.quantity for view in backtests))
    policy, alerts = case.told("policy"), case.told("alert")
    cited = backlinks(asked, why if asked else found, options, changes, held, (*policy, *alerts))
    steps, conversions, zeros = step_groups(case, chain, cited)
    assumptions, definitions, idle = assumption_groups(case, chain, cited)
    computed = sum(isinstance(entry.definition, Formula) for entry in model.quantities.values())
    return Memo(
        title=model.title,
        description=model.description,
        model=model.id,
        plan=model.plan,
        as_of=model.as_of,
        scenario=model.scenarios[selected].label,
        selected=selected,
        version=made.version,
        timestamp=made.timestamp,
        command=made.command,
        recommendation=asked,
        why=why,
        options=options,
        rules=rule_views(case),
        change=changes,
        results=found,
        target=case.citations.figure(case.target) if case.target else None,
        steps=steps,
        conversions=conversions,
        zeros=zeros,
        elided=any(REST in line.formula for line in chain),
        untaken=computed - sum(isinstance(line.quantity.definition, Formula) for line in chain),
        rested=bool(findings.bases),
        fits=fit_views(case),
        backtests=backtests,
        swings=swings,
        levers=lever_views(case),
        together=together_view(case),
        assumptions=assumptions,
        definitions=definitions,
        idle=idle,
        rows=row_views(case),
        checks=check_views(case),
        cost_labels=cost_labels(case),
        scenarios=scenario_views(case),
        policy=policy,
        alerts=alerts,
        suspects=suspect_views(case),
        files=files(case),
        attached=attached(attachments),
        drawings=draw(case, options, swings, tuple(graph for graph, of_costs in graphs if not of_costs)),
        linked=frozenset(cited),
    )


def derivation(plan: Plan, results: Results, findings: Findings) -> tuple[Line, ...]:
    """Return what has an effect on the figures that the memo speaks of."""
    selected, result = results.selected, results.scenarios[results.selected]
    measured = {name for backtest in findings.backtests for name in backtest.comparisons}
    measured |= {plan.model.fits[name].of for name in findings.fits}
    targets = _shown(plan) | measured
    formulas = taken(plan, result, plan.model.scenarios[selected].settings, targets)
    return derive(plan, selected, result, targets, printed=print_maths, formulas=formulas)


def _citations(plan: Plan, results: Results, findings: Findings, chain: tuple[Line, ...]) -> Citations:
    shown = frozenset(line.quantity.id for line in chain)
    return cite(plan, results.scenarios[results.selected], results.selected, shown, rests_of(plan, findings))


def _shown(plan: Plan) -> set[str]:
    """Return the steps that the memo speaks of: what decides, and what it shows beside."""
    model = plan.model
    names = {*model.key_figures, *plan.messages, *(() if model.decision else results_of(plan))}
    names |= {f"check.{name}" for name in model.checks}
    names |= {name for lever in model.levers.values() for name in lever.shows}
    names |= {name for sweep in model.sweeps.values() for name in sweep.shows}
    names |= {name for chart in model.charts.values() for name in (*chart.parts, chart.whole) if name}
    if model.decision:
        names |= {
            name
            for option in model.decision.options.values()
            for name in (option.cost, *option.shows)
            if name
        }
        names |= {f"rule.{number}" for number in range(1, len(model.decision.rules) + 1)}
        names |= {model.decision.target} if model.decision.target else set()
    return (names | _in_messages(plan)) & plan.uses.keys()


def _in_messages(plan: Plan) -> set[str]:
    parts = [part for message in plan.messages.values() for part in message if not isinstance(part, str)]
    return {name.name for part in parts for name in references(part.expr)}


def render(memo: Memo, medium: Medium) -> str:
    """Return the memo as one HTML document."""
    faces = font_faces() if medium == "pdf" else ()
    return environment(medium).get_template(f"{medium}.html.j2").render(memo=memo, faces=faces)


def environment(medium: Medium) -> ImmutableSandboxedEnvironment:
    """Return the templates' surroundings: a sandbox that escapes every value and knows no undefined name."""
    made = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(templates_root() / "memo"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        bytecode_cache=_COMPILED,
    )
    made.filters["lower_first"] = _lower_first
    made.globals["medium"] = medium
    return made


def _lower_first(label: str) -> str:
    """Write a label inside a sentence: `Cost ratio` → `cost ratio`, but `KV cache` and `API` as they are."""
    return label if label[1:2].isupper() or not label[:1].isupper() else label[0].lower() + label[1:]
