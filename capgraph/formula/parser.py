"""Formula text → formula tree, by precedence climbing.

In: the raw scalar of a formula → Out: `Expr` with a span on every node, or a `Diagnostic`.
Invariant: the meaning of an expression is fixed here alone; `-2^2` is -(2^2), `2^3^2` and `a < b < c` ask for brackets.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, cast

from capgraph.diagnostics import Diagnostic, Span, did_you_mean
from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.lexer import WORDS, FormulaError, Token, tokenize
from capgraph.formula.reductions import INTERPOLATE, REDUCTIONS
from capgraph.formula.tree import (
    COMPARISONS,
    Binary,
    BinaryOp,
    Call,
    Expr,
    Number,
    Reduce,
    Reference,
    Text,
    Truth,
    Unary,
)
from capgraph.yamltree import Scalar

MAX_LENGTH = 4_000
# Reading a bracket takes fourteen calls, Python allows a thousand; a workbook allows 64 levels.
MAX_DEPTH = 40
MAX_OPERATIONS = 200
# Words only inside a reduction: elsewhere they may name a quantity.
SWEEP_WORDS = ("where", "at", "over")


def parse_formula(text: Scalar) -> Expr | Diagnostic:
    """Return the tree of a formula, or the first thing that is wrong with it."""
    try:
        if len(text) > MAX_LENGTH:
            raise FormulaError(
                "CG408",
                f"the formula is longer than {MAX_LENGTH} characters",
                0,
                1,
                "split it into quantities",
            )
        parser = _Parser(text, tokenize(text))
        tree = parser.disjunction()
        parser.finish()
    except FormulaError as error:
        return Diagnostic(error.code, error.message, text.within(error.first, error.last), error.help)
    return tree


@dataclass
class _Parser:
    source: Scalar
    tokens: tuple[Token, ...]
    place: int = 0
    depth: int = 0
    operations: int = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        self.place += 1
        return self.tokens[self.place - 1]

    def at(self, *texts: str) -> bool:
        return self.tokens[self.place].sign in texts

    def span(self, first: Token, last: Token | None = None) -> Span:
        return self.source.within(first.first, (last or self.tokens[self.place - 1]).last)

    def finish(self) -> None:
        if self.next.kind != "end":
            self._misplaced("the end of the formula")

    def _misplaced(self, closing: str) -> NoReturn:
        """Complain of a token that stands where an operator or the closing of something is needed."""
        token, before = self.next, self.tokens[self.place - 1]
        help_text = ""
        if before.kind == "number" and token.kind == "name":
            help_text = "put `*` between the two; a number with a unit is a quantity of its own"
        elif before.text == "if" or before.text in FUNCTIONS:
            help_text = f"a function's arguments stand in brackets: `{before.text}(…)`"
        elif token.kind in ("number", "name", "text") or token.text == "(":
            help_text = "put an operator such as `*` between the two"
        elif token.text == ")":
            help_text = "remove it, or open a bracket before it"
        elif token.text == ",":
            help_text = "a comma stands between the arguments of a function"
        self.fail(f"`{token.text}` stands where an operator or {closing} is needed", help_text=help_text)

    def fail(
        self, message: str, token: Token | None = None, help_text: str = "", code: str = "CG405"
    ) -> NoReturn:
        token = token or self.next
        raise FormulaError(code, message, token.first, token.last, help_text)

    def disjunction(self) -> Expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(
                f"the formula nests deeper than {MAX_DEPTH} levels",
                help_text="split it into quantities",
                code="CG408",
            )
        tree = self._chain(("or",), lambda: self._chain(("and",), self.negation))
        self.depth -= 1
        return tree

    def negation(self) -> Expr:
        start = self.next
        if not self.at("not"):
            return self.comparison()
        self.take()
        self._count(start)
        operand = self.negation()
        return Unary("not", operand, self.span(start))

    def comparison(self) -> Expr:
        start = self.next
        left = self.sum()
        if not self.at(*COMPARISONS):
            return left
        op = cast(BinaryOp, self.take().text)
        right = self.sum()
        if self.at(*COMPARISONS):
            self.fail("comparisons do not chain", help_text="join two comparisons with `and`", code="CG407")
        return Binary(op, left, right, self.span(start))

    def sum(self) -> Expr:
        return self._chain(("+", "-"), lambda: self._chain(("*", "/"), self.sign))

    def _chain(self, ops: tuple[str, ...], operand: Callable[[], Expr]) -> Expr:
        start = self.next
        tree = operand()
        while self.at(*ops):
            self._count(self.next)
            op = cast(BinaryOp, self.take().text)
            tree = Binary(op, tree, operand(), self.span(start))
        return tree

    def _count(self, token: Token) -> None:
        self.operations += 1
        if self.operations > MAX_OPERATIONS:
            self.fail(
                f"the formula has more than {MAX_OPERATIONS} operations",
                token,
                "split it into quantities",
                code="CG408",
            )

    def sign(self) -> Expr:
        start = self.next
        if self.at("-"):
            self._count(self.take())
            return Unary("-", self.sign(), self.span(start))
        if self.at("+"):
            self.fail("a sign `+` has no meaning here", help_text="leave it out")
        return self.power()

    def power(self) -> Expr:
        start = self.next
        left = self.atom()
        if not self.at("^"):
            return left
        self.take()
        sign = self.next
        right: Expr
        if self.at("-"):
            self._count(self.take())
            right = Unary("-", self.atom(), self.span(sign))
        else:
            right = self.atom()
        if self.at("^"):
            self.fail(
                "a power of a power is ambiguous", help_text="write `(a^b)^c` or `a^(b^c)`", code="CG406"
            )
        return Binary("^", left, right, self.span(start))

    def atom(self) -> Expr:
        token = self.take()
        if token.kind == "number":
            return _number(token, self.span(token, token))
        if token.kind == "text":
            return Text(token.text[1:-1], self.span(token, token))
        if token.text == "(" and token.kind == "op":
            return self._brackets(token)
        if token.kind == "name" and token.text in ("true", "false"):
            return Truth(token.text == "true", self.span(token, token))
        if token.kind == "name" and token.text not in WORDS:
            return (
                self._call(token)
                if self.at("(")
                else Reference(sys.intern(token.text), self.span(token, token))
            )
        self.place -= 1
        return self.fail_at_atom(token)

    def fail_at_atom(self, token: Token) -> NoReturn:
        found = f"`{token.text}` stands" if token.kind != "end" else "the formula ends"
        self.fail(f"{found} where a number, a name or a bracket is needed", help_text="complete the formula")

    def _brackets(self, opening: Token) -> Expr:
        inner = self.disjunction()
        self._close("a bracket is not closed", opening)
        return inner

    def _close(self, message: str, opening: Token) -> None:
        if self.next.kind == "end":
            self.fail(message, opening, "add `)`")
        if not self.at(")"):
            self._misplaced("`)`")
        self.take()

    def _call(self, name: Token) -> Expr:
        self.take()
        arguments = [self.disjunction()] if not self.at(")") else []
        if arguments and self.next.kind == "name" and self.next.text in SWEEP_WORDS:
            return self._reduce(name, arguments[0])
        while self.at(","):
            self.take()
            arguments.append(self.disjunction())
        self._close(f"the arguments of `{name.text}` are not closed", name)
        self._check_call(name, len(arguments))
        return Call(name.text, tuple(arguments), self.span(name))

    def _reduce(self, name: Token, value: Expr) -> Reduce:
        """Read `[where condition | at number] over sweep)` behind the value of a reduction."""
        parts: dict[str, Expr] = {}
        word = self.take()
        if word.text in ("where", "at"):
            parts[word.text] = self.disjunction()
            if self.next.text != "over":
                self.fail(
                    f"`{name.text}` lacks its sweep", help_text="write `over` and the sweep's name behind it"
                )
            word = self.take()
        sweep = self.take()
        if sweep.kind != "name":
            self.fail(
                "the name of a sweep is needed behind `over`",
                sweep,
                "declare it under `sweeps:` and name it here",
            )
        self._close(f"the arguments of `{name.text}` are not closed", name)
        self._check_reduction(name, parts)
        span, sweep_span = self.span(name), self.span(sweep, sweep)
        if name.text == "count":
            return Reduce("count", None, value, None, sweep.text, span, sweep_span)
        return Reduce(name.text, value, parts.get("where"), parts.get("at"), sweep.text, span, sweep_span)

    def _check_reduction(self, name: Token, parts: dict[str, Expr]) -> None:
        known = (*REDUCTIONS, INTERPOLATE)
        if name.text not in known:
            help_text = did_you_mean(name.text, known) or f"there are {', '.join(known)}"
            self.fail(f"`{name.text}` does not reduce a sweep", name, help_text, "CG412")
        if (name.text == INTERPOLATE) != ("at" in parts) or (name.text == "count" and parts):
            shape = {INTERPOLATE: "value at number over sweep", "count": "condition over sweep"}
            wanted = shape.get(name.text, "value where condition over sweep")
            self.fail(f"`{name.text}` is not written so", name, f"write `{name.text}({wanted})`", "CG412")

    def _check_call(self, name: Token, given: int) -> None:
        parameters: tuple[str, ...]
        if name.text == "if":
            wanted, fits, parameters = "a condition and two values", given == 3, ("condition", "a", "b")
        elif (name.text in REDUCTIONS and name.text not in FUNCTIONS) or name.text == INTERPOLATE:
            self.fail(
                f"`{name.text}` works over a sweep", name, f"write `{name.text}(… over sweep)`", "CG412"
            )
        elif (function := FUNCTIONS.get(name.text)) is None:
            help_text = did_you_mean(name.text, ("if", *FUNCTIONS)) or f"there are if, {', '.join(FUNCTIONS)}"
            self.fail(f"unknown function `{name.text}`", name, help_text, "CG403")
        elif function.variadic:
            wanted, fits, parameters = "at least one value", given >= 1, ("a", "b", "…")
        else:
            parameters = function.parameters
            wanted, fits = _listed(parameters), given == len(parameters)
        if not fits:
            way_out = f"write `{name.text}({', '.join(parameters)})`"
            self.fail(f"`{name.text}` takes {wanted}; {given} given", name, way_out, "CG404")


def _number(token: Token, span: Span) -> Number:
    text = token.text.replace("_", "")
    percent = text.endswith("%")
    digits = text.rstrip("% ")
    if float(digits) == float("inf"):
        raise FormulaError("CG405", f"`{_short(token.text)}` is too large for a number", token.first, token.last,
                           "write at most 1e308")  # fmt: skip
    # Shifted as text: 12.3 / 100 is not the double nearest to 0.123.
    mantissa, _, exponent = digits.lower().partition("e")
    value = float(f"{mantissa}e{int(exponent or 0) - 2}") if percent else float(digits)
    return Number(value, token.text, span)


def _listed(parameters: tuple[str, ...]) -> str:
    return parameters[0] if len(parameters) == 1 else f"{', '.join(parameters[:-1])} and {parameters[-1]}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"
