"""A text and a source of chance → the same text with one thing wrong.

In: the files of a model → Out: other files. Invariant: the same chance gives the same mutation; nothing is a no-op
by design, though a mutation may happen to change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

import yaml

from fuzz.corpus import FORMULA_KEYS, Files, is_text, nodes, pieces

_CHARACTERS: tuple[str, ...] = (
    *"\0\x01\x07\x1b\x7f\t\n\r \"'`{}[]():;,#&*!|>%@-?~<=^/\\._0aZ",
    "\x85", "\xa0", "\xad", "\u0301", "\u200b", "\u200e", "\u202e", "\u2028", "\u2066", "\u3000", "\ufeff", "\ufffe",
    "\ud800", "\udcff", "²", "µ", "é", "ß", "א", "ع", "٣", "字", "𝛼", "😀",
)  # fmt: skip
_NUMBERS = (
    "0", "-0", "-1", "1e308", "-1e308", "1.7976931348623157e308", "1e309", "1e-320", "1e999999999999", "9" * 400,
    "0." + "0" * 400 + "1", "1e5", "0.1", "1/3", "0x1F", "010", "1_000", "1__0", ".5", "5.", "+3", "- 3", "1e", "nan",
    ".inf", "-.Inf", "infinity", "30%", "-5 %", "1e300%", "1 GiB", "80 GB/GPU", "3 parsec", "12:30", "2026-11-30", "١٢",
)  # fmt: skip
# Numbers that a quantity may have, and that its users may not expect.
_EXTREMES = ("0", "1", "-1", "1e-9", "1e9", "1e150", "1e300", "1e-300", "0%")
_VALUES = (
    "", "~", "null", "true", "no", "''", '""', "x", "two words", "[]", "{}", "[1, 2]", "[[1]]", "[a: b]", "{a: 1}",
    "{value: 1}", "{value: 1, unit: GB}", "{formula: a, unit: count}", "[null]", "{null: null}", "{? [a] : b}",
    "|\n  text\n", "&a 1", "*a", "!!int 3", "!!python/object:os.system x", "<<: 1", "- 1", "'{a:3 GB}'", "'{'", "base",
    "rows", "count", "yes/no", "llm-serving", "..", "/etc/passwd", "model.yaml", "x" * 5000, "'" + "a " * 3000 + "'",
)  # fmt: skip
_UNITS = (
    "GB", "GiB/GPU", "kW", "MW*hour", "USD/month", "token/s/replica", "%", "count", "1", "", "byte^2", "byte^99",
    "byte^" + "9" * 5000, "1/s", "GPU-hour", "GB²", "µs", "Gb", "degC", "dB", "meter", "USD/USD", "s^-1", "/s", "GB/",
    "GB//s", "(GB)", "GB GB", "yes/no", "base", "٣", "_", "__class__", "delta_degC", "GiB/" * 500 + "s",
)  # fmt: skip
_KEYS = ("null", "true", "1", "a.b", "a b", "if", "<<", "=", "größe", "_", "A1", "R1C1")
_OPERATORS = ("+", "-", "*", "/", "^", "<", "<=", ">=", "=", "<>", "and", "or", "not", ",", "(", ")", "where", "over")
_CALLS = ("min", "max", "abs", "sqrt", "exp", "ln", "log10", "log2", "ceil", "floor", "round", "clamp", "if", "sum",
          "count", "first", "last", "interpolate", "nothing")  # fmt: skip
_TOKENS = re.compile(r"[^\W\d][\w.]*|[\d.]+|\"[^\"]*\"|\S")

Mutation = Callable[[Random, str], str]


def _line_range(chance: Random, lines: list[str]) -> tuple[int, int]:
    first = chance.randrange(len(lines)) if lines else 0
    return first, min(len(lines), first + chance.choice((1, 1, 1, 2, 5, 20)))


def delete_lines(chance: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    first, last = _line_range(chance, lines)
    return "".join(lines[:first] + lines[last:])


def double_lines(chance: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    first, last = _line_range(chance, lines)
    return "".join(lines[:last] + lines[first:])


def move_lines(chance: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    first, last = _line_range(chance, lines)
    moved, rest = lines[first:last], lines[:first] + lines[last:]
    place = chance.randint(0, len(rest))
    return "".join(rest[:place] + moved + rest[place:])


def swap_lines(chance: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        one, other = chance.sample(range(len(lines)), 2)
        lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def indent_lines(chance: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    first, last = _line_range(chance, lines)
    shift = chance.choice(("  ", " ", "\t", "    "))
    changed = [shift + line if chance.random() < 0.5 else line[len(shift) :] for line in lines[first:last]]
    return "".join(lines[:first] + changed + lines[last:])


def garble_characters(chance: Random, text: str) -> str:
    made = list(text)
    for _ in range(chance.choice((1, 1, 1, 3, 10))):
        if made:
            place = chance.randrange(len(made))
            made[place] = chance.choice((chance.choice(_CHARACTERS), chance.choice(made), ""))
    return "".join(made)


def insert_characters(chance: Random, text: str) -> str:
    place = chance.randint(0, len(text))
    return text[:place] + chance.choice(_CHARACTERS) * chance.choice((1, 1, 1, 2, 300)) + text[place:]


def cut(chance: Random, text: str) -> str:
    first, last = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
    return chance.choice((text[:first], text[last:], text[:first] + text[last:], ""))


def change_line_ends(chance: Random, text: str) -> str:
    return text.replace("\n", chance.choice(("\r\n", "\r", "\x85", "\u2028", "\n\n", "\t\n", " ")))


def change_encoding(chance: Random, text: str) -> str:
    clean = text.encode("utf-8", "replace").decode()
    encoded = clean.encode(chance.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7")))
    return encoded.decode("utf-8", "surrogateescape")


def _replaced(text: str, node: yaml.Node, made: str) -> str:
    first, last = node.start_mark.index, node.end_mark.index
    # A block ends at the line behind it.
    tail = "\n" if text[first:last].endswith("\n") and not made.endswith("\n") else ""
    return text[:first] + made + tail + text[last:]


def _written(text: str, node: yaml.Node) -> str:
    return text[slice(node.start_mark.index, node.end_mark.index)]


def change_type(chance: Random, text: str) -> str:
    found = nodes(text)
    return _replaced(text, chance.choice(found), chance.choice(_VALUES)) if found else text


def change_number(chance: Random, text: str) -> str:
    found = [node for node in nodes(text) if is_text(node) and re.match(r"[-.\d]", node.value)]
    for _ in range(chance.choice((1, 1, 1, 5))):
        if found:
            node = found.pop(chance.randrange(len(found)))
            made = _replaced(text, node, chance.choice((chance.choice(_NUMBERS), chance.choice(_EXTREMES))))
            found = [other for other in found if other.end_mark.index <= node.start_mark.index]
            text = made
    return text


def nest(chance: Random, text: str) -> str:
    found = nodes(text)
    if not found:
        return text
    node = chance.choice(found)
    depth = chance.choice((1, 1, 2, 10, 59, 61, 500, 20_000))
    before, after = chance.choice((("[", "]"), ("{a: ", "}"), ("- ", ""), ("a:\n  ", ""), ("(", ")"), ("'", "'")))
    return _replaced(text, node, before * depth + _written(text, node) + after * depth)


def swap_nodes(chance: Random, text: str) -> str:
    found = [node for node in nodes(text) if is_text(node) == (chance.random() < 0.9)]
    if len(found) < 2:
        return text
    one, other = sorted(chance.sample(found, 2), key=lambda node: node.start_mark.index)
    if other.start_mark.index < one.end_mark.index:
        return text
    return _replaced(_replaced(text, other, _written(text, one)), one, _written(text, other))


def _values(text: str, keys: frozenset[str]) -> list[yaml.Node]:
    """Return the scalars under some keys."""
    return [
        value
        for node in nodes(text)
        if isinstance(node, yaml.MappingNode)
        for key, value in node.value
        if is_text(key) and key.value in keys and is_text(value)
    ]


def change_unit(chance: Random, text: str) -> str:
    found = _values(text, frozenset({"unit"}))
    if not found:
        return text
    known = pieces().units
    made = chance.choice((
        chance.choice(_UNITS),
        chance.choice(known),
        chance.choice(known) + chance.choice(("/", "*", "^", "-", " ", "·")) + chance.choice((*known, "2", "3")),
    ))  # fmt: skip
    return _replaced(text, chance.choice(found), _quoted(made))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def splice_formulas(chance: Random, text: str) -> str:
    found = _values(text, FORMULA_KEYS)
    if not found:
        return text
    node = chance.choice(found)
    own, other = (_TOKENS.findall(formula) for formula in (node.value, chance.choice(pieces().formulas)))
    place, first, last = chance.randint(0, len(own)), chance.randint(0, len(other)), chance.randint(0, len(other))
    made = own[:place] + other[min(first, last) : max(first, last)] + own[chance.randint(0, len(own)) :]
    return _replaced(text, node, _quoted(" ".join(made)))


def garble_formula(chance: Random, text: str) -> str:
    found = _values(text, FORMULA_KEYS)
    if not found:
        return text
    node = chance.choice(found)
    made = _TOKENS.findall(node.value)
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = chance.randint(0, len(made))
        word = chance.choice((
            chance.choice(_OPERATORS), chance.choice(_CALLS), chance.choice(pieces().names), chance.choice(_NUMBERS),
            f"{chance.choice(pieces().names)}.{chance.choice(pieces().names)}",
        ))  # fmt: skip
        made[place : place + chance.randint(0, 1)] = [word]
    return _replaced(text, node, _quoted(" ".join(made)))


def wrap_formula(chance: Random, text: str) -> str:
    found = _values(text, FORMULA_KEYS)
    if not found:
        return text
    node = chance.choice(found)
    name, formula = chance.choice(pieces().names), node.value
    shape = chance.choice((
        "-({f})", "not ({f})", "({f}) / ({f})", "({f}) / (({f}) - ({f}))", "({f}) ^ ({f})", "({f}) ^ 0.5", "2 ^ ({f})",
        "exp({f})", "sqrt({f})", "ln(({f}) - ({f}))", "ceil({f})", "if({f}, {n}, {f})", "if({f} > 0, {f}, 0)",
        "min({f}, {n})", "({f}) + {n}", "({f}) * {n}", "({f}) < {n}", "({f}) = \"{n}\"", "sum({f} over {n})",
        "first({n} where {f} over volume)", "count({f} over {n})", "interpolate({f} at {n} over {n})",
        "({f}) * 1e308 * 10", "({f}) ^ 400", "({f}) ^ 1e9", "{f} + {f}", "{n}",
    ))  # fmt: skip
    made = shape.replace("{f}", formula).replace("{n}", name)
    for _ in range(chance.choice((0, 0, 0, 3, 50))):
        made = f"({made})"
    return _replaced(text, node, _quoted(made))


def swap_names(chance: Random, text: str) -> str:
    """Exchange two words everywhere, or write one for the other."""
    words = sorted(set(re.findall(r"[^\W\d]\w*", text)))
    if len(words) < 2:
        return text
    one, other = chance.sample(words, 2)
    other = chance.choice((other, chance.choice(pieces().names), chance.choice(pieces().keys)))
    both = chance.random() < 0.5
    exchange = {one: other, other: one} if both else {one: other}
    return re.sub(r"[^\W\d]\w*", lambda found: exchange.get(found[0], found[0]), text)


def rename_key(chance: Random, text: str) -> str:
    keys = [key for node in nodes(text) if isinstance(node, yaml.MappingNode) for key, _ in node.value if is_text(key)]
    if not keys:
        return text
    return _replaced(text, chance.choice(keys), chance.choice((*pieces().keys, *_KEYS)))


def add_entry(chance: Random, text: str) -> str:
    """Add what a file may hold at its end."""
    name, other = chance.choice(pieces().names), chance.choice(pieces().names)
    formula = chance.choice(pieces().formulas)
    entry = chance.choice((
        f"extends: {chance.choice(('llm-serving', 'photo-archive', '.', 'model.yaml', '../x', 'fuzz'))}",
        f"units: {{{name}: base, {other}: 12 {name}, zoll: {chance.choice(_NUMBERS)} {other}}}",
        f"sweeps: {{{name}: {{over: {other}, from: {chance.choice(_NUMBERS)}, to: {chance.choice(_NUMBERS)}, "
        f"points: {chance.choice(('2', '2000', '-1', '1e9', '3.5'))}, scale: {chance.choice(('log', 'linear'))}}}}}",
        f"quantities: {{{name}: {{formula: {_quoted(formula)}, unit: {chance.choice(pieces().units) or 'count'}}}}}",
        f"scenarios: {{{name}: {{extends: {other}, set: {{{name}: {chance.choice(_NUMBERS)}}}}}}}",
        f"checks: {{{name}: {{condition: {_quoted(formula)}, message: '{{{name}}} {{{other}:2 GB}}'}}}}",
        f"charts: {{{name}: {{parts: [{name}, {other}], whole: {name}}}}}",
        f"levers: {{{name}: {{set: {{{name}: {other}}}, shows: [{other}]}}}}",
        f"key_figures: [{name}, {other}, 3, null]",
        f"include: [{name}.yaml, model.yaml, ../model.yaml, '', /etc/passwd]",
    ))  # fmt: skip
    return f"{text.rstrip()}\n{entry}\n"


TEXT_MUTATIONS: Mapping[str, Mutation] = {
    function.__name__: function
    for function in (
        delete_lines, double_lines, move_lines, swap_lines, indent_lines, garble_characters, insert_characters, cut,
        change_line_ends, change_encoding, change_type, change_number, nest, swap_nodes, change_unit, splice_formulas,
        garble_formula, wrap_formula, swap_names, rename_key, add_entry,
    )
}  # fmt: skip

# After most of these a text is no YAML any more, and no later stage sees it.
SYNTAX_MUTATIONS = frozenset(
    {"indent_lines", "garble_characters", "insert_characters", "cut", "change_line_ends", "change_encoding", "nest"}
)


def join_files(chance: Random, files: Files) -> None:
    """Write one file behind another."""
    one, other = chance.choice(list(files)), chance.choice(list(files))
    files[one] = files[one] + chance.choice(("", "\n", "\n---\n")) + files[other]


def swap_files(chance: Random, files: Files) -> None:
    """Exchange two files."""
    one, other = chance.choice(list(files)), chance.choice(list(files))
    files[one], files[other] = files[other], files[one]


def lose_file(chance: Random, files: Files) -> None:
    """Take a file away, unless it is the last."""
    if len(files) > 1:
        del files[chance.choice(list(files))]


FILE_MUTATIONS: Mapping[str, Callable[[Random, Files], None]] = {
    function.__name__: function for function in (join_files, swap_files, lose_file)
}
