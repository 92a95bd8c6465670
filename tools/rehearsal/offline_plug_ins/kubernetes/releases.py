"""Helm releases (`kubernetes:helm.sh/v3:Release`), which a real Helm installs and removes."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import yaml
from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue

from provider_kit.cancellation import Cancellation
from provider_kit.diff import diff
from provider_kit.engine_log import EngineLog
from provider_kit.serving import ProviderError, ResourceInitError, old_inputs, type_token
from provider_kit.values import (
    UNKNOWN,
    plain_map,
    property_map,
    with_secrets,
    with_secrets_of,
)
from rehearsal.offline_plug_ins.kubernetes.connection import Connection
from rehearsal.offline_plug_ins.kubernetes.helm import Helm, HelmError, chart_of
from rehearsal.offline_plug_ins.kubernetes.objects import generated_name, holds_unknown, refused
from rehearsal.pace import time_limit

Json = dict[str, Any]

_TYPE = "kubernetes:helm.sh/v3:Release"
_SECONDS = 300
_INPUTS = "__inputs"
# Inputs that switch a flag of Helm's on: for `install`, for `upgrade`, or for both.
_INSTALL: Mapping[str, str] = MappingProxyType(
    {
        "createNamespace": "--create-namespace",
        "disableWebhooks": "--no-hooks",
        "replace": "--replace",
        "skipCrds": "--skip-crds",
    }
)
_UPGRADE: Mapping[str, str] = MappingProxyType(
    {
        "cleanupOnFail": "--cleanup-on-fail",
        "disableCRDHooks": "--no-hooks",
        "forceUpdate": "--force",
        "resetValues": "--reset-values",
        "reuseValues": "--reuse-values",
    }
)
_BOTH: Mapping[str, str] = MappingProxyType(
    {
        "atomic": "--atomic",
        "devel": "--devel",
        "disableOpenapiValidation": "--disable-openapi-validation",
        "renderSubchartNotes": "--render-subchart-notes",
    }
)
_SWITCHES = (*_INSTALL, *_UPGRADE, *_BOTH, "skipAwait", "waitForJobs")
# The original has every input in the state, with these values where nothing is set. Those that the
# offline plug-in does not support keep them.
_UNSUPPORTED: Mapping[str, Any] = MappingProxyType(
    {
        **dict.fromkeys(
            ("allowNullValues", "dependencyUpdate", "lint", "recreatePods", "verify"), False
        ),
        **dict.fromkeys(("keyring", "postrender"), ""),
    }
)
_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {**_UNSUPPORTED, **dict.fromkeys(_SWITCHES, False), "description": "", "version": ""}
)
_REPOSITORY = ("caFile", "certFile", "keyFile", "password", "username")
_KNOWN = {*_DEFAULTS, "chart", "maxHistory", "name", "namespace", "repositoryOpts", "timeout"}
_KNOWN |= {"compat", "values"}


def is_release(request_type: str) -> bool:
    """Whether a resource's URN has the type of Helm releases."""
    return type_token(request_type) == _TYPE


