"""The shape of files: every key that is unknown, missing or of the wrong shape is one message at its place."""

from __future__ import annotations

import pytest

from capgraph.declarations import FileDecl
from capgraph.decode import decode
from capgraph.diagnostics import Diagnostic, Source, Span
from capgraph.yamltree import Scalar, read


def decoded(text: str) -> tuple[FileDecl | None, tuple[Diagnostic, ...]]:
    """Decode a text that is right as YAML."""
    source = Source("t.yaml", text)
    tree, found = read(source)
    assert found == ()
    return decode(tree, Span(source, 1, 1, 1, 2))


def test_scalars_stay_raw_and_keep_their_place() -> None:
    declared, found = decoded("quantities:\n  x: {unit: GiB, value: 010, because: no}\n")
    assert found == ()
    assert declared is not None
    ((name, quantity),) = declared.quantities.items()
    assert quantity is not None
    assert (quantity.value, quantity.because) == ("010", "no")
    assert isinstance(quantity.value, Scalar)
    assert str(quantity.value.span) == "t.yaml:2:25"
    assert str(name.span) == "t.yaml:2:3"


def test_a_plans_rows_may_stand_right_under_the_catalog() -> None:
    for text in ("catalogs: {c: {a: {f: 1}, b: null}}\n", "catalogs: {c: {rows: {a: {f: 1}, b: null}}}\n"):
        declared, found = decoded(text)
        assert found == ()
        assert declared is not None
        assert declared.catalogs[Scalar("c")].rows == {"a": {"f": "1"}, "b": None}


