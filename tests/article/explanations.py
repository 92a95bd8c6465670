"""Why `az` and this program send different values: every difference that is expected."""

from tests.article.comparison import ANYTHING, NOT_SENT, Explanation

_CLIENT = "each client describes itself; Azure ignores it"
_CONNECTION = "it belongs to one connection or request; Azure ignores it"
_EXPLICIT_DEFAULT = "az sends the default; the program omits it, and Azure uses the same default"
_VERSION = "each uses the API version of its SDK"
_GPU_DRIVER = (
    "the default, sent explicitly: if it is omitted, Azure fills it in, and a refresh would show "
    "that as drift"
)
_SYSTEM = "the default, sent explicitly, so that the stack keeps it if Azure's default changes"
_NETWORK = (
    "the program's clusters use Azure CNI Overlay (250 pods per node, not 110): kubenet, which "
    "is the default in the article's Azure, is being retired"
)

EXPLANATIONS: tuple[Explanation, ...] = (
    # -- headers
    Explanation("header host", ANYTHING, ANYTHING, "each way has its own cloud"),
    Explanation("header user-agent", ANYTHING, ANYTHING, _CLIENT),
    Explanation("header commandname", ANYTHING, NOT_SENT, _CLIENT),
    Explanation("header parametersetname", ANYTHING, NOT_SENT, _CLIENT),
    Explanation("header connection", "keep-alive", NOT_SENT, _CONNECTION),
    Explanation("header content-length", ANYTHING, ANYTHING, _CONNECTION),
    Explanation("header accept-encoding", "gzip, deflate", "gzip", _CONNECTION),
    Explanation("header x-ms-client-request-id", ANYTHING, ANYTHING, _CONNECTION),
    Explanation(
        "header if-none-match",
        NOT_SENT,
        "*",
        "the program's request creates a resource or fails; az would update an existing one",
    ),
    # -- the version of the API
    Explanation("query api-version", "2024-11-01", "2024-03-01", _VERSION),
    Explanation("query api-version", "2026-06-01", "2025-09-01", _VERSION),
    Explanation("query api-version", "2026-06-01", "2026-08-01", _VERSION),
    # -- the cluster
    Explanation(
        "cluster dnsPrefix",
        ANYTHING,
        "myAKSCluster",
        "an arbitrary name: az derives it from cluster, group and subscription, the program uses "
        "the cluster's name",
    ),
    Explanation("cluster disableLocalAccounts", False, NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("cluster enableRBAC", True, NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("cluster bootstrapProfile.artifactSource", "Direct", NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("cluster networkProfile.loadBalancerSku", "standard", NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("cluster networkProfile.outboundType", "loadBalancer", NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("cluster networkProfile.networkPlugin", NOT_SENT, "azure", _NETWORK),
    Explanation("cluster networkProfile.networkPluginMode", NOT_SENT, "overlay", _NETWORK),
    Explanation(
        "cluster oidcIssuerProfile.enabled",
        NOT_SENT,
        True,
        "the program turns the issuer on, which costs nothing and cannot be turned off again",
    ),
    Explanation(
        "cluster securityProfile.workloadIdentity.enabled",
        NOT_SENT,
        False,
        "the default, sent explicitly, so that a stack can also turn it off again",
    ),
    Explanation(
        "cluster autoUpgradeProfile.upgradeChannel",
        NOT_SENT,
        "none",
        "the default, sent explicitly: only the stack file upgrades clusters of the program",
    ),
    Explanation(
        "cluster autoUpgradeProfile.nodeOSUpgradeChannel",
        NOT_SENT,
        "NodeImage",
        "the default, sent explicitly: it is a key of the stack file",
    ),
    # -- pools, inline and as resources
    Explanation("pool gpuProfile.driver", NOT_SENT, "Install", _GPU_DRIVER),
    Explanation("pool osSKU", NOT_SENT, "Ubuntu", _SYSTEM),
    Explanation("pool enableAutoScaling", False, NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("pool enableEncryptionAtHost", False, NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("pool enableFIPS", False, NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("pool enableNodePublicIP", False, NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("pool enableUltraSSD", False, NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("pool scaleDownMode", "Delete", NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation("pool scaleSetPriority", "Regular", NOT_SENT, _EXPLICIT_DEFAULT),
    Explanation(
        "pool upgradeSettings.undrainableNodeBehavior", "Schedule", NOT_SENT, _EXPLICIT_DEFAULT
    ),
)
