"""Secrets are found however they are written; what is none stays legible."""

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st
from pulumi.runtime.proto import provider_pb2

from provider_kit import secrecy
from provider_kit.secrecy import MASK, Masking, Secrets
from tests.aks_preview.odd.driver import secret


def per_letter(write: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "".join(map(write, text))


WAYS: list[Callable[[str], str]] = [
    str,
    str.upper,
    str.lower,
    json.dumps,
    lambda text: json.dumps(text, ensure_ascii=False),
    lambda text: json.dumps(text).replace("/", "\\/"),
    per_letter(lambda letter: "".join(f"\\u{unit:04X}" for unit in units(letter))),
    per_letter(lambda letter: "".join(f"%{byte:02x}" for byte in letter.encode())),
    per_letter(lambda letter: "".join(f"%{byte:02X}" for byte in letter.encode())),
    per_letter(lambda letter: f"&#{ord(letter)};"),
    per_letter(lambda letter: f"&#x{ord(letter):X};"),
    html.escape,
    quote,
    quote_plus,
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: base64.urlsafe_b64encode(f"user:{text}@host".encode()).decode(),
    lambda text: base64.b64encode(f"a{text}".encode()).decode().rstrip("="),
    lambda text: text.replace(" ", "\r\n"),
]
# In what the text around it may be written as well.
LAYERS = [str, *WAYS[3:14]]
LETTERS = st.sampled_from("abzAZ09 +/&<>\"'%@ä€😀-_.:\\;#=")
TEXTS = st.text(LETTERS, min_size=6, max_size=20).filter(lambda text: len(text.strip()) > 8)


def units(letter: str) -> list[int]:
    written = letter.encode("utf-16-be")
    return [int.from_bytes(written[place : place + 2]) for place in range(0, len(written), 2)]


@settings(max_examples=200, deadline=None)
@given(
    TEXTS,
    st.sampled_from(WAYS),
    st.sampled_from(LAYERS),
    st.sampled_from(["", "x", " "]),
)
def test_a_secret_is_masked_in_every_encoding(
    text: str, way: Callable[[str], str], outer: Callable[[str], str], beside: str
) -> None:
    """Python's own ways alone were: not `%2f`, `\\u0026`, another case or base64."""
    written = way(text)
    text_with_secret = Masking({text}).masked(f"It said <{beside}{written}{beside}>.")

    assert MASK in text_with_secret
    assert written.strip() not in text_with_secret
    assert MASK in Masking({text}).masked(outer(f"It said {written}, again."))


def test_the_outer_encoding_is_decoded_before_the_inner_one() -> None:
    """Decoded with its HTML, the last `\\\\` of the JSON escaped the quote after it."""
    secret = '0000000"\\'
    text = html.escape(f"It said {json.dumps(secret)}, again.")

    assert Masking({secret}).masked(text) == f"It said &quot;{MASK}&quot;, again."


def test_a_long_text_with_many_encodings_has_few_layers() -> None:
    """Each order of the kinds of escapes was a layer: 25 kB took five seconds and 115 MB."""
    body = '{\n  "error": {"message": "a%20b &amp; \\"x\\" C:\\\\dir"}}\n' * 5
    inner = json.dumps({"u": quote(f"Zx9k-secret{body}") + f"Zx9k-secret{body}"})
    text = json.dumps({"m": html.escape(inner)})

    assert len([*secrecy._layers(text)]) < 50
    assert Masking({"Zx9k-secret"}).masked(text).count(MASK) == 2


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_a_text_without_secrets_is_unchanged(text: str) -> None:
    assert Masking({"swordfish-1"}).masked(text) == text
    assert Masking(set()).masked(text) == text


@pytest.mark.parametrize("text", ["development", "Dev, ops", "a code 400, \\u0026 %41"])
def test_short_secrets_are_masked_only_as_whole_words(text: str) -> None:
    assert Masking({"dev", "40", "op", ""}).masked(text) == text


def test_text_around_a_secret_is_kept() -> None:
    text = Masking({"dev", "swordfish"}).masked("&lt;a&gt; sword\\u0066ish, dev%2c 100%")

    assert text == f"&lt;a&gt; {MASK}, {MASK}%2c 100%"


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
