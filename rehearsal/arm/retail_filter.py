"""The filters of the price list: as much of OData as Azure's Retail Prices API takes.

It takes `eq`, `contains` and `startswith`, joined by `and` and `or`, with parentheses, and compares
with case. It refuses `in`, `not` and all else, unknown fields, kinds of prices that there are not,
and more than twenty comparisons, however short: several who ran into that in 2026 have measured it,
and written it down in public.
"""

import re
from collections.abc import Callable, Mapping
from typing import NoReturn

FIELDS = frozenset(
    [
        "armRegionName",
        "armSkuName",
        "currencyCode",
        "isPrimaryMeterRegion",
        "location",
        "meterId",
        "meterName",
        "priceType",
        "productId",
        "productName",
        "reservationTerm",
        "serviceFamily",
        "serviceId",
        "serviceName",
        "skuId",
        "skuName",
    ]
)
# Savings plans are no rows of their own: the API takes their name, and finds nothing.
PRICE_TYPES = frozenset(["consumption", "devtestconsumption", "reservation", "savingsplan"])
MOST_COMPARISONS = 20

TOKEN = re.compile(r"\s*(?:'(?P<text>(?:[^']|'')*)'|(?P<word>[A-Za-z]+)|(?P<sign>[(),]))")

# A row may be known in part only, as long as it is not made: an answer that depends on what is not
# known yet is None.
Row = Mapping[str, object]
Test = Callable[[Row], bool | None]


class FilterError(ValueError):
    """The API refuses the filter."""


def everything(_: Row) -> bool | None:
    return True


def parse(text: str) -> Test:
    """The test that a filter makes of a row."""
    parser = _Parser(text)
    test = parser.either()
    if parser.tokens:
        parser.refuse()
    return test


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self._comparisons = 0

    def either(self) -> Test:
        tests = [self._both()]
        while self._take_word("or"):
            tests.append(self._both())
        return lambda row: _any([test(row) for test in tests])

    def _both(self) -> Test:
        tests = [self._one()]
        while self._take_word("and"):
            tests.append(self._one())
        return lambda row: _all([test(row) for test in tests])

    def _one(self) -> Test:
        if self._take_sign("("):
            test = self.either()
            self._need_sign(")")
            return test
        self._comparisons += 1
        if self._comparisons > MOST_COMPARISONS:
            self.refuse()
        kind, word = self._next()
        if kind != "word":
            self.refuse()
        if word in ("contains", "startswith"):
            return self._function(word)
        field = self._field(word)
        if not self._take_word("eq"):
            self.refuse()
        return self._equal(field)

    def _function(self, name: str) -> Test:
        self._need_sign("(")
        field = self._field(self._next()[1])
        self._need_sign(",")
        kind, text = self._next()
        if kind != "text":
            self.refuse()
        self._need_sign(")")
        if name == "contains":
            return _of(field, lambda value: isinstance(value, str) and text in value)
        return _of(field, lambda value: isinstance(value, str) and value.startswith(text))

    def _equal(self, field: str) -> Test:
        kind, text = self._next()
        if field == "isPrimaryMeterRegion":
            if kind != "word" or text not in ("true", "false"):
                self.refuse()
            return _of(field, lambda value: value is (text == "true"))
        if kind != "text":
            self.refuse()
        if field == "priceType":
            if text.lower() not in PRICE_TYPES:
                self.refuse()
            return _of("type", lambda value: value == text)
        return _of(field, lambda value: value == text)

    def _field(self, word: str) -> str:
        return word if word in FIELDS else self.refuse()

    def _next(self) -> tuple[str, str]:
        return self.tokens.pop(0) if self.tokens else self.refuse()

    def _take_word(self, word: str) -> bool:
        return self._take("word", word)

    def _take_sign(self, sign: str) -> bool:
        return self._take("sign", sign)

    def _need_sign(self, sign: str) -> None:
        if not self._take_sign(sign):
            self.refuse()

    def _take(self, kind: str, text: str) -> bool:
        if not self.tokens or self.tokens[0] != (kind, text):
            return False
        self.tokens.pop(0)
        return True

    def refuse(self) -> NoReturn:
        raise FilterError


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, position = [], 0
    rest = text.rstrip()
    while position < len(rest):
        found = TOKEN.match(rest, position)
        if found is None:
            raise FilterError
        kind = str(found.lastgroup)
        tokens.append((kind, found[kind].replace("''", "'") if kind == "text" else found[kind]))
        position = found.end()
    return tokens


def _of(field: str, test: Callable[[object], bool]) -> Test:
    """A test of a field. A row that will never have it says so with None as its value."""
    return lambda row: test(row[field]) if field in row else None


def _any(answers: list[bool | None]) -> bool | None:
    if True in answers:
        return True
    return None if None in answers else False


def _all(answers: list[bool | None]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True
