"""Custom headers in a stack file: a map, or the Azure CLI's own form `a=b,c=d`."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from catalogue.headers import CLIENTS_OWN, LEGAL_NAME, LEGAL_NAME_RULE, parse


def _from_text(said: Any) -> Any:
    return dict(parse(said)) if isinstance(said, str) else said


def _legal(headers: dict[str, str]) -> dict[str, str]:
    mistakes = [mistake for name, value in headers.items() for mistake in _mistakes(name, value)]
    twice = {name.lower() for name in headers}
    if len(twice) < len(headers):
        mistakes.append("a header stands twice, in upper and lower case")
    if mistakes:
        raise ValueError("; ".join(mistakes))
    return headers


def _mistakes(name: str, value: str) -> list[str]:
    if not LEGAL_NAME.fullmatch(name):
        return [f"{name!r} is no name of a header: it takes {LEGAL_NAME_RULE}"]
    if name.lower() in CLIENTS_OWN:
        return [f"{name} is written by the client itself: leave it out"]
    if not value or value != value.strip() or not value.isprintable() or not value.isascii():
        return [f"the value of {name} has to be printable text in one line"]
    return []


CustomHeaders = Annotated[dict[str, str], BeforeValidator(_from_text), AfterValidator(_legal)]


def is_set(headers: Mapping[str, str], name: str) -> bool:
    """Whether a switch among the headers is on; their names have no case."""
    return any(
        said.lower() == name.lower() and value.lower() == "true" for said, value in headers.items()
    )
