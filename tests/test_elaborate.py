"""The unit rules: which formula fits which declared unit, what is converted, and what a mistake proposes."""

from __future__ import annotations

import pytest
from compiling import Run, plan_of, run_text

from capgraph.formula.text import print_formula
from capgraph.formula.tree import Scale, walk
from capgraph.plan import Compute

MODEL = """
quantities:
  size: {{value: 3, unit: GiB, source: s}}
  small: {{value: 512, unit: MiB, source: s}}
  pages: {{value: 7, unit: count, source: s}}
  share: {{value: 25, unit: '%', source: s}}
  part: {{value: 0.5, unit: fraction, source: s}}
  time: {{value: 2, unit: s, source: s}}
  wait: {{value: 500, unit: ms, source: s}}
  days: {{value: 30, unit: day/month, source: s}}
  users: {{value: 10, unit: user, source: s}}
  gpus: {{value: 4, unit: GPU, source: s}}
  tokens: {{value: 2.5, unit: ktoken, source: s}}
  cost: {{value: 2, unit: USD/GPU-hour, source: s}}
  area: {{value: 9, unit: GiB^2, source: s}}
  on: {{value: true, source: s}}
  card: {{choose: cards, source: s}}
  other: {{choose: cards, source: s}}
  mode: {{choose: [fast, slow], source: s}}
  result: {{unit: '{unit}', formula: '{formula}'}}
catalogs:
  cards:
    fields: {{memory: {{unit: GiB/GPU}}, vendor: {{type: text}}, linked: {{type: yes/no}}, price_of: {{type: text}}}}
    rows:
      a: {{memory: 80, vendor: X, linked: yes, price_of: b}}
      b: {{memory: 141, vendor: Y, linked: no, price_of: a}}
"""


def run(formula: str, unit: str) -> Run:
    """Compile and evaluate the model with `result` as given."""
    return run_text(MODEL.format(unit=unit, formula=formula.replace("'", "''")))


