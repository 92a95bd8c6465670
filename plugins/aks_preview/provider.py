"""The provider aks-preview, with its resource types and settings."""

from pulumi.provider.experimental import provider as sdk

from aks_catalogue.mistakes import Mistake
from aks_preview.aks_resource import AksResource
from aks_preview.aks_types import AKS_TYPES
from aks_preview.configuration import HIDDEN, PACKAGE, SETTINGS
from aks_preview.features import FEATURE_TYPE, FeatureRegistration
from aks_preview.schema import schema
from provider_kit.arm import Arm
from provider_kit.cancellation import Cancellation
from provider_kit.configuration import Configuration
from provider_kit.engine_log import EngineLog, engine_address
from provider_kit.provider import Handler, HandlerProvider
from provider_kit.values import plain_map

# The engine passes these with the settings.
_OF_THE_ENGINE = frozenset({"pluginDownloadURL", "version"})


class AksPreview(HandlerProvider):
    """Node pools, clusters and preview features of AKS, with custom HTTP headers."""

    hidden = HIDDEN
    seconds = 3600.0

    def __init__(self) -> None:
        cancellation, log = Cancellation(), EngineLog(engine_address())
        self._arm = Arm(cancellation)
        features = FeatureRegistration(self._arm, log)
        handlers: dict[str, Handler] = {
            token: AksResource(known, self._arm, log, features.is_new)
            for token, known in AKS_TYPES.items()
        }
        super().__init__({**handlers, FEATURE_TYPE: features}, cancellation, log)

    async def get_schema(self, request: sdk.GetSchemaRequest) -> sdk.GetSchemaResponse:  # noqa: ARG002
        return sdk.GetSchemaResponse(schema())

    async def check_config(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        given = request.new_inputs.keys() - _OF_THE_ENGINE
        reason = f"is not a setting: use one of {', '.join(SETTINGS)}"
        mistakes = [Mistake(name, reason) for name in sorted(given - SETTINGS.keys())]
        return self.checked(request, mistakes)

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:
        self._arm.configuration = Configuration(plain_map(request.args), PACKAGE, SETTINGS)
        # With their marks, so that it can mask secrets in errors.
        return sdk.ConfigureResponse(accept_secrets=True, supports_preview=True)
