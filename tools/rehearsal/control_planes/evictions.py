"""How a spot node tells that Azure takes it back."""

import re
import uuid
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

from kube_client.objects import conditions
from rehearsal.control_planes import events
from rehearsal.control_planes.nodes import new_condition

Json = dict[str, Any]

# The condition of a spot node that Azure is about to take back. Its type, reason and message are
# those of karpenter-provider-azure (pkg/controllers/nodeclaim/interruption); that of
# VMEventScheduled was seen in a cluster in August 2026, 39 seconds ahead.
PREEMPTION = "PreemptionScheduled"
MONITOR = {"component": "custom-scheduledevents-consolidated-condition-plugin-monitor"}


def notices(at: float, moment: str) -> list[Json]:
    """Returns the conditions by which AKS's node problem detector tells when a node is evicted."""
    when = format_datetime(datetime.fromtimestamp(at, UTC), usegmt=True)
    identity = str(uuid.uuid4()).upper()
    said = f"Preempt Scheduled: {when}. {{}}For more information, see {{}} EventId: {identity}"
    eviction = said.format("", "https://aka.ms/aks-spot-eviction.")
    any_event = said.format("DurationInSeconds: -1. ", "https://aka.ms/aks/scheduledevents")
    return [
        new_condition(PREEMPTION, "SpotEvictionIncoming", eviction, moment, holds=True),
        new_condition("VMEventScheduled", "VMEventScheduled", any_event, moment, holds=True),
    ]


def event(node: Json, notice: Json) -> tuple[str, Json]:
    """Returns the path and body of the event about one of these conditions."""
    kind, reason, said = (notice[key] for key in ("type", "reason", "message"))
    message = f'Node condition {kind} is now: True, reason: {reason}, message: "{said}"'
    return events.event(events.of_node(node), MONITOR, reason, message)


def evicted_at(node: Json) -> float | None:
    """Returns when Azure takes a spot node back; None if there is no notice."""
    message = conditions(node).get(PREEMPTION, {}).get("message", "")
    when = re.match(r"Preempt Scheduled: (.+ GMT)\.", message)
    return parsedate_to_datetime(when[1]).timestamp() if when else None
