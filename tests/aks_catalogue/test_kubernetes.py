"""Versions of Kubernetes on AKS."""

import pytest

from aks_catalogue.kubernetes import (
    DEFAULT,
    LONG_TERM,
    ON_AKS,
    full_version,
    is_newer_release,
    minor_version,
)


def test_the_default_version_needs_no_long_term_support() -> None:
    assert ON_AKS[DEFAULT].plans[0] != LONG_TERM


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.35", "1.35.9"), ("1.18", "1.18.19"), ("1.35.1", "1.35.1"), ("1.99", "1.99")],
)
def test_the_newest_patch_release_stands_for_its_minor_version(text: str, expected: str) -> None:
    assert full_version(text) == expected


@pytest.mark.parametrize("text", ["1", "1.x", f"1.{'9' * 5000}", "1.\u0663\u0666"])
def test_a_text_that_is_no_version_has_no_minor_version(text: str) -> None:
    assert minor_version(text) is None


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("1.10.0", "1.9.11", True),
        ("1.9.11", "1.10.0", False),
        ("1.35.2", "1.35.2", False),
        # A minor version alone is none of its patch releases.
        ("1.35", "1.34.1", False),
    ],
)
def test_releases_are_compared_by_their_numbers(text: str, other: str, expected: bool) -> None:
    assert is_newer_release(text, other) is expected
