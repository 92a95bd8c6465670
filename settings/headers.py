"""Custom headers in a stack file: a map, or the Azure CLI's own form `a=b,c=d`."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from catalogue.headers import header_mistakes, parse


def _from_text(said: Any) -> Any:
    return dict(parse(said)) if isinstance(said, str) else said


def _legal(headers: dict[str, str]) -> dict[str, str]:
    mistakes = [f"{mistake.path!r} {mistake.reason}" for mistake in header_mistakes(headers)]
    if mistakes:
        raise ValueError("; ".join(mistakes))
    return headers


CustomHeaders = Annotated[dict[str, str], BeforeValidator(_from_text), AfterValidator(_legal)]


def is_set(headers: Mapping[str, str], name: str) -> bool:
    """Whether a switch among the headers is on; their names have no case."""
    return any(
        said.lower() == name.lower() and value.lower() == "true" for said, value in headers.items()
    )
