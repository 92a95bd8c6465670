"""IP ranges of a cluster's pods and services."""

import ipaddress
from datetime import date
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

# The date of these facts.
AS_OF = date(2026, 11, 22)

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

LINK_LOCAL = IPv4Network("169.254.0.0/16")
# Ranges that AKS itself needs: a cluster's ranges must not overlap them.
RESERVED = (
    LINK_LOCAL,
    IPv4Network("192.0.2.0/24"),
    IPv4Network("172.30.0.0/16"),
    IPv4Network("172.31.0.0/16"),
)
# Private ranges, of RFC 1918 and RFC 6598.
PRIVATE = (
    IPv4Network("10.0.0.0/8"),
    IPv4Network("172.16.0.0/12"),
    IPv4Network("192.168.0.0/16"),
    IPv4Network("100.64.0.0/10"),
)
# Public, but AKS accepted a part of it (172.56.0.0/16, recorded in November and December 2023,
# after the release notes that refuse public ranges). Whether it accepts the rest is unknown.
UNCLEAR = IPv4Network("172.0.0.0/8")
# Ranges that stand for others in documentation, of RFC 5737 and RFC 3849: nobody has them.
DOCUMENTATION = (
    IPv4Network("192.0.2.0/24"),
    IPv4Network("198.51.100.0/24"),
    IPv4Network("203.0.113.0/24"),
)
DOCUMENTATION_OF_IPV6 = IPv6Network("2001:db8::/32")
# AKS's defaults.
PODS, SERVICES = "10.244.0.0/16", "10.0.0.0/16"
# The shortest prefix of a service range.
SHORTEST_SERVICE_PREFIX = 12
# The prefix of a node's part of the pod range, in an overlay network.
NODE_PREFIX = 24


def network(text: object) -> Network | None:
    """Returns the IP range in CIDR notation; None if the text is not one."""
    try:
        return ipaddress.ip_network(str(text))
    except ValueError:
        return None


def address(text: object) -> Address | None:
    """Returns the IP address; None if the text is not one."""
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


def is_reserved(cidr: Network | None) -> bool:
    """Whether AKS reserves a part of the range."""
    return any(overlap(cidr, reserved) for reserved in RESERVED)


def is_of_documentation(cidr: Network | None) -> bool:
    """Whether a range is a part of one that stands for others in documentation."""
    if isinstance(cidr, IPv4Network):
        return any(cidr.subnet_of(example) for example in DOCUMENTATION)
    return isinstance(cidr, IPv6Network) and cidr.subnet_of(DOCUMENTATION_OF_IPV6)


def is_public(cidr: Network | None) -> bool:
    """Whether a range contains public or multicast addresses."""
    if not isinstance(cidr, IPv4Network):
        return False
    is_private = any(cidr.subnet_of(private) for private in (*PRIVATE, UNCLEAR))
    return not is_private and (cidr.is_global or cidr.is_multicast)


def is_too_large_for_services(cidr: Network | None) -> bool:
    return isinstance(cidr, IPv4Network) and cidr.prefixlen < SHORTEST_SERVICE_PREFIX


def nodes_in_overlay(pods: Network | None) -> int | None:
    """Returns the number of nodes that a pod range is large enough for; None for IPv6."""
    if not isinstance(pods, IPv4Network):
        return None
    return 0 if pods.prefixlen > NODE_PREFIX else 1 << (NODE_PREFIX - pods.prefixlen)
