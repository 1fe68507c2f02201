"""The finishing pass: the bytes that openpyxl writes in → the same workbook with values stored and times fixed out.

Invariant: every formula holds the evaluator's value, so a reader that does not calculate sees the numbers; nothing in
the file tells when or on which machine it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from xml.sax.saxutils import escape, quoteattr
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from lxml import etree

from capgraph.emit.xlsx.page import Cached, Failed

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_FORMULA_CELL = re.compile(
    r'<c r="([A-Z]+[0-9]+)"((?: s="[0-9]+")?)><f>(.*?)</f><v\s*(?:/>|></v>)</c>', re.DOTALL
)
# Some engines read an empty cell that claims to be a number as 0, and a blank override would count.
_EMPTY_CELL = re.compile(r'(<c r="[A-Z]+[0-9]+"(?: s="[0-9]+")?) t="(?:n|inlineStr)"\s*(?:/>|></c>)')
_TEXT_CELL = re.compile(
    r'(<c r="[A-Z]+[0-9]+"(?: s="[0-9]+")?) t="inlineStr"><is><t((?: xml:space="preserve")?)>(.*?)</t></is></c>',
    re.DOTALL,
)
_TIME = re.compile(r"(<dcterms:(created|modified)[^>]*>)[^<]*(</dcterms:\2>)")
# The order in which the schema has a font's properties; openpyxl writes another.
_FONT = (
    "b", "i", "strike", "condense", "extend", "outline", "shadow", "u", "vertAlign", "sz", "color", "name", "family",
    "charset", "scheme",
)  # fmt: skip
_DIMENSION = re.compile(r'(<dimension ref="[A-Z]+[0-9]+:[A-Z]+)[0-9]+(")')
_STRINGS = "xl/sharedStrings.xml"
_STRINGS_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
_STRINGS_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"


def finish(
    data: bytes,
    cached: Mapping[str, Mapping[str, Cached]],
    timestamp: str,
    alternatives: Mapping[str, Sequence[str]],
    more: Mapping[str, Sequence[str]],
) -> bytes:
    """Fill in the values, by sheet title in the order of the sheets, and fix every time to the timestamp.

    `more` are rows by sheet title, ready written, that follow its others.
    """
    moment = datetime.fromisoformat(timestamp)
    stamp = (max(moment.year, 1980), moment.month, moment.day, moment.hour, moment.minute, moment.second)
    made = BytesIO()
    with ZipFile(BytesIO(data)) as source, ZipFile(made, "w", ZIP_DEFLATED) as target:
        for name, part in _parts(source, cached, moment, alternatives, more):
            info = ZipInfo(name, stamp)
            info.compress_type = ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            target.writestr(info, part)
    return made.getvalue()


def _parts(
    source: ZipFile,
    cached: Mapping[str, Mapping[str, Cached]],
    moment: datetime,
    alternatives: Mapping[str, Sequence[str]],
    more: Mapping[str, Sequence[str]],
) -> Iterator[tuple[str, bytes]]:
    sheets = {f"xl/worksheets/sheet{number}.xml": title for number, title in enumerate(cached, 1)}
    # openpyxl numbers the drawings by the order of the sheets that have any.
    with_charts = (alternatives[title] for title in cached if title in alternatives)
    drawings = {f"xl/drawings/drawing{number}.xml": charts for number, charts in enumerate(with_charts, 1)}
    texts = _Texts()
    for name in source.namelist():
        part = source.read(name)
        if name in sheets:
            filled = _filled(part.decode(), cached[sheets[name]])
            part = texts.shared(_lengthened(filled, more.get(sheets[name], ()))).encode()
        elif name == "docProps/core.xml":
            part = _TIME.sub(rf"\g<1>{moment:%Y-%m-%dT%H:%M:%SZ}\g<3>", part.decode()).encode()
        elif name == "xl/styles.xml":
            part = _in_order(part)
        elif name in drawings:
            part = _described(part.decode(), drawings[name]).encode()
        elif name == "xl/_rels/workbook.xml.rels":
            relation = (
                f'<Relationship Id="texts" Type="{_STRINGS_RELATION}" Target="/{_STRINGS}"/></Relationships>'
            )
            part = part.replace(b"</Relationships>", relation.encode())
        elif name == "[Content_Types].xml":
            override = f'<Override PartName="/{_STRINGS}" ContentType="{_STRINGS_TYPE}"/></Types>'
            part = part.replace(b"</Types>", override.encode())
        yield name, part
    yield _STRINGS, texts.part()


@dataclass
class _Texts:
    """The workbook's texts, each stored once, in order of first use, as Excel itself stores them."""

    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _uses: int = 0

    def shared(self, xml: str) -> str:
        """Replace a sheet's texts by their numbers."""

        def refer(cell: re.Match[str]) -> str:
            start, space, text = cell.groups()
            number = self._numbers.setdefault((space, text), len(self._numbers))
            self._uses += 1
            return f'{start} t="s"><v>{number}</v></c>'

        return _TEXT_CELL.sub(refer, xml)

    def part(self) -> bytes:
        """Return the part that holds the texts."""
        items = "".join(f"<si><t{space}>{text}</t></si>" for space, text in self._numbers)
        counts = f'count="{self._uses}" uniqueCount="{len(self._numbers)}"'
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<sst xmlns="{_MAIN}" {counts}>{items}</sst>'.encode()


def _filled(xml: str, values: Mapping[str, Cached]) -> str:
    def fill(cell: re.Match[str]) -> str:
        address, style, formula = cell.groups()
        kind, text = _stored(values[address])
        return f'<c r="{address}"{style}{kind}><f>{formula}</f><v>{text}</v></c>'

    return _FORMULA_CELL.sub(fill, _EMPTY_CELL.sub(r"\1/>", xml))


def _lengthened(xml: str, rows: Sequence[str]) -> str:
    """Put rows behind the last one; where they end, the sheet ends."""
    if not rows:
        return xml
    last = rows[-1][: rows[-1].index(">")].split('"')[1]
    xml = _DIMENSION.sub(rf"\g<1>{last}\g<2>", xml, count=1)
    return xml.replace("</sheetData>", f"{''.join(rows)}</sheetData>", 1)


def _stored(value: Cached) -> tuple[str, str]:
    if isinstance(value, Failed):
        return ' t="e"', value.code
    if isinstance(value, bool):
        return ' t="b"', str(int(value))
    if isinstance(value, str):
        return ' t="str"', escape(value)
    return "", repr(float(value))


def _in_order(styles: bytes) -> bytes:
    """Put the properties of every font into the schema's order."""
    tree = etree.fromstring(styles)
    for font in tree.iter(f"{{{_MAIN}}}font"):
        font[:] = sorted(font, key=lambda item: _FONT.index(etree.QName(item).localname))
    return etree.tostring(tree, xml_declaration=True, encoding="UTF-8")


def _described(xml: str, charts: Sequence[str]) -> str:
    """Give each chart the text that a screen reader says for it."""
    for number, text in enumerate(charts, 1):
        xml = xml.replace(f'name="Chart {number}"', f'name="Chart {number}" descr={quoteattr(text)}')
    return xml
