"""All errors of this server: status, code, message and shape.

There are two shapes. Errors of Resource Manager are nested under `error`; errors of the AKS
resource provider behind it are flat, with `subcode` and `details` beside the code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from catalogue import resource_groups


@dataclass(frozen=True)
class Refusal:
    status: int
    code: str
    message: str
    subcode: str
    is_flat: bool
    # The code and the target of the only entry in `details`, which repeats the error.
    details: tuple[str, str | None] | None = None
    # The description in the header of a 401, if it differs from the message.
    challenge: str | None = None

    @property
    def cause(self) -> str | None:
        """Returns the header `x-ms-failure-cause`; AKS's 4xx responses have none."""
        if not self.is_flat:
            return "gateway"
        return "service" if self.status >= 500 else None


def _arm(
    text: str,
    subcode: str = "",
    *,
    is_flat: bool = False,
    details: tuple[str, str | None] | None = None,
    challenge: str | None = None,
) -> Refusal:
    """Returns a refusal written as `status code: message`."""
    heading, _, message = text.partition(": ")
    status, _, code = heading.partition(" ")
    return Refusal(int(status), code, message, subcode, is_flat, details, challenge)


of_aks = partial(_arm, is_flat=True)
_aks = of_aks
of_arm = _arm

NO_AUTHORIZATION = _arm(
    "401 AuthenticationFailed: Authentication failed. The 'Authorization' header is missing."
)
WRONG_SCHEME = _arm(
    "401 AuthenticationFailedInvalidHeader: Authentication failed. The 'Authorization' header is "
    "not in the form 'Bearer <token>'."
)
EXPIRED_TOKEN = _arm(
    "401 ExpiredAuthenticationToken: The access token expiry UTC time '{expiry}' is earlier than "
    "current UTC time '{now}'.",
    challenge="The access token has expired.",
)
INVALID_TOKEN = _arm("401 InvalidAuthenticationToken: The access token is invalid.")
WRONG_AUDIENCE = _arm(
    "401 InvalidAuthenticationTokenAudience: The access token was obtained for another resource. "
    "The audience here is '{audience}'."
)
BAD_HOST = _arm("400 BadRequest: The header Host is invalid.")
NO_API_VERSION = _arm(
    "400 MissingApiVersionParameter: The api-version query parameter (?api-version=) is required "
    "for all requests."
)
# In public logs of ansible-collections/azure#1739, and of Azure/azure-cli#28368.
BAD_API_VERSION = _arm(
    "400 InvalidApiVersionParameter: The api-version '{version}' is invalid. The supported versions"
    " are '{supported}'."
)
NO_SUCH_API_VERSION = _arm(
    "400 NoRegisteredProviderFound: No registered resource provider found for location '{location}'"
    " and API version '{version}' for type '{type}'. The supported api-versions are '{supported}'. "
    "The supported locations are '{locations}'."
)
NO_SUBSCRIPTION = _arm(
    "404 SubscriptionNotFound: The subscription '{subscription}' could not be found."
)
# Azure may have what the rehearsal lacks. A 404 would mean that it does not exist.
NOT_REHEARSED = _arm("501 NotImplemented: The rehearsal does not have {what}.")
BAD_CONTENT = _arm(
    "400 InvalidRequestContent: The request content was invalid and could not be deserialized: "
    "'{reason}'."
)
# From public logs, as is the status.
TOO_LARGE = _arm(
    "413 RequestContentTooLarge: The request content size exceeds the maximum size of 4 MB."
)
BAD_PARAMETER = _arm(
    "400 InvalidParameter: The value '{value}' of the parameter '{name}' cannot be understood."
)
NO_LOCATION_HERE = _arm(
    "400 NoRegisteredProviderFound: No registered resource provider found for location "
    "'{location}' and type '{type}'."
)
UNREGISTERED = _arm(
    "409 MissingSubscriptionRegistration: The subscription is not registered to use namespace "
    "'{namespace}'. See https://aka.ms/rps-not-found for how to register subscriptions.",
    details=("MissingSubscriptionRegistration", "{namespace}"),
)
# From Azure/azure-cli#16368 and cloud-barista/cb-spider#527.
NO_LOCATION_FOR_GROUP = _arm(
    "400 LocationNotAvailableForResourceGroup: The provided location '{location}' is not available "
    "for resource group. List of available regions is '{locations}'."
)
NO_LOCATION = _arm("400 LocationRequired: The location property is required for this definition.")
BAD_GROUP_NAME = _arm(
    "400 InvalidResourceGroup: The provided resource group name '{name}' is invalid: "
    f"{resource_groups.NAME_RULE}."
)
GROUP_MOVED = _arm(
    "409 InvalidResourceGroupLocation: Invalid resource group location '{requested}'. The Resource"
    " group already exists in location '{present}'."
)
RESOURCE_MOVED = _arm(
    "409 InvalidResourceLocation: The resource '{name}' already exists in location '{present}'. A "
    "resource with the same name cannot be created in location '{requested}'."
)
GROUP_GOING = _arm(
    "409 ResourceGroupBeingDeleted: The resource group '{name}' is in deprovisioning state and "
    "cannot perform this operation."
)
NO_GROUP = _arm("404 ResourceGroupNotFound: Resource group '{name}' could not be found.")
NO_RESOURCE = _arm(
    "404 ResourceNotFound: The Resource '{type}/{name}' under resource group '{group}' was not "
    "found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"
)
NO_PARENT = _arm(
    "404 ParentResourceNotFound: Failed to perform 'write' on resource(s) of type '{type}', because"
    " the parent resource '{parent}' could not be found."
)
# In public logs of Azure/azure-cli#31837.
NO_IDENTITY = _arm(
    "400 FailedIdentityOperation: Identity operation for resource '{resource}' failed with error "
    "'Failed to perform resource identity operation. Status: 'BadRequest'. Response: '{{\"error\": "
    '{{"code":"BadRequest","message":"Resource \'{identity}\' was not found."}}}}\'.\'.'
)
# In public logs of sassoftware/viya4-iac-azure#163.
NO_SUBNET = _aks(
    "400 SubnetNotFound: Could not find subnet {name} in vnet {network} from resource group {group}"
    " of subscription {subscription}."
)
NO_OPERATION = _arm("404 NotFound: The operation '{name}' could not be found.")
CHANGED_SINCE = _arm(
    "412 PreconditionFailed: The condition '{header}: {value}' does not hold: the resource's etag "
    "is now '{etag}'."
)
NO_CONTROL_PLANE = _arm(
    "501 NotImplemented: The rehearsal does not have a control plane for the cluster '{name}' yet, "
    "so there are no credentials."
)
NO_CREDENTIALS_YET = _aks(
    "400 ControlPlaneNotReady: The cluster '{name}' has no credentials now. {reason}"
)
NO_LOCAL_ACCOUNTS = _aks(
    "400 BadRequest: Getting static credential is not allowed because this cluster is set to "
    "disable local accounts."
)
NO_MEMORY = _aks("400 RehearsalOutOfMemory: {reason}")
NOT_WRITTEN = _arm(
    "500 InternalServerError: The rehearsal cannot write its state: {reason}. Nothing has changed. "
    "Make room on its disk, and try again."
)
BROKEN = _arm("500 InternalServerError: The rehearsal failed; see its server.log.")
NO_POOL = _aks(
    "404 NotFound: Could not find the agentpool: {name} in subscription: {subscription}, "
    "resourceGroup: {group}, resourceName: {cluster}.",
    "GetAgentPool_NotFound",
    details=("Unspecified", None),
)
NO_MACHINE = _aks("404 NotFound: The entity was not found.", "GetMachine_NotFound_HCPServerError")
BUSY = _aks(
    "409 OperationNotAllowed: Operation is not allowed: Another {kind}operation ({name} - {state}) "
    "is in progress, please wait for it to finish before starting a new operation. See "
    "https://aka.ms/aks-pending-operation for more details"
)
# AKS documents the status; the message is not on record.
NOTHING_TO_ABORT = _aks(
    "409 OperationNotAllowed: '{name}' ({state}) has no operation in progress to abort."
)
# The first sentence is of MicrosoftDocs/azure-docs#85161; its code is not on record.
WRONG_POWER = _aks(
    "400 OperationNotAllowed: managed cluster is in Provisioning State({state}) and Power "
    "State({power}), {action} cannot be performed"
)
LAST_SYSTEM_POOL = _aks(
    "400 OperationNotAllowed: The last System pool '{name}' of a cluster cannot be deleted: a "
    "cluster needs at least one.",
    "LastSystemAgentPool",
)
NO_SYSTEM_POOL = _aks("400 MustDefineAtLeastOneSystemPool: Must define at least one system pool.")
NEW_INLINE_POOL = _aks(
    "400 BadRequest: A new agent pool was introduced. Adding agent pools to an existing cluster is"
    " not allowed through managed cluster operations. For agent pool specific change, please use "
    "per agent pool operations: https://aka.ms/agent-pool-rest-api"
)
UNKNOWN_FIELD = _aks(
    '400 UnmarshalError: UnmarshalEntity encountered error: json: unknown field "{field}" Check '
    "that the field is in the right location, is spelled correctly, and is supported in the API "
    "version. Visit aka.ms/aks/apiversions for more API version information.."
)
WRONG_KIND = _aks(
    "400 UnmarshalError: UnmarshalEntity encountered error: json: cannot unmarshal {value} into Go "
    "struct field {field} of type {kind}."
)
IMMUTABLE = _aks("400 PropertyChangeNotAllowed: Changing property '{property}' is not allowed.")
# The message is of terraform-provider-azurerm#4543; its code is not on record.
AUTOSCALED_COUNT = _aks(
    "400 BadRequest: Cannot manually scale AgentPool of an AKS cluster with cluster autoscaler "
    "enabled"
)
MISSING_PARAMETER = _aks("400 InvalidParameter: Required parameter {parameter} is missing (null).")
INVALID_PARAMETER = _aks(
    "400 InvalidParameter: The value of parameter {parameter} is invalid. Error details: {reason}"
)
FEATURE_NOT_REGISTERED = _aks(
    "400 PreviewFeatureNotRegistered: Preview feature {namespace}/{feature} not registered, or the"
    " resource provider {namespace} not registered again since it is."
)
# From public logs, as is that AKS says so at once.
NO_ENCRYPTION_AT_HOST = _aks(
    "400 SubscriptionNotEnabledEncryptionAtHost: Subscription does not enable EncryptionAtHost."
)
# The pages about capacity reservation groups say that AKS needs these; its words are not on record.
_CAPACITY = "400 BadRequest: Capacity reservation group {group} cannot be used: "
NO_IDENTITY_FOR_CAPACITY = _aks(
    _CAPACITY + "the cluster must have a user-assigned managed identity."
)
NO_CAPACITY_GROUP = _aks(_CAPACITY + "it does not exist in location {location}.")
NO_SPECIALIZED_IMAGE = _aks(
    "400 BadRequest: The specialized GPU image, which the header {header} asks for, was retired on"
    " {date}, and with it the feature {feature}: no new node pool gets it. Leave the header out: "
    "on the default image AKS installs the driver, and a device plugin of your own offers the "
    "GPUs.",
    "GPUDedicatedVHDRetired",
)
_VERSIONS = (
    "Please use [az aks get-versions] command to get the supported version list in this region. For"
    " more information, please check https://aka.ms/supported-version-list"
)
NO_SUCH_KUBERNETES = _aks(
    "400 K8sVersionNotSupported: Managed cluster {cluster} is on version {version}, which is not "
    "supported in this region. " + _VERSIONS
)
LONG_TERM_ONLY = _aks(
    "400 K8sVersionNotSupported: Managed cluster {cluster} is on version {version}, which is only "
    "available for Long-Term Support (LTS). If you intend to onboard to LTS, please ensure the "
    "cluster is in Premium tier and LTS support plan. Otherwise: " + _VERSIONS
)
NO_LONG_TERM = _aks(
    "400 K8sVersionNotSupported: Managed cluster {cluster} is on version {version}, which has no "
    "Long-Term Support (LTS). " + _VERSIONS
)
# From public logs, as are the codes.
DOWNGRADE = _aks(
    "400 OperationNotAllowed: Downgrading Kubernetes version {before} to {after} is not allowed. "
    "Available upgrades: {upgrades}. Please see https://aka.ms/aks-supported-k8s-ver for version "
    "details."
)
UPGRADE_TOO_FAR = _aks(
    "400 OperationNotAllowed: Upgrading Kubernetes version {before} to {after} is not allowed. "
    "Available upgrades: {upgrades}. Please see https://aka.ms/aks-supported-k8s-ver for version "
    "details."
)
_INCOMPATIBLE = (
    "400 NodePoolMcVersionIncompatible: Node pool version {pool} and control plane version "
    "{cluster} are incompatible. "
)
POOL_TOO_NEW = _aks(
    _INCOMPATIBLE + "Minor version of node pool version {pool_minor} is bigger than control plane "
    "version {cluster_minor}. For more information, please check "
    "https://aka.ms/version-skew-policy"
)
# AKS documents that it refuses this; the message is not on record.
POOL_RELEASE_TOO_NEW = _aks(
    _INCOMPATIBLE + "The node pool version is newer than the control plane version. For more "
    "information, please check https://aka.ms/version-skew-policy"
)
POOL_TOO_OLD = _aks(
    _INCOMPATIBLE + "Minor version of node pool cannot be more than {most} versions less than "
    "control plane's version. Minor version of node pool is {pool_minor} and control plane is "
    "{cluster_minor}. For more information, please check https://aka.ms/aks/UpgradeVersionRules"
)
SOME_POOLS_VERSIONS = _aks(
    "400 NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged: Using managed cluster api, all "
    "Agent pools' OrchestratorVersion must be all specified or all unspecified. If all specified, "
    "they must be stay unchanged or the same with control plane. For agent pool specific change, "
    "please use per agent pool operations: https://aka.ms/agent-pool-rest-api"
)
# From public terraform logs: the wording, and that AKS answers at once.
SIZE_NOT_ALLOWED = _aks(
    "400 BadRequest: The VM size of {size} is not allowed in your subscription in location "
    "'{location}'{reason} For more details, please visit https://aka.ms/aks/quotas-skus-regions",
    "VMSizeNotSupported",
)
UNKNOWN_SIZE = _aks(
    "400 BadRequest: The rehearsal does not know the VM size {size}: it cannot say whether Azure "
    "has it in location '{location}'.",
    "VMSizeNotSupported",
)
NO_ZONES_HERE = _aks(
    "400 AvailabilityZoneNotSupported: Availability zone is not supported in this region."
)
ZONE_NOT_SUPPORTED = _aks(
    "400 AvailabilityZoneNotSupported: The zone(s) '{zones}' for resource '{pool}' is not "
    "supported. The supported zones for location '{location}' are '{supported}'"
)
_QUOTA_ADVICE = (
    "If you want to increase the quota, please follow this instruction: "
    "https://learn.microsoft.com/en-us/azure/quotas/view-quotas. Surge nodes would also consume "
    "vcpu quota, please consider use smaller maxSurge or use maxUnavailable to proceed upgrade "
    "without surge nodes, details: aka.ms/aks/maxUnavailable."
)
NO_FAMILY_QUOTA = _aks(
    "400 ErrCode_InsufficientVCPUQuota: Insufficient vcpu quota requested {requested}, remaining "
    "{left} for family {family} for region {location}. " + _QUOTA_ADVICE
)
NO_REGIONAL_QUOTA = _aks(
    "400 ErrCode_InsufficientVCPUQuota: Insufficient regional vcpu quota left for location "
    "{location}. left regional vcpu quota {left}, requested quota {requested}. " + _QUOTA_ADVICE
)


