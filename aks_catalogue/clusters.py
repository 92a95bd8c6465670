"""Valid names and DNS prefixes of clusters."""

import re
from datetime import date

# The date of these facts.
AS_OF = date(2026, 11, 22)

# ASCII: `\w` would take letters of every language.
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?")
NAME_RULE = "1 to 63 letters, digits, '_' and '-', starting and ending with a letter or digit"
# The first part of the API server's host name.
DNS_PREFIX = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,52}[A-Za-z0-9])?")
DNS_PREFIX_RULE = "1 to 54 letters, digits and '-', starting and ending with a letter or digit"

# Words that Azure reserves, in any case: as a whole name, at its start, or anywhere.
RESERVED_NAMES = ("azure",)
RESERVED_BEGINNINGS = ("login", "xbox")
RESERVED_WORDS = ("microsoft", "windows")

# The object ID of an Entra group.
OBJECT_ID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

# In a stack file, it stands for an ID that whoever takes the file has to fill in.
PLACEHOLDER = "00000000-0000-0000-0000-000000000000"

# The resource group of a cluster's nodes.
LONGEST_NODE_GROUP = 80


def node_group(group: str, name: str, location: str) -> str:
    """Returns the name that AKS gives to the resource group of a cluster's nodes."""
    return f"MC_{group}_{name}_{location}"


def is_reserved(name: str) -> bool:
    """Whether Azure reserves the name."""
    lower = name.lower()
    return (
        lower in RESERVED_NAMES
        or lower.startswith(RESERVED_BEGINNINGS)
        or any(word in lower for word in RESERVED_WORDS)
    )
