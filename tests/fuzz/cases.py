"""A seed → the files of a wrong model.

In: a number → Out: `Case`: the model it comes from and the mutations laid over it, each with its own chance.
Invariant: a case is the same on every machine; without one of its mutations it is a case still.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from fuzz.corpus import Files, models
from fuzz.mutations import FILE_MUTATIONS, SYNTAX_MUTATIONS, TEXT_MUTATIONS

# Mutations of what is still a model find more than those of what is no YAML any more: few go together.
_HOW_MANY = (1, 1, 1, 1, 2, 2, 3, 6)
_SHARE_OF_FILE_MUTATIONS = 0.03


@dataclass(frozen=True, slots=True)
class Step:
    """One mutation and the seed of its chance."""

    mutation: str
    seed: int


@dataclass(frozen=True, slots=True)
class Case:
    """A shipped model and what is done to it."""

    seed: int
    model: str
    steps: tuple[Step, ...]

    @property
    def files(self) -> Mapping[str, bytes]:
        """Return the mutated files."""
        made: Files = dict(models()[self.model])
        for step in self.steps:
            chance = Random(step.seed)
            if step.mutation in FILE_MUTATIONS:
                FILE_MUTATIONS[step.mutation](chance, made)
            else:
                name = chance.choice(list(made))
                made[name] = TEXT_MUTATIONS[step.mutation](chance, made[name])
        return {name: _bytes(text) for name, text in made.items()}

    def without(self, step: Step) -> Case:
        """Return the case less one of its mutations."""
        return replace(self, steps=tuple(item for item in self.steps if item is not step))


def case_of(seed: int) -> Case:
    """Return the case of a seed."""
    chance = Random(seed)
    model = chance.choice(list(models()))
    steps = []
    for _ in range(chance.choice(_HOW_MANY)):
        table = FILE_MUTATIONS if chance.random() < _SHARE_OF_FILE_MUTATIONS else TEXT_MUTATIONS
        weights = [1 if name in SYNTAX_MUTATIONS else 3 for name in table]
        steps.append(Step(chance.choices(list(table), weights)[0], chance.getrandbits(32)))
    return Case(seed, model, tuple(steps))


def _bytes(text: str) -> bytes:
    # What a lone surrogate above the escaped bytes would be in UTF-8 is no UTF-8 either.
    return text.encode("utf-8", "surrogateescape" if _only_escapes(text) else "surrogatepass")


def _only_escapes(text: str) -> bool:
    return all(not "\ud800" <= char <= "\udfff" or "\udc80" <= char <= "\udcff" for char in text)