@pytest.mark.parametrize(
    ("formula", "unit", "value"),
    [
        # Sums and comparisons take the unit of the first side, and convert the other.
        ("size + small", "GiB", 3.5),
        ("small + size", "GiB", 3.5),
        ("size + small", "MiB", 3584.0),
        ("size - small", "GB", 2.5 * 1.073741824),
        ("size > small", "yes/no", True),
        ("small >= size", "yes/no", False),
        ("time + wait", "s", 2.5),
        ("time < wait * 4", "yes/no", False),
        ("max(size, small, 1 * size)", "GiB", 3.0),
        ("min(size, small)", "MiB", 512.0),
        ("clamp(size, small, 2 * small)", "GiB", 1.0),
        ("abs(small - size)", "GiB", 2.5),
        ("if(on, size, small)", "MiB", 3072.0),
        ("if(on, small, size)", "MiB", 512.0),
        # Zero is zero in every unit.
        ("max(size - 5 * size, 0)", "GiB", 0.0),
        ("if(on, 0, size)", "GiB", 0.0),
        ("size > 0", "yes/no", True),
        ("0 < size", "yes/no", True),
        ("0", "GiB", 0.0),
        ("0 * size", "GiB", 0.0),
        # Products and quotients.
        ("size / time", "GiB/s", 1.5),
        ("size / wait", "GiB/s", 6.0),
        ("size * time", "GiB*s", 6.0),
        ("size * users / users", "GiB", 3.0),
        ("size / small", "count", 6.0),
        ("size / small", "ratio", 6.0),
        ("size / small", "%", 600.0),
        ("gpus * card.memory", "GiB", 320.0),
        ("gpus * cost", "USD/hour", 8.0),
        ("gpus * cost", "USD/s", 8 / 3600),
        ("gpus * cost * time", "USD", 8 * 2 / 3600),
        ("users / time", "user/day", 10 / 2 * 86400),
        # Per cent.
        ("size * share", "GiB", 0.75),
        ("share * size * share", "GiB", 0.1875),
        ("size / share", "GiB", 12.0),
        ("share + part", "%", 75.0),
        ("part + share", "fraction", 0.75),
        ("1 - share", "fraction", 0.75),
        ("share > part", "yes/no", False),
        ("share^2", "fraction", 0.0625),
        ("2^share", "ratio", 2**0.25),
        ("size + share * size", "GiB", 3.75),
        ("30% * size", "GiB", 0.3 * 3),
        # Powers and roots.
        ("size^2", "GiB^2", 9.0),
        ("size^2", "MiB^2", 9.0 * 1024 * 1024),
        ("size^-1", "1/GiB", 1 / 3),
        ("size^1", "GiB", 3.0),
        ("area^0.5", "GiB", 3.0),
        ("sqrt(area)", "MiB", 3072.0),
        ("sqrt(size * small)", "GiB", 1.5**0.5),
        ("sqrt(pages + 2)", "count", 3.0),
        ("pages^part", "count", 7**0.5),
        ("pages^(part + 1)", "count", 7**1.5),
        # Counts.
        ("ceil(gpus / 3)", "GPU", 2.0),
        ("floor(tokens)", "token", 2000.0),
        ("round(tokens)", "ktoken", 3.0),
        ("ceil(share)", "count", 1.0),
        ("ceil(size / small / 4)", "count", 2.0),
        ("floor(users / gpus)", "user/GPU", 2.0),
        # Plain numbers only.
        ("exp(size / small - 6)", "count", 1.0),
        ("ln(part * 2)", "ratio", 0.0),
        ("log2(share * 4)", "count", 0.0),
        # Conditions, choices and texts.
        ("on and not (size > small)", "yes/no", False),
        ("if(on, size > small, true)", "yes/no", True),
        ("card.linked or on", "yes/no", True),
        ('mode = "fast"', "yes/no", True),
        ('"slow" <> mode', "yes/no", True),
        ('card = "b"', "yes/no", False),
        ("card = other", "yes/no", True),
        ("card.price_of = other", "yes/no", False),
        ("card.vendor <> card.price_of", "yes/no", True),
    ],
)
def test_what_fits_has_a_value(formula: str, unit: str, value: float | bool) -> None:
    found = run(formula, unit).values["result"]
    assert type(found) is type(value)
    assert found == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("formula", "unit", "code", "place"),
    [
        ("size + time", "GiB", "CG502", "size + time"),
        ("size + users * small", "GiB", "CG502", "size + users * small"),
        ("size + 1", "GiB", "CG502", "size + 1"),
        ("size > 5", "yes/no", "CG502", "size > 5"),
        ("max(size, time)", "GiB", "CG502", "max(size, time)"),
        ("clamp(size, 1, 2)", "GiB", "CG502", "clamp(size, 1, 2)"),
        ("if(on, size, 1)", "GiB", "CG502", "if(on, size, 1)"),
        ("gpus * card.memory + card.memory", "GiB", "CG502", "gpus * card.memory + card.memory"),
        ("days + time", "s", "CG502", "days + time"),
        ("size * time", "GiB", "CG503", "size * time"),
        ("size", "GiB/GPU", "CG503", "size"),
        ("1", "GiB", "CG503", "1"),
        ("size / small", "GiB", "CG503", "size / small"),
        ("ln(size)", "count", "CG504", "size"),
        ("exp(time)", "count", "CG504", "time"),
        ("log10(users)", "count", "CG504", "users"),
        ("pages^size", "count", "CG505", "size"),
        ("size^part", "GiB", "CG505", "part"),
        ("size^(1 + 1)", "GiB^2", "CG505", "1 + 1"),
        ("size^1000", "GiB", "CG505", "size^1000"),
        ("ceil(time)", "s", "CG507", "time"),
        ("round(gpus * cost)", "USD/hour", "CG507", "gpus * cost"),
        ("floor(users / time)", "user/s", "CG507", "users / time"),
        ("on + 1", "count", "CG506", "on"),
        ("size * on", "GiB", "CG506", "on"),
        ("-on", "count", "CG506", "on"),
        ("abs(on)", "count", "CG506", "on"),
        ("not size", "yes/no", "CG506", "size"),
        ("size and on", "yes/no", "CG506", "size"),
        ("if(size, 1, 2)", "count", "CG506", "size"),
        ("if(on, on, 2)", "count", "CG506", "on"),
        ("card", "yes/no", "CG506", "card"),
        ("card * 2", "count", "CG506", "card"),
        ('mode < "fast"', "yes/no", "CG506", 'mode < "fast"'),
        ("mode = 1", "yes/no", "CG506", "mode = 1"),
        ("mode = on", "yes/no", "CG506", "mode = on"),
        ("size", "yes/no", "CG506", "size"),
        ("size > small", "GiB", "CG506", "size > small"),
        ('"fast"', "yes/no", "CG506", '"fast"'),
        ("size = small", "yes/no", "CG409", "size = small"),
        ("size <> 0", "yes/no", "CG409", "size <> 0"),
        ("on = true", "yes/no", "CG409", "on = true"),
        ('mode = "fsat"', "yes/no", "CG302", '"fsat"'),
        ('card.vendor = "Z"', "yes/no", "CG302", '"Z"'),
        ('"c" = card', "yes/no", "CG302", '"c"'),
    ],
)
def test_what_does_not_fit_is_told_at_its_place(formula: str, unit: str, code: str, place: str) -> None:
    result = run(formula, unit)
    assert result.codes == [code], result.found
    found = result.only
    assert found.span is not None
    assert found.span.source.line(found.span.line)[found.span.column - 1 : found.span.end_column - 1] == place
    assert found.help


