"""Wrong models of every kind end in results or in diagnostics: a small run, the harness itself, and what it found."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from compiling import model_of, run_text
from fuzz.bounded import run_one
from fuzz.cases import case_of
from fuzz.corpus import models
from fuzz.mutations import FILE_MUTATIONS, TEXT_MUTATIONS
from fuzz.shrink import shrink_files, shrink_steps, written

TESTS = Path(__file__).parent
SMALL_RUN = 150


def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the harness as a person does."""
    path = os.pathsep.join((str(TESTS), str(TESTS.parent)))
    return subprocess.run(
        [sys.executable, "-m", "fuzz", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_mutated_models_give_results_or_diagnostics() -> None:
    made = run_command(str(SMALL_RUN), "--seed", "20261130")
    assert made.returncode == 0, made.stdout
    assert made.stdout.startswith(f"{SMALL_RUN} mutations from seed 20261130")
    assert "results" in made.stdout
    assert "refused" in made.stdout


def test_a_case_is_its_seed() -> None:
    assert case_of(7).files == case_of(7).files
    assert len({written(case_of(seed).files) for seed in range(20)}) > 15


def test_every_mutation_changes_something() -> None:
    changed = set()
    for case in map(case_of, range(500)):
        before = {name: text.encode() for name, text in models()[case.model].items()}
        if len(case.steps) == 1 and case.files != before:
            changed.add(case.steps[0].mutation)
        if len(changed) == len(TEXT_MUTATIONS) + len(FILE_MUTATIONS):
            break
    # A rare one may not come alone in so few.
    assert changed >= set(TEXT_MUTATIONS)


def _fine() -> str:
    return "fine"


def _raises() -> str:
    raise KeyError("lost")


def _spins() -> str:
    while True:
        pass


def _eats() -> str:
    return str(len(bytearray(2_000_000_000)))


def _dies() -> str:
    os._exit(7)


@pytest.mark.parametrize(
    ("work", "signature"),
    [
        (_fine, "well: fine"),
        (_raises, "exception: KeyError in test_fuzz.py, _raises"),
        (_spins, "time: more than 2 s"),
        (_eats, "memory: MemoryError in test_fuzz.py, _eats"),
        (_dies, "death: exit code 7"),
    ],
)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_the_bounds_hold(work: Callable[[], str], signature: str) -> None:
    assert run_one(work, lambda item: item).signature == signature


def test_a_failing_case_is_made_small() -> None:
    files = {
        "model.yaml": b"".join(b"line %d\n" % number for number in range(100)),
        "other.yaml": b"x\n" * 50,
    }
    small = shrink_files(
        files, lambda made: b"line 42\n" in made.get("model.yaml", b"") and b"x" in str(made).encode()
    )
    assert small["model.yaml"] == b"line 42\n"
    assert sum(len(text.splitlines()) for text in small.values()) <= 2


def test_mutations_that_a_failure_does_not_need_are_left_out() -> None:
    case = next(case for case in map(case_of, range(100)) if len(case.steps) == 6)
    needed = case.steps[3]
    assert shrink_steps(case, lambda made: needed in made.steps).steps == (needed,)


# What the harness found, each as small as it came out.
BIG = """
quantities:
  big: {unit: EB, value: 1e308, source: x}
  tiny: {unit: EB, value: 1e-320, source: x}
  large: {unit: EB, value: 1e20, source: x}
checks:
  shown: {condition: big > large, message: 'MESSAGE'}
"""
FOUND = {
    "a row's number beside a range that is half broken": (
        model_of("a", a="1") + "catalog: c\nfields: {x: {unit: GB, range: [nothing, 5]}}\nrows: {r: {x: 6}}\n",
        ["CG207"],
    ),
    "more digits than a decimal has": (BIG.replace("MESSAGE", "{big} {large:9} {tiny:9}"), []),
    "a message's conversion beyond a double": (BIG.replace("MESSAGE", "{big:9 kB} {large} {tiny}"), []),
    "decimals of thousands of digits": (BIG.replace("MESSAGE", f"{{big:{'9' * 5000}}}"), ["CG410"]),
    "an exponent of thousands of digits": (model_of("a", a=f"1 byte^{'9' * 5000}"), ["CG501"]),
    "an exponent of leading zeros": (model_of("a", a=f"1 byte^{'0' * 5000}"), ["CG501"]),
    "a raised digit behind ^": (model_of("a", a="1 s^³"), ["CG501"]),
    "a letter that Python reads as two": (model_of("a", a="1 ำ"), ["CG501"]),
    "a unit of thousands of digits": (f"units: {{x: {'9' * 5000} GB}}\n" + model_of("a", a="1"), ["CG508"]),
    "a root of a ratio of large units": (
        "units: {x: 1e60 GB, y: 2e60 GB}\n" + model_of("sqrt(a * b)", a="1 x^3/y^2", b="1 x^24/y^25"),
        ["CG505"],
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(name: str) -> None:
    text, codes = FOUND[name]
    assert [item.code for item in run_text(text).found if item.severity == "error"] == codes


def test_a_message_quotes_no_word_of_any_length() -> None:
    long = "x" * 50_000
    for text in (f"include: ['{long}.yaml']\n", model_of("a", a=long), f"extends: {long}\n", f"{long}: 1\n"):
        assert max(len(item.message) + len(item.help) for item in run_text(text).found) < 2_500


BLANKS = " " * 100_000
# A pattern that tries every blank as an end of every part took minutes.
BLANK = {
    "a number": (BIG.replace("1e20", f"'1{BLANKS}x{BLANKS}y'"), "CG501"),
    "a unit": (f"units: {{x: '1{BLANKS}GB{BLANKS}y'}}\n" + model_of("a", a="1"), "CG501"),
    "a slot": (BIG.replace("MESSAGE", f"{{big:{BLANKS}x{BLANKS}y}}"), "CG501"),
    "a formula": (model_of(f"a{BLANKS}b", a="1"), "CG408"),
    "a formula's number": (model_of(f"1{' ' * 3000}%", a="1"), "CG405"),
}


@pytest.mark.parametrize("name", BLANK)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_blanks_cost_no_more_than_letters(name: str) -> None:
    text, code = BLANK[name]
    assert run_one(text, lambda item: lambda: " ".join(run_text(item).codes)).signature == f"well: {code}"