class Releases:
    """The operations on Helm releases."""

    def __init__(self, connection: Connection, log: EngineLog, cancellation: Cancellation) -> None:
        self._connection = connection
        self._log = log
        self._cancellation = cancellation

    def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        inputs, old = _plain(request.new_inputs), _plain(request.old_inputs)
        for name in inputs:
            if name not in _KNOWN or inputs[name] not in (
                _UNSUPPORTED.get(name, inputs[name]),
                UNKNOWN,
            ):
                raise refused(f"the input {name} of a Helm release")
        repository = inputs.get("repositoryOpts") or {}
        if any(repository.get(name) for name in _REPOSITORY):
            raise refused("a chart repository that asks for credentials")
        checked = {**_DEFAULTS, "values": {}, **inputs}
        checked.pop("compat", None)
        kept = inputs.get("name") or old.get("name")
        checked["name"] = kept or generated_name(request.name, request.random_seed)
        cluster = self._connection.cluster
        checked["namespace"] = inputs.get("namespace") or (
            cluster.namespace if cluster else "default"
        )
        if repository and not holds_unknown(repository):
            checked["repositoryOpts"] = {**dict.fromkeys(_REPOSITORY, ""), **repository}
        # The original sets no time limit for a release that it does not wait for.
        checked.setdefault("timeout", 0 if checked["skipAwait"] else _SECONDS)
        failures = []
        if not holds_unknown(inputs):
            try:
                checked["version"] = chart_of(checked).version
            except HelmError as error:
                reason = f"{error}; check the chart name and repository configuration."
                failures.append(sdk.CheckFailure("chart", reason))
        secret = with_secrets_of(property_map(checked), request.new_inputs)
        return sdk.CheckResponse(inputs=secret, failures=failures)

    def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        old, new = _plain(old_inputs()), _plain(request.new_inputs)
        # Against the state, so that what a refresh has found is put back.
        known = _restricted(_plain(request.old_state), old, new)
        found = diff(known, new, replaces=("name", "namespace"), ignored=request.ignore_changes)
        found.delete_before_replace = False
        return found

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        inputs = _plain(request.properties)
        if request.preview:
            return sdk.CreateResponse(properties=_planned(request.properties))
        helm = self._helm()
        try:
            await self._apply(helm, "install", inputs)
        except HelmError as error:
            if (live := await helm.release(inputs["namespace"], inputs["name"])) is None:
                raise
            await self._log.warning(
                request.urn,
                f'Helm release "{inputs["name"]}" was created but has a failed status. Use the '
                "`helm` command to investigate the error, correct it, then retry. Reason: "
                f"{error}",
            )
            failed = "was created, but failed to initialize completely"
            raise _failed(request.properties, live, failed, error) from error
        return sdk.CreateResponse(_id(inputs), await self._live(helm, request.properties))

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        inputs = _plain(request.news)
        if request.preview:
            return sdk.UpdateResponse(_planned(request.news))
        helm = self._helm()
        try:
            await self._apply(helm, "upgrade", inputs)
        except HelmError as error:
            live = await helm.release(inputs["namespace"], inputs["name"])
            if live is None or "has no deployed releases" in str(error):
                raise
            raise _failed(request.news, live, "failed to initialize completely", error) from error
        return sdk.UpdateResponse(await self._live(helm, request.news))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        state = _plain(request.properties)
        if _INPUTS not in state:
            raise refused("the import of a Helm release")
        if await self._connection.may_forget(request.urn, is_deletion=False):
            return sdk.ReadResponse()
        inputs = state.pop(_INPUTS)
        live = await self._helm().release(state["namespace"], state["name"])
        if live is None:
            return sdk.ReadResponse()
        return sdk.ReadResponse(
            request.resource_id, _recorded(request.properties, inputs, live), property_map(inputs)
        )

    async def delete(self, request: sdk.DeleteRequest) -> None:
        state = _plain(request.properties)
        # `deleteUnreachable` is for objects alone.
        if self._connection.cluster is None:
            raise ProviderError(
                "can't delete Helm Release with unreachable cluster. Reason: "
                f'"{self._connection.reason}"'
            )
        waits = ["--wait", *_limit(state)] if state.get("atomic") or not state["skipAwait"] else []
        await self._helm().run("uninstall", state["name"], "-n", state["namespace"], *waits)

    def _helm(self) -> Helm:
        # Without a cluster this fails with the reason.
        _ = self._connection.reached
        return Helm(self._connection.kubeconfig, self._cancellation)

    async def _apply(self, helm: Helm, verb: str, inputs: Json) -> None:
        own = _INSTALL if verb == "install" else _UPGRADE
        flags = [flag for name, flag in {**own, **_BOTH}.items() if inputs[name]]
        flags += [] if inputs["skipAwait"] else ["--wait"]
        flags += ["--wait-for-jobs"] * (inputs["waitForJobs"] and not inputs["skipAwait"])
        flags += ["--description", inputs["description"]] * bool(inputs["description"])
        if verb == "upgrade":
            flags += ["--history-max", str(inputs.get("maxHistory", 0))]
        values, place = inputs["values"], (inputs["name"], inputs["namespace"])
        await helm.apply(verb, chart_of(inputs), *place, values, [*flags, *_limit(inputs)])

    async def _live(
        self, helm: Helm, given: Mapping[str, PropertyValue]
    ) -> dict[str, PropertyValue]:
        inputs = _plain(given)
        live = await helm.release(inputs["namespace"], inputs["name"])
        if live is None:
            raise ProviderError(f"Helm release {_id(inputs)} has gone meanwhile")
        return _recorded(given, inputs, live)


