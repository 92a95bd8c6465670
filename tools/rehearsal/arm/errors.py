"""The errors of this server, by the rows of errors.toml: status, code, message and shape."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Refusal:
    status: int
    code: str
    message: str
    subcode: str
    is_flat: bool
    # The code, and the target if any, of the only entry in `details`, which repeats the error.
    details: tuple[str, ...] = ()
    # The description in the header of a 401, if it differs from the message.
    challenge: str | None = None

    @property
    def cause(self) -> str | None:
        """Returns the header `x-ms-failure-cause`; AKS's 4xx responses have none."""
        if not self.is_flat:
            return "gateway"
        return "service" if self.status >= 500 else None

    def of(self, **words: str) -> "Refusal":
        """Returns the refusal with some of its words filled in."""
        message = self.message
        for name, word in words.items():
            message = message.replace(f"{{{name}}}", word)
        return replace(self, message=message)


def refusal(says: str, subcode: str = "", *, is_flat: bool) -> Refusal:
    """Returns a refusal written as `status code: message`."""
    heading, _, message = says.partition(": ")
    status, _, code = heading.partition(" ")
    return Refusal(int(status), code, message, subcode, is_flat)


@cache
def _rows() -> dict[str, Refusal]:
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    parts, found = content.pop("parts"), dict[str, Refusal]()
    for service, rows in content.items():
        for name, row in rows.items():
            about = {"says": row} if isinstance(row, str) else row
            says = about["says"]
            for part, words in parts.items():
                says = says.replace(f"<{part}>", words)
            found[name] = replace(
                refusal(says, about.get("subcode", ""), is_flat=service == "aks"),
                details=tuple(about.get("details", ())),
                challenge=about.get("challenge"),
            )
    return found


def __getattr__(name: str) -> Refusal:
    """Returns the refusal of a row."""
    try:
        return _rows()[name]
    except KeyError:
        raise AttributeError(f"errors.toml has no row {name}") from None


class ArmError(Exception):
    """A request is refused."""

    def __init__(self, refusal: Refusal, target: str | None = None, **words: object) -> None:
        self.refusal = refusal
        self.target = target
        self.message = refusal.message.format_map(words)
        self.details = self._details(words)
        super().__init__(f"{refusal.code}: {self.message}")

    def body(self) -> dict[str, Any]:
        named = {"target": self.target} if self.target else {}
        code, message, subcode = self.refusal.code, self.message, self.refusal.subcode
        details = self.details
        if self.refusal.is_flat:
            words = {"code": code, "details": details, "message": message, "subcode": subcode}
            return words | named
        more = {"details": details} if details else {}
        return {"error": {"code": code, "message": message, **named, **more}}

    def _details(self, words: Mapping[str, object]) -> list[dict[str, str]] | None:
        match self.refusal.details:
            case (code,):
                rpc = f"rpc error: code = {self.refusal.code} desc = {self.message}"
                return [{"code": code, "message": rpc}]
            case (code, target):
                return [{"code": code, "target": target.format_map(words), "message": self.message}]
        return None


def of_compute(code: str, inner: str, message: str) -> dict[str, Any]:
    """Returns an error of Microsoft.Compute as a failed operation of AKS shows it.

    The shape is the one in the tests of karpenter-provider-azure.
    """
    return {
        "code": code,
        "message": f'Code="{inner}" Message="{message}"',
        "details": [{"code": inner, "message": message}],
    }
