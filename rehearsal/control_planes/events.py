"""Events as a kubelet writes them."""

import uuid
from typing import Any

Json = dict[str, Any]


def warning(about: Json, kind: str, reason: str, message: str, now: str) -> tuple[str, Json]:
    """The path to post a warning to, and the warning: of a node, or of a pod on one."""
    metadata = about["metadata"]
    name = metadata["name"]
    # A node has no namespace, and its events lie in this one.
    namespace = metadata.get("namespace", "default")
    # A kubelet knows its node by name only, and says so.
    uid = name if kind == "Node" else metadata["uid"]
    host = name if kind == "Node" else about["spec"]["nodeName"]
    involved = {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}
    if kind != "Node":
        involved["namespace"] = namespace
    return f"/api/v1/namespaces/{namespace}/events", {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{uuid.uuid4().hex[:16]}", "namespace": namespace},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "involvedObject": involved,
        "source": {"component": "kubelet", "host": host},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
