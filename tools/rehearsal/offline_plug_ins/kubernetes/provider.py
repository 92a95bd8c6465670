"""The provider: turns the engine's calls into requests to an API server."""

from pulumi.provider.experimental import provider as sdk

from provider_kit.cancellation import Cancellation
from provider_kit.engine_log import EngineLog
from provider_kit.serving import ProviderError, is_provider, old_inputs
from provider_kit.values import plain_map, plain_object
from rehearsal.offline_plug_ins.kubernetes.cluster import Cluster, NoMatchError
from rehearsal.offline_plug_ins.kubernetes.connection import (
    Connection,
    check_arguments,
    config_diff,
)
from rehearsal.offline_plug_ins.kubernetes.differences import object_diff
from rehearsal.offline_plug_ins.kubernetes.lifecycle import Lifecycle, refusals_reported
from rehearsal.offline_plug_ins.kubernetes.objects import (
    Object,
    holds_unknown,
    identified,
    metadata,
    named,
    namespace_of,
    object_id,
    refused,
    typed,
    with_metadata,
)
from rehearsal.offline_plug_ins.kubernetes.recorded import recorded, refreshed
from rehearsal.offline_plug_ins.kubernetes.releases import Releases, is_release


class Kubernetes(sdk.Provider):
    """The provider for objects of any kind."""

    def __init__(self, log: EngineLog) -> None:
        self._log = log
        self._cancellation = Cancellation()
        self._connection = Connection(log)
        self._releases = Releases(self._connection, log, self._cancellation)

    async def check_config(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        check_arguments(plain_map(request.new_inputs))
        return sdk.CheckResponse(inputs=request.new_inputs)

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:
        await self._connection.open(request.variables)
        return sdk.ConfigureResponse(supports_preview=True)

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        if is_release(request.type):
            return self._releases.check(request)
        inputs, old = plain_object(request.new_inputs), plain_object(request.old_inputs)
        typed(request.type, inputs)
        if "generateName" in metadata(inputs):
            raise ProviderError(
                "the `.metadata.generateName` field is not supported in Server-Side Apply mode"
            )
        inputs = named(inputs, old, request.name, request.random_seed)
        return sdk.CheckResponse(inputs=recorded(await self._with_namespace(inputs)))

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        if is_provider(request.type):
            return config_diff(plain_map(request.old_state), plain_map(request.new_inputs))
        if is_release(request.type):
            return self._releases.diff(request)
        old, new = plain_object(old_inputs()), plain_object(request.new_inputs)
        typed(request.type, new)
        return object_diff(
            # A policy of the cluster may have written other values than those that were sent.
            refreshed(old, plain_map(request.old_state)),
            new,
            ignored=request.ignore_changes,
            has_mutable_config_maps=self._connection.has_mutable_config_maps,
        )

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        if is_release(request.type):
            return await self._releases.create(request)
        inputs = plain_object(request.properties)
        typed(request.type, inputs)
        if request.preview:
            planned = inputs
            if cluster := self._connection.cluster:
                planned = await self._lifecycle(request.urn, cluster).preview_creation(inputs)
            return sdk.CreateResponse(properties=recorded(planned))
        lifecycle = self._lifecycle(request.urn, self._connection.reached)
        created = await lifecycle.create(inputs, request.timeout)
        return sdk.CreateResponse(object_id(created), recorded(created))

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        if is_release(request.type):
            return await self._releases.update(request)
        new = plain_object(request.news)
        state = plain_map(request.olds)
        typed(request.type, new)
        if request.preview:
            planned = new
            if cluster := self._connection.cluster:
                planned = await self._lifecycle(request.urn, cluster).preview_update(new, state)
            return sdk.UpdateResponse(recorded(planned))
        lifecycle = self._lifecycle(request.urn, self._connection.reached)
        return sdk.UpdateResponse(recorded(await lifecycle.update(new, state, request.timeout)))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        if is_release(request.type):
            return await self._releases.read(request)
        inputs, state = plain_object(request.inputs), plain_map(request.properties)
        obj = identified(request.resource_id, typed(request.type, inputs))
        if await self._connection.may_forget(request.urn, is_deletion=False):
            return sdk.ReadResponse()
        lifecycle = self._lifecycle(request.urn, self._connection.reached)
        live = await lifecycle.read(obj | inputs | {"metadata": metadata(obj)}, state)
        if live is None:
            return sdk.ReadResponse()
        now = refreshed(inputs, live)
        if inputs:
            await lifecycle.require_ready(inputs, live, now)
        return sdk.ReadResponse(request.resource_id, recorded(live), recorded(now))

    async def delete(self, request: sdk.DeleteRequest) -> None:
        if is_release(request.type):
            await self._releases.delete(request)
            return
        state = plain_map(request.properties)
        obj = identified(request.resource_id, typed(request.type, state)) | state
        if await self._connection.may_forget(request.urn, is_deletion=True):
            return
        await self._lifecycle(request.urn, self._connection.reached).delete(obj, request.timeout)

    async def invoke(self, request: sdk.InvokeRequest) -> sdk.InvokeResponse:
        raise refused(f"the function {request.tok}")

    async def cancel(self) -> None:
        self._cancellation.ask()

    def _lifecycle(self, urn: str, cluster: Cluster) -> Lifecycle:
        return Lifecycle(urn, cluster, self._log, self._cancellation)

    async def _with_namespace(self, inputs: Object) -> Object:
        """Returns the inputs with the provider's namespace, if they need one and have none."""
        cluster = self._connection.cluster
        if cluster is None or holds_unknown(inputs.get("metadata")) or namespace_of(inputs):
            return inputs
        try:
            with refusals_reported():
                kind = await cluster.kind_of(inputs)
        except NoMatchError:
            return inputs
        return with_metadata(inputs, namespace=cluster.namespace) if kind.is_namespaced else inputs
