"""Events of the cluster's own programs about its objects."""

import uuid
from typing import Any

from rehearsal.control_planes.containers import now

Json = dict[str, Any]


def event(
    involved: Json, source: Json, reason: str, message: str, kind: str = "Warning"
) -> tuple[str, Json]:
    """Returns the path and body of an event about an object."""
    # Events of nodes, which have no namespace, are in this one.
    namespace = involved.get("namespace", "default")
    return f"/api/v1/namespaces/{namespace}/events", {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{involved['name']}.{uuid.uuid4().hex[:16]}", "namespace": namespace},
        "type": kind,
        "reason": reason,
        "message": message,
        "involvedObject": {"apiVersion": "v1", **involved},
        "source": source,
        "firstTimestamp": now(),
        "lastTimestamp": now(),
        "count": 1,
    }


def of_pod(pod: Json) -> Json:
    """Returns how an event names a pod."""
    names = {key: pod["metadata"][key] for key in ("name", "namespace", "uid")}
    return {"kind": "Pod", **names}


def of_node(node: Json) -> Json:
    """Returns how a kubelet's event names its node: by its name as the uid."""
    name = node["metadata"]["name"]
    return {"kind": "Node", "name": name, "uid": name}
