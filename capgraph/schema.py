"""Declarations → JSON Schema: what an editor needs to complete, explain and check a model file.

In: the declarations that validate → Out: the text of a schema (draft 2020-12).
Invariant: no legal file is refused; what only joined files show (a missing unit, an unknown name) is left to `check`.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from capgraph.declarations import FileDecl
from capgraph.resolve.catalogs import ROW_KEYS
from capgraph.resolve.scope import RESERVED, YES_NO

# Keys of a quantity that exclude each other, wherever its other keys come from.
_APART = (
    *(("value", key) for key in ("choose", "formula", "default")),
    *(("choose", key) for key in ("formula", "unit", "range", "min", "max")),
    ("formula", "default"),
)
_NUMBER = r"^\s*[+-]?\.?[0-9]"
_NAME_HINT = "letters, digits and `_`, no digit first, no word of the formula language"
_NUMBER_HINT = "a number comes first: 1500, 1_500, 1.5e3, 30%, 80 GB"


def schema_text() -> str:
    """Return the schema as a file holds it."""
    return json.dumps(schema(), ensure_ascii=False, indent=1) + "\n"


def schema() -> dict[str, Any]:
    """Return the schema of a model file."""
    made = FileDecl.model_json_schema(schema_generator=_Generator)
    kinds = made["$defs"]
    quantity, field = kinds["QuantityDecl"], kinds["FieldDecl"]
    quantity["allOf"] = [_not_both(*pair) for pair in _APART]
    _expect_numbers(quantity["properties"], field["properties"])
    field["allOf"] = [_unit_or_kind()]
    made["allOf"] = [_needs_catalog(key) for key in ("fields", "rows")]
    for table in (made, kinds["CatalogDecl"]):
        table["properties"]["fields"]["propertyNames"]["not"]["enum"].extend(ROW_KEYS)
    catalogs = made["properties"]["catalogs"]
    catalogs["additionalProperties"] = _rows_or_table(kinds["CatalogDecl"], catalogs["additionalProperties"])
    return {"$schema": GenerateJsonSchema.schema_dialect, "title": "capgraph model", **made}


def _given(key: str) -> JsonSchemaValue:
    """Match an entry whose key is not empty."""
    return {"required": [key], "properties": {key: {"not": {"type": "null"}}}}


def _not_both(first: str, second: str) -> JsonSchemaValue:
    """Refuse an entry that has two keys of which only one can count."""
    # A choice whose unit is given as `yes/no` has none.
    refused: JsonSchemaValue = {"enum": [None, "yes/no"]} if second == "unit" else {"type": "null"}
    refused["errorMessage"] = f"`{second}` has no place beside `{first}`"
    return {"if": _given(first), "then": {"properties": {second: refused}}}


def _expect_numbers(quantity: dict[str, Any], field: dict[str, Any]) -> None:
    """Refuse texts that do not begin as a number does; an input's value may be a yes/no too."""
    ranges = [part for key in (quantity, field) for part in key["range"]["anyOf"][0]["prefixItems"]]
    for part in (quantity["min"], quantity["max"], *ranges):
        part |= {"pattern": _NUMBER, "patternErrorMessage": _NUMBER_HINT}
    words = "|".join("".join(f"[{char.upper()}{char}]" for char in word) for word in YES_NO)
    quantity["value"] |= {"pattern": rf"{_NUMBER}|^({words})$", "patternErrorMessage": _NUMBER_HINT}


def _unit_or_kind() -> JsonSchemaValue:
    """Ask a field of numbers for its unit, and refuse one for texts."""
    worded = {"required": ["type"], "properties": {"type": {"enum": ["text", "yes/no"]}}}
    refused = {"enum": [None, "text", "yes/no"], "errorMessage": "texts and yes/no have no unit"}
    return {"if": worded, "then": {"properties": {"unit": refused}}, "else": _given("unit")}


def _needs_catalog(key: str) -> JsonSchemaValue:
    """Ask a file that holds a catalog's entries for the catalog's id."""
    filled = {"required": [key], "properties": {key: {"minProperties": 1}}}
    return {"if": filled, "then": {"required": ["catalog"]}}


def _rows_or_table(table: JsonSchemaValue, reference: JsonSchemaValue) -> JsonSchemaValue:
    """Let rows stand right under a catalog's id, as `declarations` reads them where neither key is given."""
    has_table_key = {"anyOf": [{"required": ["fields"]}, {"required": ["rows"]}]}
    return {"if": has_table_key, "then": reference, "else": table["properties"]["rows"]}


class _Generator(GenerateJsonSchema):
    """Says of each key what an editor shows, and nothing that only Python needs."""

    def field_title_should_be_set(self, _schema: object) -> bool:
        """Leave out titles made of the keys themselves."""
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Name an entry as people do, not as Python's classes are named."""
        name = schema["cls"].__name__.removesuffix("Decl").lower()
        return {**super().model_schema(schema), "title": name}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Leave out that a key which is left out is empty; an empty one stands for that too."""
        made = super().default_schema(schema)
        return {key: value for key, value in made.items() if key != "default" or value}

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Write `null` among the types of a scalar, not as an alternative to it."""
        inner = self.generate_inner(schema["schema"])
        if isinstance(inner.get("type"), list):
            return {**inner, "type": [*inner["type"], "null"]}
        return super().nullable_schema(schema)

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Refuse ids of the wrong spelling, which pydantic would let pass with any value."""
        made = super().dict_schema(schema)
        for pattern, entries in made.pop("patternProperties", {}).items():
            reserved = {"enum": sorted(RESERVED)}
            made["propertyNames"] = {"pattern": pattern, "patternErrorMessage": _NAME_HINT, "not": reserved}
            made["additionalProperties"] = entries
        return made
