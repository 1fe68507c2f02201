"""Models of any size, written as people write them: sections, units that convert, catalogs, checks, scenarios.

In: a number of quantities → Out: YAML. Invariant: the model is right, and every part grows with the number.
"""

from __future__ import annotations

ROWS = 40


def large_model(size: int, scenarios: int = 3) -> str:
    """Return a model of `size` quantities: a fifth inputs, the rest formulas of up to four others."""
    inputs = max(2, size // 5)
    lines = ["model: large", "title: A large model", "catalog: parts", "fields:",
             "  memory: {unit: GiB/GPU}", "  speed: {unit: TB/s/GPU}", "rows:"]  # fmt: skip
    for row in range(ROWS):
        lines.append(f"  part-{row}: {{memory: {row + 16}, speed: {row / 10 + 1}, source: generated}}")
    lines += ["quantities:", "  part: {choose: parts, source: generated}"]
    lines += [line for number in range(inputs) for line in _input(number)]
    lines += [line for number in range(size - inputs - 1) for line in _formula(number, inputs)]
    lines += ["checks:"]
    for number in range(0, size - inputs - 1, 50):
        lines += [
            f"  fits_{number}:",
            f"    condition: step_{number} < 1e9 * input_0",
            f"    message: '{{step_{number}:1 GB}} must be less than {{input_0:2}} a thousand million times'",
        ]
    lines += ["scenarios:"]
    for number in range(scenarios):
        settings = ", ".join(f"input_{place}: {number + 1}" for place in range(0, inputs, 100))
        lines.append(f"  case-{number}: {{set: {{part: part-{number}, {settings}}}}}")
    return "\n".join(lines) + "\n"


def _input(number: int) -> list[str]:
    unit = ("GiB", "GB", "MB")[number % 3]
    return [
        f"  input_{number}:",
        f"    label: Input number {number}",
        f"    unit: {unit}",
        f"    value: {number % 97 + 1}",
        f"    range: [{(number % 97 + 1) / 2}, {(number % 97 + 1) * 2}]",
        "    source: generated",
    ]


def _formula(number: int, inputs: int) -> list[str]:
    one, other = f"input_{number % inputs}", f"input_{number * 7 % inputs}"
    before = f"step_{number - 1 - number % 10}" if number >= 10 else one
    memory = " + part.memory * gpus" if number % 20 == 0 and number else ""
    first = ["  gpus: {unit: GPU, formula: one_gpu * 2}", "  one_gpu: {unit: GPU, value: 1, source: generated}"]
    return [
        *(first if number == 0 else ()),
        f"  step_{number}:",
        f"    label: Step number {number}",
        f"    unit: {('GB', 'GiB')[number % 2]}",
        f"    formula: max({one} + {other}{memory}, ({before} + {one}) / 2) - 0.5 * {other}",
        "    because: It adds up what stands before it.",
    ]


def chain(depth: int) -> str:
    """Return a model in which each quantity needs the one before it."""
    lines = ["model: chain", "quantities:", "  step_0: {unit: GB, value: 1, source: generated}"]
    for number in range(1, depth + 1):
        lines.append(f"  step_{number}: {{unit: GB, formula: step_{number - 1} + step_0}}")
    return "\n".join(lines) + "\n"
