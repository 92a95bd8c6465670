"""The provider's arguments, and the environment variables that stand in for them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

_PREFIX = "kubernetes:config:"


@dataclass(frozen=True)
class Settings:
    """What a provider resource says; the engine hands all of it over as text."""

    kubeconfig: str
    context: str
    cluster: str
    namespace: str
    server_side_apply: bool
    patch_force: bool
    upsert: bool
    delete_unreachable: bool
    config_map_mutable: bool
    secret_mutable: bool

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> "Settings":
        def text(name: str) -> str:
            return variables.get(_PREFIX + name, "")

        def flag(name: str, variable: str, default: str = "false") -> bool:
            return (text(name) or os.environ.get(f"PULUMI_K8S_{variable}", default)) == "true"

        return cls(
            kubeconfig=text("kubeconfig"),
            context=text("context"),
            cluster=text("cluster"),
            namespace=text("namespace"),
            server_side_apply=flag("enableServerSideApply", "ENABLE_SERVER_SIDE_APPLY", "true"),
            patch_force=flag("enablePatchForce", "ENABLE_PATCH_FORCE"),
            upsert=flag("upsertExistingObjects", "UPSERT_EXISTING_OBJECTS"),
            delete_unreachable=flag("deleteUnreachable", "DELETE_UNREACHABLE"),
            config_map_mutable=flag("enableConfigMapMutable", "ENABLE_CONFIGMAP_MUTABLE"),
            secret_mutable=flag("enableSecretMutable", "ENABLE_SECRET_MUTABLE"),
        )
