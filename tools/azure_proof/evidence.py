"""The evidence: what the proof saw, without anything that is private.

Of what Azure answers, a text is kept if the proof has said it, or if it is a word of the API: all
other texts may be somebody's, and become `masked`. So it is with the names of tags and labels.
"""

import enum
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from azure.mgmt.containerservice import models

from aks_catalogue.aks_types import aks_types
from aks_catalogue.sizes import cpu_sizes, gpu_sizes
from aksgpu.running import READ_SECONDS, Program
from azure_proof.azure import Exchange
from rehearsal.files import write_whole

MASKED = "masked"
_PACKAGES = ("pulumi", "pulumi-azure-native", "pulumi-kubernetes", "azure-mgmt-containerservice")
# Words that are no member of an enumeration of the SDK, and versions.
_STATES = frozenset({"Creating", "Updating", "Scaling", "Upgrading", "Deleting", "Failed"})
_PUBLIC = re.compile(
    r"v?\d{1,4}(\.\d{1,4}){0,2}|\d{1,3}%|AKS\w{1,40}-\w{1,40}-\d{6}\.\d{1,2}\.\d{1,2}"
)
_CODE = re.compile(r"[A-Z][A-Za-z]{2,63}")
# What people write in sentences, and codes of words, such as BadRequest. Anything else in a message
# can be a name, an address or a key: letters of both cases in any order are random.
_PLAIN = re.compile(
    r"[A-Za-z][a-z]{0,19}('[a-z]{1,2})?|[A-Z]{1,8}s?|([A-Z][a-z]{2,19}){2,5}|\d{1,4}"
)
_PART = re.compile(r"[^\s'\"()\[\],;]+")


@dataclass
class StepResult:
    """What came of one step."""

    name: str
    title: str
    expected: str
    actual: str
    seconds: float
    exchanges: list[dict[str, Any]] = field(default_factory=list)
    # What the engine said of what was refused.
    refusals: list[str] = field(default_factory=list)

    @property
    def is_as_expected(self) -> bool:
        return self.actual == self.expected


class Mask:
    """Knows what the proof itself has said, and what is private."""

    def __init__(self, *private: str) -> None:
        self._private = [text for text in private if text]

    def message(self, text: str) -> str:
        """A message, of which only plain words, the API's names and numbers are kept."""
        for private in self._private:
            text = re.sub(re.escape(private), MASKED, text, flags=re.IGNORECASE)
        return _PART.sub(_plain, text)

    def exchange(self, exchange: Exchange) -> dict[str, Any]:
        """An exchange as recordings have it: what was said, and each value of the answer."""
        said = set(_texts(exchange.said)) - set(self._private)
        row: dict[str, Any] = {
            "of": exchange.of,
            "method": exchange.method,
            "api": exchange.api,
            "said": self._value(exchange.said, said),
            "status": exchange.status,
        }
        error = (exchange.answer or {}).get("error") or exchange.answer or {}
        if exchange.status >= 400:
            code = str(error.get("code", ""))
            shown = code if _CODE.fullmatch(code) else MASKED
            message = self.message(str(error.get("message", "")))
            return {**row, "code": shown, "message": message}
        answer = self._value((exchange.answer or {}).get("properties"), said)
        asked = [{"path": path, "value": value} for path, value in _leaves(answer)]
        return {**row, "asked": asked}

    def _value(self, value: Any, said: set[str]) -> Any:
        match value:
            case Mapping():
                return {
                    self._name(key, said): self._value(member, said)
                    for key, member in value.items()
                }
            case list():
                return [self._value(item, said) for item in value]
            case str():
                return value if value in said or _is_public(value) else MASKED
            case _:
                return value

    def _name(self, name: str, said: set[str]) -> str:
        return name if name in said or name in _fields() else MASKED


def _plain(part: re.Match[str]) -> str:
    text = part[0].rstrip(".:!?")
    is_path = all(name in _fields() for name in text.split("."))
    is_known = is_path or _PLAIN.fullmatch(text) or (text and _is_public(text))
    return part[0] if is_known or not text else part[0].replace(text, MASKED)


def _texts(value: Any) -> Iterator[str]:
    """The texts and the names in a value."""
    match value:
        case Mapping():
            for name, member in value.items():
                yield name
                yield from _texts(member)
        case list():
            for item in value:
                yield from _texts(item)
        case str():
            yield value


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each value that is no object with members, with its path."""
    if isinstance(value, Mapping) and value:
        for name, member in value.items():
            yield from _leaves(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{path}[{number}]")
    elif path:
        yield path, value


def _is_public(text: str) -> bool:
    is_word = text in _words() or text in _STATES or text == ""
    is_size = text.lower() in gpu_sizes() or text.lower() in cpu_sizes()
    return is_word or is_size or _PUBLIC.fullmatch(text) is not None


@cache
def _words() -> frozenset[str]:
    """The members of all enumerations of the API."""
    kinds = (kind for _, kind in inspect.getmembers(models, inspect.isclass))
    enumerations = (kind for kind in kinds if issubclass(kind, enum.Enum))
    return frozenset(str(member.value) for each in enumerations for member in each)


@cache
def _fields() -> frozenset[str]:
    return frozenset(field for fields in aks_types().values() for field in fields)


@cache
def versions(engine: str) -> dict[str, str]:
    project = Program(("git",), Path(__file__).parent)
    commit = project.attempt("rev-parse", "--short", "HEAD", seconds=READ_SECONDS)
    known = {"engine": engine, "commit": commit.out.strip()}
    return known | {package: version(package) for package in _PACKAGES}


def write(folder: Path, document: Mapping[str, Any]) -> tuple[Path, Path]:
    """Writes the evidence for programs and the page for people."""
    evidence, page = folder / "evidence.json", folder / "evidence.md"
    write_whole(evidence, (json.dumps(document, indent=1) + "\n").encode())
    write_whole(page, _page(document).encode())
    return evidence, page


def _page(document: Mapping[str, Any]) -> str:
    rows = [
        f"| {step['title']} | {step['expected']} | {step['actual']} | {step['seconds']:.0f} s |"
        for step in document["steps"]
    ]
    facts = [f"{name} {number}" for name, number in document["versions"].items()]
    choice = document["choice"]
    return "\n".join(
        [
            f"# The proof of {document['day']} on {document['cloud']}",
            "",
            f"{choice['size']} in {choice['location']}, with {', '.join(facts)}.",
            "",
            "| step | expected | actual | took |",
            "|---|---|---|---|",
            *rows,
            "",
            "The requests and answers are in evidence.json: `make azure-compare FILE=...` compares "
            "them with the rehearsal.",
            "",
        ]
    )
