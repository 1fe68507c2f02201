"""The finishing pass: the bytes that openpyxl writes in → the same workbook with cached values and fixed
times out.

Invariant: every formula holds the evaluator's value, so a reader that does not calculate sees the numbers;
nothing in the file tells when or on which machine it was written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from io import BytesIO
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from capgraph.emit.xlsx.page import Cached, Failed

_FORMULA_CELL = re.compile(
    r'<c r="([A-Z]+[0-9]+)"((?: s="[0-9]+")?)><f>(.*?)</f><v\s*(?:/>|></v>)</c>', re.DOTALL
)
# Some engines read an empty cell that claims to be a number as 0, and a blank override would count.
_EMPTY_NUMBER = re.compile(r'(<c r="[A-Z]+[0-9]+"(?: s="[0-9]+")?) t="n"\s*(?:/>|></c>)')
_MODIFIED = re.compile(r"(<dcterms:(created|modified)[^>]*>)[^<]*(</dcterms:\2>)")


def finish(
    data: bytes, cached: Mapping[str, Mapping[str, Cached]], timestamp: str, alternatives: Mapping[str, str]
) -> bytes:
    """Fill in the values, by sheet title in the order of the sheets, and fix every time to the timestamp."""
    moment = datetime.fromisoformat(timestamp)
    stamp = (max(moment.year, 1980), moment.month, moment.day, moment.hour, moment.minute, moment.second)
    sheets = {f"xl/worksheets/sheet{number}.xml": values for number, values in enumerate(cached.values(), 1)}
    made = BytesIO()
    with ZipFile(BytesIO(data)) as source, ZipFile(made, "w", ZIP_DEFLATED) as target:
        for name in source.namelist():
            part = source.read(name)
            if name in sheets:
                part = _filled(part.decode(), sheets[name]).encode()
            elif name == "docProps/core.xml":
                part = _MODIFIED.sub(rf"\g<1>{moment:%Y-%m-%dT%H:%M:%SZ}\g<3>", part.decode()).encode()
            elif name.startswith("xl/drawings/drawing"):
                part = _described(part.decode(), alternatives).encode()
            info = ZipInfo(name, stamp)
            info.compress_type = ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            target.writestr(info, part)
    return made.getvalue()


def _filled(xml: str, values: Mapping[str, Cached]) -> str:
    def fill(cell: re.Match[str]) -> str:
        address, style, formula = cell.groups()
        kind, text = _stored(values[address])
        return f'<c r="{address}"{style}{kind}><f>{formula}</f><v>{text}</v></c>'

    return _FORMULA_CELL.sub(fill, _EMPTY_NUMBER.sub(r"\1/>", xml))


def _stored(value: Cached) -> tuple[str, str]:
    if isinstance(value, Failed):
        return ' t="e"', value.code
    if isinstance(value, bool):
        return ' t="b"', str(int(value))
    if isinstance(value, str):
        return ' t="str"', escape(value)
    return "", repr(float(value))


def _described(xml: str, alternatives: Mapping[str, str]) -> str:
    """Give each chart the text that a screen reader says for it."""
    for name, text in alternatives.items():
        described = f'name="{name}" descr="{escape(text, {chr(34): "&quot;"})}"'
        xml = xml.replace(f'name="{name}"', described)
    return xml
