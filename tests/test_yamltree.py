"""YAML text to tree: nothing interpreted, every place right, nothing that explodes."""

from __future__ import annotations

import pytest

from capgraph.diagnostics import Diagnostic, Source, Span
from capgraph.yamltree import MAX_ALIASED_NODES, MAX_DEPTH, Map, Node, Scalar, Seq, read


def tree(text: str) -> Node:
    """Return the tree of a text that is right."""
    made, found = read(Source("t.yaml", text))
    assert found == ()
    return made


def value(text: str) -> Node:
    """Return the value of the one key of a text."""
    made = tree(text)
    assert isinstance(made, Map)
    (only,) = made.values()
    return only


def scalar(text: str) -> Scalar:
    """Return the scalar under the one key of a text."""
    made = value(text)
    assert isinstance(made, Scalar)
    return made


def only(text: str) -> Diagnostic:
    """Return the one thing that is wrong with a text."""
    _, found = read(Source("t.yaml", text))
    assert len(found) == 1, found
    return found[0]


def marked(span: Span) -> str:
    """Return the characters that a span covers, with line ends as they are."""
    lines = span.source.text.split("\n")
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    first, *middle = lines[span.line - 1 : span.end_line - 1]
    return "\n".join((first[span.column - 1 :], *middle, lines[span.end_line - 1][: span.end_column - 1]))


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "on",
        "010",
        "0x1F",
        "1e+9",
        "1_000",
        "12:30",
        "30%",
        "2026-11-30",
        ".inf",
        "true",
        "=",
        "größe",
        "1.0",
    ],
)
def test_a_scalar_stays_the_text_that_was_written(text: str) -> None:
    assert value(f"key: {text}\n") == text
    assert value(f"key: '{text}'\n") == text
    assert tree(f"{text}: x") == {text: "x"}


@pytest.mark.parametrize("text", ["", "~", "null", " # a comment", "\n"])
def test_nothing_is_none(text: str) -> None:
    assert value(f"key: {text}") is None


@pytest.mark.parametrize("text", ["''", '""', "'null'", '"~"'])
def test_quoted_nothing_is_a_text(text: str) -> None:
    assert value(f"key: {text}") == text[1:-1]


def test_an_empty_file_is_none() -> None:
    assert tree("") is None
    assert tree("# only a comment\n") is None
    assert tree("---\n") is None


def test_mappings_and_sequences_keep_their_order_and_place() -> None:
    made = tree("b: [x, y]\na:\n  - 1\n  - {k: v}\n")
    assert isinstance(made, Map)
    assert list(made) == ["b", "a"]
    inner = made[Scalar("a")]
    assert isinstance(inner, Seq)
    assert (inner.span.line, inner.span.column) == (3, 3)
    keys = list(made)
    assert [(key.span.line, key.span.column, marked(key.span)) for key in keys] == [(1, 1, "b"), (2, 1, "a")]


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("f: a + bb * c\n", "bb", "bb"),
        ("f: 'a + bb * c'\n", "bb", "bb"),
        ('f: "a + bb * c"\n', "bb", "bb"),
        ("f: |\n  a +\n    bb * c\n", "bb", "bb"),
        ("f: |2-\n    a +\n  bb\n", "bb", "bb"),
        ("f: > # why\n  a +\n  bb * c\n", "bb", "bb"),
        ("f: >-\n\n  a +\n\n  bb * c\n", "bb", "bb"),
        ("f: a +\n   bb\n   * c\n", "bb", "bb"),
        ("f: 'a +\n\n   bb'\n", "bb", "bb"),
        ('f: "a +\n   bb"\n', "bb", "bb"),
        ("f: &f bb + f\n", "f", "f"),
        ("f: !!str &b 'a + bb'\n", "bb", "bb"),
        ("f: &x |\n  x + bb\n", "x", "x"),
        ("f: '''a'' + bb'\n", "bb", "bb"),
        ("f: 'x = '''' + bb'\n", "bb", "bb"),
        ("f: 'x = '''' + bb'\n", "''", "'''"),
        ("f: {f: bb}\n", "bb", "bb"),
        ("f: größe + 𝛼𝛽 + bb\n", "bb", "bb"),
        ("f: größe + 𝛼𝛽 + bb\n", "𝛼𝛽", "𝛼𝛽"),
        ("# 𝛼\r\nf: a + bb\r\n", "bb", "bb"),
        ("\ufefff: a + bb\n", "bb", "bb"),
    ],
)
def test_a_place_inside_a_scalar_is_found(text: str, wanted: str, found: str) -> None:
    item = value(text)
    inner = next(iter(item.values())) if isinstance(item, Map) else item
    assert isinstance(inner, Scalar)
    first = inner.rindex(wanted)
    assert marked(inner.within(first, first + len(wanted))) == found
    assert marked(inner.part(first, first + len(wanted)).span) == found


@pytest.mark.parametrize("text", ['f: "a\\x20+ bb"\n', 'f: "a \\\n   + bb"\n', 'f: "\\u0061 + bb"\n'])
def test_with_escapes_the_whole_scalar_is_the_place(text: str) -> None:
    item = scalar(text)
    assert item == "a + bb"
    assert item.within(4, 6) == item.span
    assert item.part(4, 6).within(0, 1) == item.span
    assert marked(item.span) == text[3:-1]


