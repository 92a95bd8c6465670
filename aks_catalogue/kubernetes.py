"""Versions of Kubernetes on AKS, and the namespaces that every cluster has.

To renew them: `az aks get-versions --location eastus --output table` lists versions, plans and the
default of a subscription; AKS's release notes (github.com/Azure/AKS/releases) say what is new; the
calendar on the page "Supported Kubernetes versions in AKS" has the ends. Then AS_OF and DEFAULT.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

# The date of these facts.
AS_OF = date(2026, 11, 22)


# The number of minor versions that a pool can be older than its cluster.
MOST_BEHIND = 3

# AKS's support plans.
OFFICIAL, LONG_TERM = "KubernetesOfficial", "AKSLongTermSupport"


@dataclass(frozen=True)
class MinorVersion:
    """A minor version on AKS: its patch releases, the newest first, and its support plans."""

    patches: tuple[str, ...]
    plans: tuple[str, ...] = (OFFICIAL, LONG_TERM)
    # When support ends, and long-term support; None: not announced.
    ends: date | None = None
    long_term_ends: date | None = None


# Minor versions, default and plans as in AKS's release notes of 2026-10-25, in which 1.37 became
# generally available with long-term support. The patch releases are the newest that the release
# notes name, up to two; those of 1.31 and 1.32 are not verified. The ends are those of AKS's
# release calendar, as of August 2026: without a day, the last one of the month.
ON_AKS: Mapping[str, MinorVersion] = MappingProxyType(
    {
        "1.31": MinorVersion(
            ("1.31.14", "1.31.13"), (LONG_TERM,), date(2025, 11, 1), date(2026, 11, 30)
        ),
        "1.32": MinorVersion(
            ("1.32.13", "1.32.12"), (LONG_TERM,), date(2026, 3, 31), date(2027, 3, 31)
        ),
        "1.33": MinorVersion(
            ("1.33.13", "1.33.12"), (LONG_TERM,), date(2026, 7, 31), date(2027, 7, 31)
        ),
        "1.34": MinorVersion(
            ("1.34.12", "1.34.10"), ends=date(2026, 11, 30), long_term_ends=date(2027, 11, 30)
        ),
        "1.35": MinorVersion(
            ("1.35.9", "1.35.7"), ends=date(2027, 3, 31), long_term_ends=date(2028, 3, 31)
        ),
        "1.36": MinorVersion(
            ("1.36.5", "1.36.3"), ends=date(2027, 6, 30), long_term_ends=date(2028, 6, 30)
        ),
        "1.37": MinorVersion(
            ("1.37.1",), ends=date(2027, 10, 31), long_term_ends=date(2028, 10, 31)
        ),
    }
)
ENDING = "Standard support of 1.34 and long-term support of 1.31 end in November 2026."
# AKS's default version, which a stack without `kubernetesVersion` gets.
DEFAULT = "1.36"
# When the article was published, with a single support plan.
ON_AKS_IN_2021: Mapping[str, MinorVersion] = MappingProxyType(
    {
        "1.18": MinorVersion(("1.18.19", "1.18.17"), (OFFICIAL,)),
        "1.19": MinorVersion(("1.19.11", "1.19.9"), (OFFICIAL,)),
        "1.20": MinorVersion(("1.20.7", "1.20.5"), (OFFICIAL,)),
    }
)

# The namespaces that every new cluster has.
OWN_NAMESPACES = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})

_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(\.[0-9]{1,9})?")


def minor_version(text: str) -> tuple[int, int] | None:
    """Returns the major and minor version; None if the text is not a version."""
    match = _VERSION.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def is_newer_release(text: str, other: str) -> bool:
    """Whether both texts are patch releases, and the first is newer."""
    if text.count(".") < 2 or other.count(".") < 2:
        return False
    numbers, others = (tuple(map(int, release.split("."))) for release in (text, other))
    return numbers > others


def written(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def full_version(text: str) -> str:
    """Returns the patch release that a minor version stands for; any other text as it is."""
    known = ON_AKS.get(text) or ON_AKS_IN_2021.get(text)
    return known.patches[0] if known else text
