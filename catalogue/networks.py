"""The ranges of addresses of a cluster's pods and services."""

import ipaddress
from datetime import date
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

# When the facts here were true.
AS_OF = date(2026, 11, 22)

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

LINK_LOCAL = IPv4Network("169.254.0.0/16")
# What AKS needs itself: no range of a cluster overlaps them.
RESERVED = (
    LINK_LOCAL,
    IPv4Network("192.0.2.0/24"),
    IPv4Network("172.30.0.0/16"),
    IPv4Network("172.31.0.0/16"),
)
# Addresses that are free for private use: RFC 1918 and RFC 6598.
PRIVATE = (
    IPv4Network("10.0.0.0/8"),
    IPv4Network("172.16.0.0/12"),
    IPv4Network("192.168.0.0/16"),
    IPv4Network("100.64.0.0/10"),
)
# Of this range AKS took a part that is public (172.56.0.0/16, recorded in November and December
# 2023, after the release notes that refuse public ranges): what it makes of the rest is unknown.
NOT_KNOWN = IPv4Network("172.0.0.0/8")
# What AKS takes where nobody says it.
PODS, SERVICES = "10.244.0.0/16", "10.0.0.0/16"
# Services have at most 20 bits.
LARGEST_OF_SERVICES = 12
# What each node has of the range of pods, in an overlay.
OF_A_NODE = 24


def network(text: object) -> Network | None:
    """Returns the range that a text names; None if it is none."""
    try:
        return ipaddress.ip_network(str(text))
    except ValueError:
        return None


def address(text: object) -> Address | None:
    try:
        return ipaddress.ip_address(str(text))
    except ValueError:
        return None


def overlap(one: Network | None, other: Network | None) -> bool:
    """Whether two ranges of the same family share addresses."""
    if isinstance(one, IPv4Network) and isinstance(other, IPv4Network):
        return one.overlaps(other)
    if isinstance(one, IPv6Network) and isinstance(other, IPv6Network):
        return one.overlaps(other)
    return False


def is_reserved(found: Network | None) -> bool:
    return any(overlap(found, reserved) for reserved in RESERVED)


def is_public(found: Network | None) -> bool:
    """Whether a range is in the public or in the multicast part of the addresses."""
    if not isinstance(found, IPv4Network):
        return False
    is_private = any(found.subnet_of(private) for private in (*PRIVATE, NOT_KNOWN))
    return not is_private and (found.is_global or found.is_multicast)


def is_too_large_for_services(found: Network | None) -> bool:
    return isinstance(found, IPv4Network) and found.prefixlen < LARGEST_OF_SERVICES


def nodes_in_overlay(pods: Network | None) -> int | None:
    """How many nodes a range of pods is for; None where that is not counted."""
    if not isinstance(pods, IPv4Network):
        return None
    return 0 if pods.prefixlen > OF_A_NODE else 1 << (OF_A_NODE - pods.prefixlen)