def test_what_a_file_leaves_out_is_empty() -> None:
    declared, _ = decoded("title: T\ndescription:\n")
    assert declared is not None
    assert (declared.title, declared.description, declared.quantities, declared.include) == (
        "T",
        None,
        {},
        (),
    )


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("", "CG112", "", "a model file is a mapping of keys; this one holds nothing"),
        ("[a]", "CG112", "[a]", "a model file is a mapping of keys; this one holds a list"),
        ("text", "CG112", "text", "a model file is a mapping of keys; this one holds a single text"),
        ("quantites: {}", "CG201", "quantites", "unknown key `quantites`"),
        ("quantities: {x: {valeu: 1}}", "CG201", "valeu", "unknown key `valeu`"),
        ("scenarios: {a: {sett: {x: 1}}}", "CG201", "sett", "unknown key `sett`"),
        ("catalogs: {c: {fields: {f: {typ: text}}}}", "CG201", "typ", "unknown key `typ`"),
        ("decision: {rules: [{option: a, headline: h, wen: x}]}", "CG201", "wen", "unknown key `wen`"),
        ("decision: {options: {a: {costs: x}}}", "CG201", "costs", "unknown key `costs`"),
        ("quantities: {x: {formula: max(1, a, b)}}", "CG201", "a", "a comma ends the text before `a`"),
        (
            "quantities: {x: {because: so, and so, on}}",
            "CG201",
            "and so",
            "a comma ends the text before `and so`",
        ),
        ("checks: {c: {condition: x}}", "CG202", "c", "`c` lacks the key `message`"),
        ("levers: {lever: {}}", "CG202", "lever", "`lever` lacks the key `set`"),
        ("charts: {c: {}}", "CG202", "c", "`c` lacks the key `parts`"),
        (
            "decision: {rules: [{option: a}]}",
            "CG202",
            "{option: a}",
            "entry 1 of `rules` lacks the key `headline`",
        ),
        ("model: [a]", "CG203", "[a]", "`model` is a list; needed is a text or a number"),
        ("quantities: [a]", "CG203", "[a]", "`quantities` is a list; needed is a mapping of keys"),
        ("quantities:", "CG203", "quantities", "`quantities` is empty; needed is a mapping of keys"),
        ("quantities: {x: 5}", "CG203", "5", "`x` is `5`; needed is a mapping of keys"),
        ("quantities: {x: {unit: [a]}}", "CG203", "[a]", "`unit` is a list; needed is a text or a number"),
        (
            "quantities: {x: {value: {a: 1}}}",
            "CG203",
            "value",
            "`value` is a mapping; needed is a text or a number",
        ),
        ("quantities: {x: {range: 5}}", "CG203", "5", "`range` is `5`; needed is a list `[low, high]`"),
        (
            "quantities: {x: {range: [1]}}",
            "CG203",
            "[1]",
            "`range` has one entry; needed is a list `[low, high]`",
        ),
        (
            "quantities: {x: {range: [1, 2, 3]}}",
            "CG203",
            "[1, 2, 3]",
            "`range` has 3 entries; needed is a list `[low, high]`",
        ),
        (
            "quantities: {x: {range: [1, [2]]}}",
            "CG203",
            "[2]",
            "entry 2 of `range` is a list; needed is a text or a number",
        ),
        (
            "quantities: {x: {range: [1, ~]}}",
            "CG203",
            "[1, ~]",
            "entry 2 of `range` is empty; needed is a text or a number",
        ),
        (
            "quantities: {x: {choose: {a: 1}}}",
            "CG203",
            "choose",
            "`choose` is a mapping; needed is a text or a number",
        ),
        (
            "quantities: {x: {choose: [a, [b]]}}",
            "CG203",
            "[b]",
            "entry 2 of `choose` is a list; needed is a text or a number",
        ),
        ("include: a.yaml", "CG203", "a.yaml", "`include` is `a.yaml`; needed is a list"),
        ("key_figures: x", "CG203", "x", "`key_figures` is `x`; needed is a list"),
        ("decision: {alerts: text}", "CG203", "text", "`alerts` is `text`; needed is a list"),
        ("decision: {rules: {a: b}}", "CG203", "rules", "`rules` is a mapping; needed is a list"),
        ("decision: {rules: [a]}", "CG203", "a", "entry 1 of `rules` is `a`; needed is a mapping of keys"),
        ("checks: {c: text}", "CG203", "text", "`c` is `text`; needed is a mapping of keys"),
        ("scenarios: {a: {set: {x: }}}", "CG203", "x", "`x` is empty; needed is a text or a number"),
        ("scenarios: {a: {set: }}", "CG203", "set", "`set` is empty; needed is a mapping of keys"),
        ("catalogs: {c: [a]}", "CG203", "[a]", "`c` is a list; needed is a mapping of keys"),
        ("catalogs: {c: {rows: {a: 5}}}", "CG203", "5", "`a` is `5`; needed is a mapping of keys"),
        ("catalogs: {c: {a: {f: [1]}}}", "CG203", "[1]", "`f` is a list; needed is a text or a number"),
        (
            "checks: {c: {condition: x, message: m, severity: fatal}}",
            "CG204",
            "fatal",
            "`severity` is `fatal`; needed is `error` or `warning`",
        ),
        (
            "catalogs: {c: {fields: {f: {type: txt}}}}",
            "CG204",
            "txt",
            "`type` is `txt`; needed is `number`, `text` or `yes/no`",
        ),
    ],
)
def test_what_does_not_fit_is_one_message(text: str, code: str, place: str, message: str) -> None:
    declared, found = decoded(text)
    assert declared is None
    assert [(item.code, item.message) for item in found] == [(code, message)]
    (item,) = found
    assert item.help
    assert item.span is not None
    first, last = item.span.column - 1, item.span.end_column - 1
    assert (text[first:last], item.span.line) == (place, 1)


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("quantites: {}", "did you mean `quantities`?"),
        ("quantities: {x: {tags: []}}", "keys here: `as_of`, `because`, `choose`"),
        ("quantities: {users: 5_000}", "write `users: {value: 5_000}`"),
        ("quantities: {x: {range: 5}}", "write `range: [1, 2]`"),
        ("include: a.yaml", "write `include: [a.yaml]`"),
        ("checks: {c: {message: m}}", "add `condition: …`"),
    ],
)
def test_the_way_out_is_said(text: str, way_out: str) -> None:
    _, (found,) = decoded(text)
    assert way_out in found.help


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    text = "modl: m\nquantities:\n  x: {valu: 1, range: 2}\n  y: 3\nchecks:\n  c: {condition: x}\n"
    _, found = decoded(text)
    assert sorted((item.code, item.span.line) for item in found if item.span) == [
        ("CG201", 1),
        ("CG201", 3),
        ("CG202", 6),
        ("CG203", 3),
        ("CG203", 4),
    ]
