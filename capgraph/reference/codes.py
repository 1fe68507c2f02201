"""The pages on diagnostics: a code → what it means, why it is so, a wrong example and a right one, the way out.

In: `codes/CG401.md`, read when asked for → Out: `Page`, whose texts and examples are those of the file.
Invariant: a page's title is its first line; the examples stand in the sections Wrong and Right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).with_name("codes")
_TITLE = re.compile(r"# (CG\d{3}): (.+)\n")
_SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
_FENCE = re.compile(r"^```(yaml|csv|json|text|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"# (\S+\.\w+)\n")

# How a code begins: the stage that finds it.
STAGES = {
    "1": "Reading files",
    "2": "The shape of files",
    "22": "Warnings: legal, but unwise",
    "3": "Names and entries",
    "4": "Formulas",
    "5": "Units",
    "6": "Values in a scenario",
    "7": "Writing reports",
    "8": "The command line",
    "81": "Measurements",
    "82": "Fits to measurements",
    "83": "Diagnosis",
    "85": "Files of other programs",
    "9": "Bugs",
}


@dataclass(frozen=True, slots=True)
class Example:
    """Files by name, the first of them `model.yaml` unless it says otherwise, and what is typed beside them."""

    files: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """One page; `text` is the whole of it in Markdown, without its title."""

    code: str
    title: str
    text: str

    def example(self, section: str) -> Example | None:
        """Return the example of the section Wrong or Right; a bug of ours has none."""
        parts = _SECTION.split(self.text)[1:]
        body = dict(zip(parts[::2], parts[1::2], strict=True)).get(section)
        if body is None:
            return None
        files: list[tuple[str, str]] = []
        commands: list[str] = []
        for kind, block in _FENCE.findall(body):
            named = _FILE_NAME.match(block)
            if kind == "yaml":
                files.append((named[1] if named else "model.yaml", block))
            elif kind != "console":
                # Its first line only names it: no comment is part of such a file.
                assert named is not None, self.code
                files.append((named[1], block[named.end() :]))
            else:
                commands.extend(line.removeprefix("$ ") for line in block.splitlines())
        return Example(tuple(files), tuple(commands))


def codes() -> tuple[str, ...]:
    """Return every code that has a page."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("CG*.md")))


def page(code: str) -> Page:
    """Read the page of a code that has one."""
    text = (_FOLDER / f"{code}.md").read_text("utf-8")
    title = _TITLE.match(text)
    assert title is not None, code
    return Page(title[1], title[2], text[title.end() :].strip() + "\n")


def stage(code: str) -> str:
    """Return the heading under which a code is listed."""
    return STAGES.get(code[2:4]) or STAGES[code[2]]
