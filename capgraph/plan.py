"""The plan: steps in calculation order, conversions explicit; units are labels from here on.

In: nothing → Out: the frozen types that `lower` makes and every backend reads.
Invariant: a step refers only to steps before it; every backend does the same double arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from capgraph.formula.tree import Expr
from capgraph.model import Model, Sweep


@dataclass(frozen=True, slots=True)
class Compute:
    """A formula over earlier steps. `id` is a quantity's id, `check.<id>` or `rule.<number from 1>` (both yes/no)."""

    id: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class Read:
    """A given value or a choice; the scenario or a caller may set it."""

    id: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """The field of the catalog row that the choice takes; `id` is `choice.field`."""

    id: str
    choice: str
    catalog: str
    field: str


Step = Read | Fetch | Compute


@dataclass(frozen=True, slots=True)
class Constant:
    """A unit conversion that formulas name, such as `KiB_per_GiB` = 1048576."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A number inside a message: a reference, converted where asked, rounded half away from zero to `decimals`.

    `unit` follows the number after a narrow space (`%` without one); `expr` may also be a choice: its row's name.
    """

    expr: Expr
    decimals: int
    unit: str


Message = tuple[str | Figure, ...]


@dataclass(frozen=True, slots=True)
class SweepTable:
    """A sweep and the steps that move with its input: the input first, then in calculation order.

    Only steps that a reduction or a curve needs are in it.
    """

    sweep: Sweep
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What every backend needs: the steps, the constants, the messages and the model for labels."""

    model: Model
    steps: tuple[Step, ...]
    constants: Mapping[str, Constant]
    messages: Mapping[str, Message]
    """The message of `check.<id>` and the headline of `rule.<n>`."""
    sweeps: Mapping[str, SweepTable]
    used_by: Mapping[str, tuple[str, ...]]
    """Step ids that each step feeds directly, sorted."""
    uses: Mapping[str, tuple[str, ...]]
    """Step ids that each step reads directly, in reading order."""

    @cached_property
    def by_id(self) -> Mapping[str, Step]:
        """Return the steps by id, in calculation order."""
        return {step.id: step for step in self.steps}
