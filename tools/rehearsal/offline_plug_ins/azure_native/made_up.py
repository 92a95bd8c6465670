"""What a row of native_types.csv says of a type, by one rule from the SDK, for all other types.

The SDK has the names in a path, without their order and without the types that they are of. So the
path is made up, and says so: whoever meets it in a log or an output is not misled.
"""

import inspect
import re
import sys
from importlib import import_module

from pulumi import _types as sdk_types

from rehearsal.offline_plug_ins import MADE_UP

# The name of a resource whose type has no name of its own, but stands several times below another.
# azure-native keeps inputs that begin like this to itself.
HIDDEN_NAME = "__name"
# The ID of the resource that such a type extends.
_SCOPES = ("scope", "resourceUri", "resourceId", "resourceScope")
_GROUP = "resourceGroupName"
# Optional names in the address of a request that are no resource's name.
_NO_NAMES = ("expand", "format", "subscriptionId", "top")
_VERSION = re.compile(r"Uses Azure REST API version ([\w-]+)\.")
# Of the few types whose documentation has none.
_ANY_VERSION = "2024-11-01"


def class_of(token: str) -> type | None:
    """Returns the SDK's class of a resource type; None if it has none."""
    package, _, rest = token.partition(":")
    module_name, _, name = rest.partition(":")
    if package != "azure-native" or not module_name.isidentifier():
        return None
    try:
        found = getattr(import_module(f"pulumi_azure_native.{module_name}"), name, None)
    except ImportError:
        return None
    is_resource = isinstance(found, type) and hasattr(found, "_internal_init")
    return found if is_resource else None


def api_version(resource: type) -> str:
    found = _VERSION.search(inspect.getsource(resource))
    return found[1] if found else _ANY_VERSION


def path(resource: type, args: type) -> str:
    """Returns the path of a type: what its `get` function asks for, the own name last."""
    module = sys.modules[resource.__module__]
    package, _, file = module.__name__.rpartition(".")
    getter = getattr(import_module(package), f"get_{file}", None)
    optional, required = _names(args, getter)
    scope = next((name for name in _SCOPES if name in required), "")
    own = next((name for name in reversed(optional) if name.lower().endswith("name")), "")
    own = own or next(iter(optional), "") or ("" if getter else HIDDEN_NAME)
    start = f"/{{{scope}}}" if scope else f"/resourceGroups/{{{_GROUP}}}" * (_GROUP in required)
    above = "".join(
        f"/{name.removesuffix('Name')}/{{{name}}}"
        for name in required
        if name not in (scope, _GROUP)
    )
    last = f"{{{own}}}" if own else "default"
    kind = package.rpartition(".")[2]
    return f"{start}/providers/{MADE_UP}{kind}{above}/{resource.__name__}/{last}"


def _names(args: type, getter: object) -> tuple[list[str], list[str]]:
    """Returns the names in the path that a program can leave out, and those that it cannot."""
    wire = sdk_types.input_type_py_to_pulumi_names(args)
    parameters = inspect.signature(args.__init__).parameters  # type: ignore[misc]
    asked = inspect.signature(getter).parameters if callable(getter) else None
    optional, required = list[str](), list[str]()
    for name in wire:
        is_optional = parameters[name].default is not inspect.Parameter.empty
        is_asked = name in asked if asked else not is_optional and name.endswith("_name")
        if is_asked and wire[name] not in _NO_NAMES:
            (optional if is_optional else required).append(wire[name])
    return optional, sorted(required)
