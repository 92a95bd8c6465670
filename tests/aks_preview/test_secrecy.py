"""What Azure's API calls a secret is one in all that the engine is told, marked or not."""

import json
import re
from typing import Any

from google.protobuf import json_format

from aks_catalogue.aks_types import aks_types
from aks_catalogue.secrecy import with_secrets
from aks_preview.configuration import HIDDEN
from provider_kit.secrecy import MASK
from tests.aks_preview.odd import clock
from tests.aks_preview.odd.azure import CLUSTER, Answer, OddAzure, serving
from tests.aks_preview.odd.driver import CLUSTER_TYPE, driving

FAILED = Answer(body={"status": "Failed", "error": {"code": "Broken", "message": "It broke."}})
VALUE = "not for everybody"
INPUTS = {
    "resourceGroupName": "group",
    "resourceName": "cluster",
    "location": "eastus",
    "aadProfile": {"serverAppSecret": VALUE},
    "addonProfiles": {"addon": {"config": {"key": VALUE}}},
    "httpProxyConfig": {"httpProxy": VALUE, "httpsProxy": VALUE},
    "servicePrincipalProfile": {"secret": VALUE},
    "windowsProfile": {"adminPassword": VALUE},
}
# How Azure's names tell of secrets; one is a switch.
TELLING = re.compile("(?i:secret|password|credential|token|private_?key|connectionstring)")
NONE = {"allowSecretAccess"}


def test_properties_with_secret_names_are_secret() -> None:
    """`serverAppSecret` was in clear, beside a `secret` that was not."""
    fields = {field for known in aks_types().values() for field in known}
    assert {field for field in fields if TELLING.search(field)} - HIDDEN <= NONE


def test_a_secret_property_is_never_in_clear_text() -> None:
    kind: dict[str, Any] = {"kind": CLUSTER_TYPE}

    async def answers() -> list[Any]:
        azure = OddAzure(CLUSTER)
        async with serving(azure), driving(azure) as provider:
            urn = f"urn:pulumi:a::b::{CLUSTER_TYPE}::c"
            checked = await provider.ask("Check", urn=urn, news=INPUTS)
            preview = await provider.create(INPUTS, preview=True, **kind)
            made = await provider.create(INPUTS, **kind)
            changed = {**INPUTS, "tags": {"a": "b"}}
            updated = await provider.update(CLUSTER, made.outputs, INPUTS, changed, **kind)
            assert VALUE in json.dumps(updated.outputs)
            read = await provider.read(CLUSTER, updated.outputs, changed, **kind)
            azure.bend("poll", FAILED)
            failed = await provider.update(CLUSTER, made.outputs, INPUTS, changed, **kind)
            assert failed.reasons
            told = [answer.raw for answer in (preview, made, updated, read, failed)]
            return [*told, json_format.MessageToDict(checked)]

    assert VALUE not in json.dumps(with_secrets(clock.run(answers()), lambda _: MASK))
