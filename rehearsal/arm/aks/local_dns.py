"""AKS's refusals of a pool's `localDNSProfile`."""

from collections.abc import Mapping
from typing import Any

from catalogue.shapes import at
from rehearsal.arm.aks.refusals import UNRECORDED, Case, Check, Rule, Words, invalid

MODES = ("Disabled", "Preferred", "Required")
SECTIONS = ("vnetDNSOverrides", "kubeDNSOverrides")
# The zones that each section requires.
ROOT, CLUSTER = ".", "cluster.local"
_PAGE = "page: LocalDNS in AKS (2026-08), which says that AKS enforces it"


def _unknown_mode(case: Case) -> Words | None:
    profile = case.at("localDNSProfile")
    if profile is None:
        return None
    mode = str(profile.get("mode") or "")
    known = [choice.lower() for choice in MODES]
    return None if mode.lower() in known else {"value": mode}


def _lacks(section: str) -> Check:
    """Returns a check that a pool with one section has the other too, sent or from before."""

    def refuses(case: Case) -> Words | None:
        given, had = case.at("localDNSProfile") or {}, at(case.before, "localDNSProfile") or {}
        is_one_said = any(other in given for other in SECTIONS)
        return {} if is_one_said and section not in {**given, **had} else None

    return refuses


def _lacks_zone(section: str) -> Check:
    def refuses(case: Case) -> Words | None:
        given = case.at(f"localDNSProfile.{section}")
        if given is None:
            return None
        return next(({"zone": zone} for zone in (ROOT, CLUSTER) if zone not in given), None)

    return refuses


def _leads_nowhere(section: str) -> Check:
    def refuses(case: Case) -> Words | None:
        for zone, settings in (case.at(f"localDNSProfile.{section}") or {}).items():
            if reason := _why_nowhere(section, zone, settings):
                return {"zone": zone, "reason": reason}
        return None

    return refuses


def _why_nowhere(section: str, zone: str, settings: Mapping[str, Any]) -> str | None:
    names = ("forwardDestination", "protocol", "serveStale")
    destination, protocol, stale = (str(settings.get(name)).lower() for name in names)
    if zone == ROOT and section == "vnetDNSOverrides" and destination == "clustercoredns":
        return "forwardDestination cannot be ClusterCoreDNS"
    if zone == CLUSTER and destination == "vnetdns":
        return "forwardDestination cannot be VnetDNS"
    if protocol == "forcetcp" and stale == "verify":
        return "serveStale cannot be Verify with protocol ForceTCP"
    return None


def _of_section(section: str) -> tuple[Rule, ...]:
    parameter = f"localDNSProfile.{section}"
    # The name of the field in Go, in which AKS is written.
    shown = section[0].upper() + section[1:]
    return (
        Rule(
            name=f"pool-local-dns-{section}-said",
            summary=f"A new `localDNSProfile` with the other section requires `{section}` too.",
            source="test_aks_nodepool_add_with_localdns_required_mode_single_kubedns and "
            "_single_vnetdns (2, 2025-10)",
            refuses=_lacks(section),
            error=invalid(parameter, f"{shown} must not be nil."),
            target=parameter,
        ),
        Rule(
            name=f"pool-local-dns-{section}",
            summary=f"`{section}` has an entry for the zones {ROOT} and {CLUSTER}.",
            source="test_aks_nodepool_update_with_localdns_required_mode_invalid_vnetdns and "
            "others (5, 2025-10)",
            refuses=_lacks_zone(section),
            error=invalid(parameter, f"zone '\"{{zone}}\"' is required in {shown}."),
            target=parameter,
        ),
        Rule(
            name=f"pool-local-dns-{section}-zones",
            summary=(
                f"In `{section}` the zone {CLUSTER} is not forwarded to VnetDNS, the zone {ROOT} "
                "of "
                "vnetDNSOverrides not to ClusterCoreDNS, and Verify is not used with ForceTCP."
            ),
            source=f"{_PAGE}; {UNRECORDED}",
            refuses=_leads_nowhere(section),
            error=invalid(parameter, "zone '\"{zone}\"': {reason}."),
            target=parameter,
        ),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        name="pool-local-dns-mode",
        summary=f"`localDNSProfile` requires a `mode`: {', '.join(MODES)}.",
        source="test_aks_nodepool_add_with_localdns_empty_mode and others (7, 2025-10)",
        refuses=_unknown_mode,
        error=invalid(
            "localDNSProfile.mode",
            "value {value} is not allowed. Only Disabled, Preferred and Required are allowed.",
        ),
        target="localDNSProfile.mode",
    ),
    *(rule for section in SECTIONS for rule in _of_section(section)),
)