def test_a_part_knows_the_places_inside_it() -> None:
    item = scalar("message: 'it''s {weights:1 GiB}'\n").part(14, 19)
    assert (item, marked(item.span), marked(item.within(2, 5))) == ("1 GiB", "1 GiB", "GiB")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u0085\n", "\u2028\n"])
def test_lines_are_counted_as_an_editor_counts_them(end: str) -> None:
    key = next(iter(value(f"# one{end}# two{end}a:{end}  b: {{c: 1}}{end}") or ()))
    assert isinstance(key, Scalar)
    assert (key, key.span.line, key.span.column, marked(key.span)) == ("b", 4, 3, "b")


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a: 1\n\tb: 2\n", "CG102", (2, 1)),
        ("a:\n  b: 1\n \tc: 2\n", "CG102", (3, 2)),
        ("a: b: c\n", "CG101", (1, 5)),
        ("a: [1, 2\nb: 3\n", "CG101", (2, 2)),
        ("a: {b: 1\n", "CG101", (1, 4)),
        ("a: 'open\n", "CG101", (1, 4)),
        ("a: *nowhere\n", "CG101", (1, 4)),
        ("a: @x\n", "CG101", (1, 4)),
        ("a: %x\n", "CG101", (1, 4)),
        ('a: "\\q"\n', "CG101", (1, 5)),
        ("a: 1\n  b: 2\n", "CG101", (2, 4)),
        ("a: 1\n---\nb: 2\n", "CG101", (2, 1)),
        ("a: x\0y\n", "CG101", (1, 5)),
        ("a: 1\nb: \x1b[31m\n", "CG101", (2, 4)),
        ('a: "x\\0y"\n', "CG101", (1, 4)),
        ('"a\\e[31m": x\n', "CG101", (1, 1)),
        ('a: "\\uFFFF"\n', "CG101", (1, 4)),
        ("? [a]\n: b\n", "CG103", (1, 3)),
        ("a: 1\nb: 2\na: 3\n", "CG104", (3, 1)),
        ("a: 1\n'a': 3\n", "CG104", (2, 1)),
        ("a: &a [*a]\n", "CG106", (1, 4)),
        ("a: &a\n  b: *a\n", "CG106", (1, 4)),
        ("a: !!python/object/apply:os.system [x]\n", "CG107", (1, 4)),
        ("a: !secret x\n", "CG107", (1, 4)),
        ("x: &x {k: 1}\na: {<<: *x}\n", "CG108", (2, 5)),
    ],
)
def test_what_is_wrong_has_a_place_and_a_way_out(text: str, code: str, place: tuple[int, int]) -> None:
    found = only(text)
    assert found.span is not None
    assert (found.code, (found.span.line, found.span.column)) == (code, place)
    assert found.help
    assert "\n" not in found.message


def test_a_tab_elsewhere_is_no_tab_mistake() -> None:
    assert value("a: x\ty\n") == "x\ty"
    assert only("a: 'x\ty' z\n").code == "CG101"


def test_a_bracket_that_is_not_closed_is_shown() -> None:
    (opened,) = only("a: [1, 2\nb: 3\n").related
    assert (opened.span.line, opened.span.column) == (1, 4)


def test_the_first_of_two_equal_keys_is_named_too() -> None:
    (first,) = only("a: 1\nb: 2\na: 3\n").related
    assert (first.span.line, first.span.column) == (1, 1)


def test_a_quoted_merge_key_is_a_key() -> None:
    assert tree("'<<': x\n") == {"<<": "x"}


@pytest.mark.parametrize(
    "deep", ["[" * 50_000, "[" * 900 + "]" * 900, "- " * 50_000 + "x", "{a: " * 900 + "}" * 900]
)
def test_deep_nesting_is_refused(deep: str) -> None:
    assert only(f"a: {deep}" if deep[0] != "-" else deep).code == "CG106"


def test_nesting_up_to_the_limit_is_read() -> None:
    assert isinstance(value("a: " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)), Seq)


def test_many_deep_entries_are_one_mistake() -> None:
    deep = "[" * 70 + "]" * 70
    assert only("".join(f"k{number}: {deep}\n" for number in range(20))).code == "CG106"


def test_an_alias_bomb_is_refused_before_it_explodes() -> None:
    levels = [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 40)]
    found = only("\n".join(("a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *levels)))
    assert (found.code, str(MAX_ALIASED_NODES) in found.message) == ("CG105", True)


def test_an_alias_used_twice_is_no_bomb() -> None:
    assert tree("a: &a {k: [1, 2]}\nb: *a\nc: *a\n") == {
        "a": {"k": ["1", "2"]},
        "b": {"k": ["1", "2"]},
        "c": {"k": ["1", "2"]},
    }


def test_a_huge_scalar_is_read() -> None:
    text = "x" * 2_000_000
    assert value(f"a: {text}\n") == text