@pytest.mark.parametrize(
    ("formula", "unit", "message", "help_text"),
    [
        (
            "size * users",
            "GiB",
            "`result` is declared in GiB, its formula gives GiB*user",
            "divide by `users` (user)",
        ),
        (
            "size + gpus * size",
            "GiB",
            "`+` needs one unit: `size` is in GiB, `gpus * size` in GPU*GiB",
            "`gpus` (GPU)",
        ),
        (
            "card.memory * 2",
            "GiB",
            "`result` is declared in GiB, its formula gives GiB/GPU",
            "multiply by `gpus` (GPU)",
        ),
        ("size = small", "yes/no", "numbers are not compared with `=`", "`abs(size - small) <= tolerance`"),
        ("on + 1", "count", "`+` needs a number; `on` is a yes/no", "`if(condition, 1, 0)`"),
        ("card * 2", "count", "`*` needs a number; `card` is a text", "`choice.field`"),
        (
            'mode = "fsat"',
            "yes/no",
            "`fsat` is none of the values it is compared with",
            "did you mean `fast`?",
        ),
        ("ceil(time)", "s", "`ceil` is of a count only; `time` is in s", "size of one piece"),
    ],
)
def test_a_message_says_both_sides_and_the_way_out(
    formula: str, unit: str, message: str, help_text: str
) -> None:
    found = run(formula, unit).only
    assert message in found.message
    assert help_text in found.help


def test_conversions_are_visible_and_named_once() -> None:
    plan = plan_of(MODEL.format(unit="MiB", formula="size + small + size"))
    step = plan.by_id["result"]
    assert isinstance(step, Compute)
    assert print_formula(step.expr) == "(size + small / MiB_per_GiB + size) * MiB_per_GiB"
    assert {name: constant.value for name, constant in plan.constants.items()} == {"MiB_per_GiB": 1024.0}


def test_nothing_is_converted_that_needs_no_conversion() -> None:
    plan = plan_of(MODEL.format(unit="GiB/s", formula="max(size, 0) / time"))
    step = plan.by_id["result"]
    assert isinstance(step, Compute)
    assert not any(isinstance(node, Scale) for node in walk(step.expr))


def test_every_mistake_of_a_model_is_told_at_once() -> None:
    text = MODEL.format(unit="GiB", formula="size + time") + (
        "checks: {c: {condition: size > time, message: m}, d: {condition: size, message: m}}\n"
        "decision: {options: {a: {}}, rules: [{when: ln(size) > 1, option: a, headline: h}]}\n"
    )
    assert run_text(text).codes == ["CG502", "CG502", "CG506", "CG504"]
