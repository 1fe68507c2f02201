"""What the memo shows: plain records of finished text, so that the templates hold the wording and no arithmetic.

In: nothing → Out: the frozen types that the other modules here fill and `templates/memo` reads.
Invariant: a part with nothing to say is empty or None, and its template then writes no heading for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from capgraph.emit.memo.drawing import Drawings, Graph
from capgraph.emit.memo.measured import BacktestView, FitView
from capgraph.emit.memo.pieces import Figure, Line


@dataclass(frozen=True, slots=True)
class Comparison:
    """Another option's cost beside the recommended one's."""

    difference: str
    times: str
    dearer: bool


@dataclass(frozen=True, slots=True)
class OptionView:
    """One option: what it costs and shows, what speaks for and against it, and when it would be chosen."""

    id: str
    label: str
    recommended: bool
    cost: Figure | None
    against: Comparison | None
    shows: tuple[Figure, ...]
    because: str
    risk: str
    conditions: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule in its order. `outcome` is `yes`, `no`, or `after` when an earlier rule has decided."""

    number: int
    condition: Line
    option: str
    outcome: str


@dataclass(frozen=True, slots=True)
class CheckView:
    """A check in one scenario."""

    id: str
    label: str
    holds: bool
    severity: str
    message: Line


@dataclass(frozen=True, slots=True)
class Flip:
    """An end of an input's range at which another option wins."""

    input: Figure
    end: str
    rises: bool
    change: str
    option: str
    target: str


@dataclass(frozen=True, slots=True)
class SwingView:
    """The target over one input's range, or over the error of a fit, which is then `error`."""

    input: Figure
    low: str
    high: str
    target_low: str
    target_high: str
    flips: bool
    error: str


@dataclass(frozen=True, slots=True)
class ScenarioGroup:
    """Scenarios that come to one verdict."""

    option: str
    recommended: bool
    scenarios: tuple[tuple[str, str], ...]
    """Anchor and label of each."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What is asked of the reader, and on what ground."""

    question: str
    headline: Line
    option: OptionView | None
    failing: tuple[CheckView, ...]
    scenarios: int
    agreeing: int
    sources_from: str
    sources_to: str
    inputs: int
    assumed: int
    unsourced: int


@dataclass(frozen=True, slots=True)
class Change:
    """What would change the verdict, and what to measure first."""

    decides: bool
    """Whether there is a verdict that may change; else only the target moves."""
    target: Figure | None
    ranged: int
    """How many inputs were tried over their ranges, and beside them `fitted` errors of fits."""
    fitted: int
    flips: tuple[Flip, ...]
    first: SwingView | None
    groups: tuple[ScenarioGroup, ...]
    graphs: tuple[Graph, ...]
    """Sweeps of what options cost."""
    exceptions: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class StepView:
    """One computed quantity: its formula, the same with numbers, the result and why."""

    anchor: str
    mark: str
    result: Figure
    formula: Line
    numbers: str
    source: str
    as_of: str
    cited: tuple[str, ...]
    """Ids of the sections that cite it."""


@dataclass(frozen=True, slots=True)
class StepGroup:
    """The steps of one section of the model."""

    title: str
    steps: tuple[StepView, ...]


@dataclass(frozen=True, slots=True)
class AssumptionView:
    """One input: its value in the selected scenario, its range, and who says so."""

    anchor: str
    mark: str
    value: Figure
    range: str
    source: str
    as_of: str
    standing: str
    """Empty, `assumption` or `unsourced`."""
    scenario: bool
    """The selected scenario sets it, so the model's base value does not hold."""
    effect: str
    """How far the target moves over the range."""
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AssumptionGroup:
    """The inputs of one section of the model."""

    title: str
    inputs: tuple[AssumptionView, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One field of a catalog row that the model reads."""

    anchor: str
    mark: str
    value: Figure
    range: str
    """The range that a fit gives it."""
    unverified: bool


@dataclass(frozen=True, slots=True)
class RowView:
    """A catalog row that a choice takes."""

    choice: str
    name: str
    id: str
    facts: tuple[Fact, ...]
    source: str
    as_of: str
    note: str


@dataclass(frozen=True, slots=True)
class Effect:
    """A quantity before and after a lever."""

    quantity: str
    label: str
    before: str
    after: str
    change: str
    exact: str


@dataclass(frozen=True, slots=True)
class LeverView:
    """A lever: what it sets, what it moves, and the verdict then."""

    id: str
    label: str
    settings: tuple[str, ...]
    because: str
    effects: tuple[Effect, ...]
    option: str
    flips: bool


@dataclass(frozen=True, slots=True)
class SuspectView:
    """Why measurements may fall short: what it changes, what that brings down, and what to look at."""

    id: str
    label: str
    settings: tuple[str, ...]
    because: str
    check: str
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """One scenario: what it sets, its verdict and checks."""

    anchor: str
    id: str
    label: str
    because: str
    source: str
    settings: tuple[str, ...]
    option: str
    headline: str
    costs: tuple[Figure, ...]
    figures: tuple[Figure, ...]
    checks: tuple[CheckView, ...]
    """Those to read in full: all of the selected scenario's, elsewhere what fails."""
    quiet: int
    """How many other checks hold."""


@dataclass(frozen=True, slots=True)
class FileView:
    """A file that the memo rests on."""

    name: str
    digest: str
    what: str


@dataclass(frozen=True, slots=True)
class Memo:
    """The whole memo, in reading order."""

    title: str
    description: str
    model: str
    plan: str
    as_of: str
    scenario: str
    selected: str
    version: str
    timestamp: str
    command: str
    recommendation: Recommendation | None
    why: tuple[Figure, ...]
    options: tuple[OptionView, ...]
    rules: tuple[RuleView, ...]
    change: Change | None
    results: tuple[Figure, ...]
    """Key figures, or what nothing else uses: what a model that decides nothing comes to."""
    target: Figure | None
    steps: tuple[StepGroup, ...]
    conversions: tuple[StepView, ...]
    """Computed quantities that only write another one in a different unit."""
    zeros: tuple[StepView, ...]
    """Computed quantities that come to zero and that no section cites."""
    elided: bool
    """Whether formulas leave out what has no effect."""
    untaken: int
    """How many computed quantities have no effect on what the memo shows."""
    rested: bool
    """Whether numbers say what they rest on."""
    fits: tuple[FitView, ...]
    backtests: tuple[BacktestView, ...]
    swings: tuple[SwingView, ...]
    levers: tuple[LeverView, ...]
    together: LeverView | None
    assumptions: tuple[AssumptionGroup, ...]
    definitions: tuple[AssumptionView, ...]
    idle: tuple[AssumptionView, ...]
    """Inputs that have no effect on what the memo shows."""
    rows: tuple[RowView, ...]
    checks: tuple[CheckView, ...]
    cost_labels: tuple[str, ...]
    scenarios: tuple[ScenarioView, ...]
    policy: tuple[Line, ...]
    alerts: tuple[Line, ...]
    suspects: tuple[SuspectView, ...]
    files: tuple[FileView, ...]
    attached: tuple[FileView, ...]
    drawings: Drawings
    linked: frozenset[str]
    """Anchors that the first pages lead to."""
