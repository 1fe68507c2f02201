"""Defined names that every spreadsheet accepts: ids in → a name for each, all different.

In: the ids to name, most important first → Out: id → defined name.
Invariant: no name reads as a cell, a row or column, a truth value or a name that spreadsheets keep for
themselves; names differ by more than case; an id that is safe already keeps its spelling, so `server.capacity`
stays `server.capacity`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

LONGEST = 255

# A1 up to any column of three letters, whatever the row: engines differ in where their sheets end.
_CELL = re.compile(r"[a-z]{1,3}\d+", re.IGNORECASE)
_ROW_COLUMN = re.compile(r"(r\d*)?(c\d*)?", re.IGNORECASE)
_RESERVED = frozenset(
    {
        "true", "false", "null", "print_area", "print_titles", "criteria", "database", "extract", "consolidate_area",
        "sheet_title", "auto_open", "auto_close", "auto_activate", "auto_deactivate", "recorder", "data_form",
    }
)  # fmt: skip


def allot_names(wanted: Iterable[tuple[Key, str]]) -> Mapping[Key, str]:
    """Give each key a defined name as near to its wanted spelling as spreadsheets allow; earlier keys choose first."""
    taken: set[str] = set()
    allotted: dict[Key, str] = {}
    for key, spelling in wanted:
        safe = name = safe_name(spelling)
        number = 1
        while name.casefold() in taken:
            # `x_` for the second of a kind, numbers from the third on.
            tail = "_" if number == 1 else f"_{number}"
            name = f"{safe[: LONGEST - len(tail)]}{tail}"
            number += 1
        taken.add(name.casefold())
        allotted[key] = name
    return allotted


def safe_name(spelling: str) -> str:
    """Return the spelling with a trailing `_` where a spreadsheet would read it as something other than a name."""
    name = re.sub(r"[^\w.]", "_", spelling)
    if not re.match(r"[^\W\d]", name):
        name = f"_{name}"
    # `h100.memory` begins like a cell, and some engines read it so.
    head, dot, tail = name[: LONGEST - 1].partition(".")
    return f"{head}_{dot}{tail}" if _is_taken(head) else f"{head}{dot}{tail}"


def _is_taken(name: str) -> bool:
    lowered = name.casefold()
    return bool(
        _CELL.fullmatch(name)
        or _ROW_COLUMN.fullmatch(name)
        or lowered in _RESERVED
        or lowered.startswith(("_xl", "xl_"))
    )


def sheet_titles(wanted: Iterable[str], reserved: Iterable[str]) -> tuple[str, ...]:
    """Return a sheet title for each wanted one: at most 31 characters, none that sheets may not hold, all different."""
    taken = {title.casefold() for title in (*reserved, "History")}
    titles = []
    for text in wanted:
        short = re.sub(r"[\[\]:*?/\\\x00-\x1f]", "_", text).strip("' ")[:31] or "_"
        number, title = 1, short
        while title.casefold() in taken:
            number += 1
            title = f"{short[: 31 - len(str(number)) - 1]}_{number}"
        taken.add(title.casefold())
        titles.append(title)
    return tuple(titles)


def quoted(title: str) -> str:
    """Return a sheet title as formulas write it, always in quotes."""
    return "'" + title.replace("'", "''") + "'"
