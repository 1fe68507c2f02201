"""Models that someone has damaged: whatever a file holds, there are results or diagnostics, and never anything else.

The same mutations every time: of the shipped models' files, of their resolved plans, and of a small model that holds
every key.
"""

from __future__ import annotations

import json
import math
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from compiling import Run, run_path, run_text

from capgraph.cli.show import concise_text, full_text
from capgraph.cli.values import results_json
from capgraph.emit.resolved import emit
from capgraph.resources import models_root

_CHARACTERS = "abz019_.,:;!?'\"`{}[]()<>|&*#%@^~=+-/\\ \t\n\r\0\x1b\x85\u2028\ufeffé容𝛼"
_VALUES = (
    "", "null", "~", "[]", "{}", "[1, 2]", "{a: b}", "0", "-1", "1e308", "1e-308", "1e999", "-0", "nan", ".inf", "010",
    "0x1F", "1_000", "1__0", "30%", "12:30", "2026-02-30", "no", "true", "'", '"', "&a", "*a", "<<",
    "!!python/name:os.system", "--- x", "? x", "| x", "5 GB", "5 GBB", "1e300 PB", "GiB^99", "a^2^3", "if(true, 1)",
    "1 / 0", "ln(0)", "x.y.z", "((((", "9" * 400, "x" * 5_000, "é" * 50, "sum(x over y)", "../../x.yaml",
    "/etc/passwd", "llm-serving", "{users}", "{users:99 GiB}", "{", "}",
)  # fmt: skip


def _character(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text))
    return text[:place] + chance.choice(_CHARACTERS) + text[place + chance.randrange(2) :]


def _cut(text: str, chance: random.Random) -> str:
    first = chance.randrange(len(text))
    return text[:first] + text[first + chance.randrange(1, 60) :]


def _line(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            del lines[place]
        case 1:
            lines.insert(other, lines[place])
        case 2:
            lines[place] = " " * chance.randrange(1, 5) + lines[place]
        case _:
            lines[place], lines[other] = lines[other], lines[place]
    return "\n".join(lines)


def _value(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    places = [number for number, line in enumerate(lines) if ": " in line]
    place = chance.choice(places)
    key, _, value = lines[place].partition(": ")
    lines[place] = (
        f"{key}: {chance.choice(_VALUES)}"
        if chance.random() < 0.7
        else f"{key}: {value}{chance.choice(_VALUES)}"
    )
    return "\n".join(lines)


def _word(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    places = [number for number, word in enumerate(words) if word.strip()]
    place, other = chance.choice(places), chance.choice(places)
    words[place] = chance.choice((words[other], chance.choice(_VALUES)))
    return " ".join(words)


HOSTILE = (Path(__file__).parent / "hostile.yaml").read_text("utf-8")
MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (_character, _cut, _line, _value, _word)


def mutate(text: str, chance: random.Random) -> str:
    """Damage a text in one to three places."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        text = chance.choice(MUTATIONS)(text or "x: 1", chance)
    return text


def judge(run: Run) -> None:
    """There are finite results or diagnostics, and each can be shown."""
    for item in run.found:
        assert "\n" not in concise_text(item)
        assert max(map(len, full_text(item).splitlines())) < 700
        assert item.span is None or (item.span.line >= 1 and item.span.column >= 1)
    if run.results is None:
        assert any(item.severity == "error" for item in run.found)
        return
    assert run.plan is not None
    json.loads(results_json(run.plan, run.results, tuple(run.plan.model.quantities)))
    for result in run.results.scenarios.values():
        assert all(math.isfinite(value) for value in result.values.values() if isinstance(value, float))


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_small_model_gives_results_or_diagnostics(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        judge(run_text(mutate(HOSTILE, chance)))


@pytest.mark.parametrize("name", ["llm-serving", "published-answers"])
def test_a_damaged_resolved_plan_gives_results_or_diagnostics(name: str) -> None:
    plan = run_path(models_root() / name / "model.yaml").plan
    assert plan is not None
    text, chance = emit(plan).data.decode(), random.Random(name)
    for _ in range(10):
        judge(run_text(mutate(text, chance)))


@pytest.mark.parametrize("name", ["llm-serving", "published-answers"])
def test_a_damaged_file_of_a_shipped_model_gives_results_or_diagnostics(name: str, tmp_path: Path) -> None:
    shutil.copytree(models_root() / name, tmp_path / name)
    files = sorted((tmp_path / name).rglob("*.yaml"))
    chance = random.Random(f"files of {name}")
    for _ in range(10):
        file = chance.choice(files)
        text = file.read_text("utf-8")
        file.write_bytes(mutate(text, chance).encode("utf-8", "surrogatepass"))
        judge(run_path(tmp_path / name / "model.yaml"))
        file.write_text(text, "utf-8")


@pytest.mark.parametrize("seed", range(4))
def test_bytes_that_are_no_text_give_diagnostics(seed: int) -> None:
    chance = random.Random(seed)
    data = HOSTILE.encode()
    for _ in range(25):
        place = chance.randrange(len(data))
        judge(
            run_text(
                data[:place] + chance.randbytes(chance.randrange(1, 4)) + data[place + chance.randrange(3) :]
            )
        )


_BREAKS = (
    (r"unit: [^,}\n]+", "unit: GiBB", "CG501"),
    (r"(?<=value: )(?!true|false)[^,}\n]+", "about 5", "CG207"),
    (r"(?<=choose: )\w+", "no_such_catalog", "CG301"),
    (r"(?<=formula: ).+", "no_such_name * 2", "CG401"),
    (r"(?<=formula: ).+", "2 * (1 + 3", "CG405"),
    (r"(?<=condition: ).+", "no_such_name > 2", "CG401"),
    (r"(?<=message: ).+", "'{no_such_name}'", "CG401"),
)


@pytest.mark.parametrize(("pattern", "wrong", "code"), _BREAKS)
def test_one_typo_anywhere_in_the_flagship_is_one_message(pattern: str, wrong: str, code: str) -> None:
    plan = run_path(models_root() / "llm-serving" / "model.yaml").plan
    assert plan is not None
    # Formulas in one line each, so that a line of text is a formula.
    document = yaml.safe_load(emit(plan).data)
    text = yaml.dump(document, sort_keys=False, allow_unicode=True, width=10**6)
    places = list(re.finditer(pattern, text))
    assert places
    for place in random.Random(code + wrong).sample(places, min(5, len(places))):
        run = run_text(text[: place.start()] + wrong + text[place.end() :])
        assert run.codes == [code], (place, run.errors)
