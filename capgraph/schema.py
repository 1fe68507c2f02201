"""Declarations → JSON Schema: what an editor needs to complete, explain and check a model file.

In: the declarations that validate → Out: the text of a schema (draft 2020-12).
Invariant: no legal file is refused; what only joined files show (a missing unit, an unknown name) is left to `check`.
"""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from capgraph.declarations import FileDecl

_DEFINITIONS = ("value", "choose", "formula")
_NAME_HINT = "letters, digits and `_`, no digit first"


def schema_text() -> str:
    """Return the schema as a file holds it."""
    return json.dumps(schema(), ensure_ascii=False, indent=1) + "\n"


def schema() -> dict[str, Any]:
    """Return the schema of a model file."""
    made = FileDecl.model_json_schema(schema_generator=_Generator)
    kinds = made["$defs"]
    kinds["QuantityDecl"]["allOf"] = [_not_both(*pair) for pair in combinations(_DEFINITIONS, 2)]
    catalogs = made["properties"]["catalogs"]
    catalogs["additionalProperties"] = _rows_or_table(kinds["CatalogDecl"], catalogs["additionalProperties"])
    return {"$schema": GenerateJsonSchema.schema_dialect, "title": "capgraph model", **made}


def _not_both(first: str, second: str) -> JsonSchemaValue:
    """Refuse an entry that defines itself twice; an empty key defines nothing."""
    given = {"required": [first], "properties": {first: {"not": {"type": "null"}}}}
    refused = {"type": "null", "errorMessage": f"`{first}` and `{second}`: keep one"}
    return {"if": given, "then": {"properties": {second: refused}}}


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
            made["propertyNames"] = {"pattern": pattern, "patternErrorMessage": _NAME_HINT}
            made["additionalProperties"] = entries
        return made
