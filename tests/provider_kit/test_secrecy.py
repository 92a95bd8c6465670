"""Secrets are found however they are written; what is none stays legible."""

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st
from pulumi.runtime.proto import provider_pb2

from provider_kit.secrecy import MASK, Masking, Secrets
from tests.aks_preview.odd.driver import secret

# How a server that repeats a secret may write it.
WAYS: list[Callable[[str], str]] = [
    str,
    str.upper,
    str.lower,
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    quote,
    quote_plus,
    lambda text: quote(text, safe="").lower(),
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
]
SECRET = 'hunter2 & "friends"/\\ä€😀+?'


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("beside", ["", "x", " "])
def test_a_secret_is_masked_however_it_is_written(way: Callable[[str], str], beside: str) -> None:
    """Python's own ways alone were: not `%2f`, another case or base64."""
    written = way(SECRET)

    masked = Masking({f"{SECRET}\n"}).masked(f"It said <{beside}{written}{beside}>.")

    assert masked.replace("=", "") == f"It said <{beside}{MASK}{beside}>."


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_a_text_without_secrets_is_unchanged(text: str) -> None:
    assert Masking({"swordfish-1"}).masked(text) == text
    assert Masking(set()).masked(text) == text


@pytest.mark.parametrize("text", ["development", "Dev, ops", "a code 400"])
def test_short_secrets_are_masked_only_as_whole_words(text: str) -> None:
    assert Masking({"dev", "40", "op", ""}).masked(text) == text


def test_text_around_a_secret_is_kept() -> None:
    text = Masking({"dev", "swordfish", "swordfish-2"}).masked("a swordfish-2, dev%2c 100%")

    assert text == f"a {MASK}, {MASK}%2c 100%"


def of(*names: str, **news: object) -> Secrets:
    request = provider_pb2.CreateRequest()
    json_format.ParseDict(news, request.properties)
    return Secrets(request, names)


def test_the_keys_of_a_secret_map_are_secrets() -> None:
    """Labels and tags have keys of a user's; the settings of an add-on have Azure's."""
    text = "The key team-secret-key is bad."

    assert of(tags=secret({"team-secret-key": "v"})).masked(text) == f"The key {MASK} is bad."
    assert of(tags={"team-secret-key": secret("v")}).masked(text) == text
    assert of("config", config=secret({"team-secret-key": "v"})).masked(text) == text


@pytest.mark.parametrize("value", ["true", "False", "", "04da6b54-80e4-46f7-96ec-b56ff0331ba9"])
def test_secrets_that_are_common_words_or_ids_are_not_masked(value: str) -> None:
    text = "true, False, 04da6b54-80e4-46f7-96ec-b56ff0331ba9"

    assert of(tags=secret({"a": value})).masked(text) == text
