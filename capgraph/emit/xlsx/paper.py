"""How a sheet prints and scrolls: its header rows and width in → page set-up, frozen panes, protection.

Invariant: every sheet prints in landscape with its title rows repeated and a footer of title, date and page;
formulas are locked, inputs are not, and there is no password.
"""

from __future__ import annotations

import math

from openpyxl.utils import get_column_letter
from openpyxl.worksheet.header_footer import HeaderFooterItem
from openpyxl.worksheet.header_footer import _HeaderFooterPart as _Part
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from capgraph.emit.xlsx.page import Page, clean
from capgraph.model import Model

A4 = 9
# About what a landscape A4 page holds at 60 %, below which nobody reads a print.
CHARACTERS_ACROSS = 230
# The same for rows.
ROWS_DOWN = 55


def set_up(
    page: Page, model: Model, last_row: int, last_column: int, header_row: int, frozen_column: int
) -> None:
    """Make a table print and scroll well: header rows and first columns stay in sight and repeat."""
    sheet = page.sheet
    sheet.freeze_panes = f"{get_column_letter(frozen_column)}{header_row + 1}"
    sheet.print_title_rows = f"{header_row - 1}:{header_row}"
    sheet.print_area = f"A1:{get_column_letter(last_column)}{last_row}"
    widths = (
        sheet.column_dimensions[get_column_letter(number)].width for number in range(1, last_column + 1)
    )
    across = max(1, math.ceil(sum(widths) / CHARACTERS_ACROSS))
    if across > 1:
        sheet.print_title_cols = f"A:{get_column_letter(frozen_column - 1)}"
    sheet.sheet_view.zoomScale = 85
    _paper(sheet, model, across)


def set_up_single(page: Page, model: Model, last_row: int, last_column: int) -> None:
    """Make a sheet print on one page."""
    page.sheet.print_area = f"A1:{get_column_letter(last_column)}{last_row}"
    _paper(page.sheet, model, 1, down=1)


def set_up_tops(page: Page, model: Model, last_row: int, last_column: int) -> None:
    """Make a sheet print what stands on top of it, on as few pages as stay legible."""
    page.sheet.print_area = f"A1:{get_column_letter(last_column)}{last_row}"
    page.sheet.sheet_view.zoomScale = 85
    _paper(page.sheet, model, 1, down=math.ceil(last_row / ROWS_DOWN))


def _paper(sheet: Worksheet, model: Model, across: int, down: int = 0) -> None:
    sheet.sheet_view.showGridLines = False
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.paperSize = A4
    sheet.page_setup.fitToWidth = across
    sheet.page_setup.fitToHeight = down
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    margins = sheet.page_margins
    margins.left = margins.right = 0.4
    margins.top = margins.bottom = 0.6
    margins.header = margins.footer = 0.3
    dated = f"Model {model.id}, as of {model.as_of}" if model.as_of else f"Model {model.id}"
    sheet.HeaderFooter.oddHeader = HeaderFooterItem(
        left=_Part(text=_literal(model.title)), right=_Part(text="&A")
    )
    sheet.HeaderFooter.oddFooter = HeaderFooterItem(
        left=_Part(text=_literal(dated)), right=_Part(text="Page &P of &N")
    )
    _protect(sheet)


def _literal(text: str) -> str:
    """Write a text into a header, where `&` begins a code and 255 characters are all there are."""
    return clean(text)[:100].replace("&", "&&")


def _protect(sheet: Worksheet) -> None:
    protection = sheet.protection
    protection.enable()
    # False: allowed in spite of the protection.
    protection.formatColumns = protection.formatRows = protection.autoFilter = protection.sort = False
