"""The exact text of a secret is masked; what is none stays legible."""

import pytest
from google.protobuf import json_format
from pulumi.runtime.proto import provider_pb2

from provider_kit.secrecy import MASK, Masking, Secrets
from tests.aks_preview.odd.driver import secret


def of(*names: str, **news: object) -> Secrets:
    request = provider_pb2.CreateRequest()
    json_format.ParseDict(news, request.properties)
    return Secrets(names, request)


def test_the_longest_secret_is_masked_first_and_short_ones_as_whole_words() -> None:
    masked = Masking({"dev", "swordfish", "swordfish-2\n", ""}).masked

    assert masked("a swordfish-2, dev, development") == f"a {MASK}, {MASK}, development"
    assert Masking(set()).masked("dev") == "dev"


def test_marked_values_and_secret_names_are_masked() -> None:
    secrets = of("config", tags={"owner": secret("swordfish")}, config={"key": ["marlin"]})

    assert secrets.masked("owner=swordfish key=marlin") == f"owner={MASK} key={MASK}"


@pytest.mark.parametrize("value", ["true", "False", "", "04da6b54-80e4-46f7-96ec-b56ff0331ba9"])
def test_secrets_that_are_common_words_or_ids_are_not_masked(value: str) -> None:
    text = "true, False, 04da6b54-80e4-46f7-96ec-b56ff0331ba9"

    assert of(tags=secret({"a": value})).masked(text) == text