def _plain(values: Mapping[str, PropertyValue]) -> Json:
    # Not those in the chart's values: with a null, Helm leaves out a default.
    return {name: value for name, value in plain_map(values).items() if value is not None}


def _id(inputs: Json) -> str:
    return f"{inputs['namespace']}/{inputs['name']}"


def _limit(inputs: Json) -> list[str]:
    return ["--timeout", f"{time_limit(inputs.get('timeout') or _SECONDS):.0f}s"]


def _restricted(state: Any, old: Any, new: Any) -> Any:
    """Returns the part of the state that the old or the new inputs have."""
    if not isinstance(state, Mapping):
        return state
    sides = [side for side in (old, new) if isinstance(side, Mapping)]
    keys = {key: None for side in sides for key in side if key in state}
    return {
        key: _restricted(state[key], *(_member(side, key) for side in (old, new))) for key in keys
    }


def _member(values: Any, key: str) -> Any:
    return values.get(key) if isinstance(values, Mapping) else None


def _planned(given: Mapping[str, PropertyValue]) -> dict[str, PropertyValue]:
    inputs = _plain(given)
    later = {"resourceNames": UNKNOWN, "status": UNKNOWN}
    return _sealed({**inputs, **later, _INPUTS: inputs}, given)


def _sealed(outputs: Json, given: Mapping[str, PropertyValue]) -> dict[str, PropertyValue]:
    """Returns outputs in the engine's form; what was given as a secret is one, and all inputs."""
    return with_secrets(with_secrets_of(property_map(outputs), given), {_INPUTS})


def _recorded(
    given: Mapping[str, PropertyValue], inputs: Json, live: Json
) -> dict[str, PropertyValue]:
    """Returns the outputs: the inputs, with what Helm has now."""
    about = live["metadata"]
    names: dict[str, set[str]] = {}
    for obj in yaml.safe_load_all(live.get("manifest") or ""):
        if obj and "kind" in obj:
            group = obj["apiVersion"].rpartition("/")[0]
            kind = f"{obj['kind']}.{group}" if group else obj["kind"]
            meta = obj["metadata"]
            name = f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else meta["name"]
            names.setdefault(f"{kind}/{obj['apiVersion']}", set()).add(name)
    outputs = {
        **inputs,
        "values": live.get("config") or {},
        "version": about["version"],
        "resourceNames": {kind: sorted(of_kind) for kind, of_kind in sorted(names.items())},
        "status": {
            "appVersion": about.get("appVersion", ""),
            "chart": about["chart"],
            "name": live["name"],
            "namespace": live["namespace"],
            "revision": live["version"],
            "status": live["info"]["status"],
            "version": about["version"],
        },
        _INPUTS: inputs,
    }
    return _sealed(outputs, given)


def _failed(
    given: Mapping[str, PropertyValue], live: Json, what: str, error: HelmError
) -> ResourceInitError:
    inputs = _plain(given)
    name = _id(inputs)
    return ResourceInitError(
        f'Helm release "{name}" {what}. Use Helm CLI to investigate: failed to become available '
        f"within allocated timeout. Error: Helm Release {name}: {error}",
        resource_id=name,
        properties=_recorded(given, inputs, live),
    )