class ArmError(Exception):
    """A request is refused."""

    def __init__(self, refusal: Refusal, target: str | None = None, **words: object) -> None:
        self.refusal = refusal
        self.target = target
        self.message = refusal.message.format_map(words)
        self.details = self._details(words)
        super().__init__(f"{refusal.code}: {self.message}")

    def body(self) -> dict[str, Any]:
        named = {"target": self.target} if self.target else {}
        code, message, subcode = self.refusal.code, self.message, self.refusal.subcode
        details = self.details
        if self.refusal.is_flat:
            words = {"code": code, "details": details, "message": message, "subcode": subcode}
            return words | named
        more = {"details": details} if details else {}
        return {"error": {"code": code, "message": message, **named, **more}}

    def _details(self, words: Mapping[str, object]) -> list[dict[str, str]] | None:
        if self.refusal.details is None:
            return None
        code, target = self.refusal.details
        if target is None:
            rpc = f"rpc error: code = {self.refusal.code} desc = {self.message}"
            return [{"code": code, "message": rpc}]
        return [{"code": code, "target": target.format_map(words), "message": self.message}]


def invalid(parameter: str, reason: str) -> ArmError:
    return ArmError(INVALID_PARAMETER, parameter, parameter=parameter, reason=reason)


def size_not_allowed(vm_size: str, location: str, reason: str) -> ArmError:
    """Returns the refusal of a size; the reason continues the sentence."""
    target = "agentPoolProfile.vmSize"
    return ArmError(SIZE_NOT_ALLOWED, target, size=vm_size, location=location, reason=reason)


def of_compute(code: str, inner: str, message: str) -> dict[str, Any]:
    """Returns an error of Microsoft.Compute as a failed operation of AKS shows it.

    The shape is the one in the tests of karpenter-provider-azure.
    """
    return {
        "code": code,
        "message": f'Code="{inner}" Message="{message}"',
        "details": [{"code": inner, "message": message}],
    }
