"""What the stand-in does not know, refused by its name."""

from collections.abc import Mapping

from provider_kit.serving import ProviderError
from rehearsal.stand_ins.kubernetes.objects import Object, TypeName, type_name

_WORDS = (
    "The rehearsal's stand-in for kubernetes does not know {}: docs/rehearsal.md lists what it "
    "covers."
)

# Groups of the SDK that are none in Kubernetes: what is in them is worked out by the real plug-in.
_NOT_OF_KUBERNETES = ("helm.sh/", "kustomize/", "yaml/")

# How the SDK calls the resources that change a part of what others made.
_PATCH = "Patch"

_ARGUMENTS = ("renderYamlToDirectory", "skipUpdateUnreachable", "strictMode")


def refused(what: str) -> ProviderError:
    return ProviderError(_WORDS.format(what))


def typed(request_type: str, inputs: Object) -> TypeName:
    """The kind of a resource; the SDK hands its type over with those of its parents."""
    token = request_type.rpartition("$")[2]
    found = type_name(token)
    if found is None or found.api_version.startswith(_NOT_OF_KUBERNETES):
        raise refused(f"the type {token}")
    if found.kind == f"{inputs.get('kind')}{_PATCH}":
        raise refused(f"the type {token}")
    return found


def check_arguments(arguments: Mapping[str, object]) -> None:
    """Refuses provider arguments under which another provider would do something else."""
    for name in _ARGUMENTS:
        if arguments.get(name) not in (None, "", "false"):
            raise refused(f"the provider argument {name}")
