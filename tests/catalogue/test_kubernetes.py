"""Versions of Kubernetes on AKS."""

import pytest

from catalogue.kubernetes import DEFAULT, LONG_TERM, ON_AKS, full_version


def test_the_default_is_for_everybody() -> None:
    assert ON_AKS[DEFAULT].plans[0] != LONG_TERM


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.35", "1.35.2"), ("1.18", "1.18.19"), ("1.35.1", "1.35.1"), ("1.99", "1.99")],
)
def test_the_newest_patch_release_stands_for_its_minor_version(text: str, expected: str) -> None:
    assert full_version(text) == expected
