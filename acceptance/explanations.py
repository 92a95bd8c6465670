"""Why `az` and this program say some things otherwise: every difference there may be."""

from acceptance.comparison import ANYTHING, UNSAID, Explanation

_CLIENT = "each client speaks of itself; Azure makes nothing of it"
_CONNECTION = "of this one connection and request; Azure makes nothing of it"
_DEFAULT_SAID = "az says the default; the program leaves it to Azure, which takes the same"
_VERSION = "each takes the version of the API that its own SDK knows"
_GPU_DRIVER = (
    "the default, said all the same: left out, Azure would fill it in, and a refresh would take "
    "that for drift"
)
_SYSTEM = "the default, said so that the stack stays with it if Azure's default moves"
_NETWORK = (
    "the program's clusters have Azure's CNI, with pods on an overlay (and 250 pods a node, not "
    "110): kubenet, which the article's Azure takes where nothing is said, is being retired"
)

EXPLANATIONS: tuple[Explanation, ...] = (
    # -- headers
    Explanation("header host", ANYTHING, ANYTHING, "each way has a cloud of its own"),
    Explanation("header user-agent", ANYTHING, ANYTHING, _CLIENT),
    Explanation("header commandname", ANYTHING, UNSAID, _CLIENT),
    Explanation("header parametersetname", ANYTHING, UNSAID, _CLIENT),
    Explanation("header connection", "keep-alive", UNSAID, _CONNECTION),
    Explanation("header content-length", ANYTHING, ANYTHING, _CONNECTION),
    Explanation("header x-ms-client-request-id", ANYTHING, ANYTHING, _CONNECTION),
    Explanation(
        "header if-none-match",
        UNSAID,
        "*",
        "the program's request makes something, or fails: az would change what is there",
    ),
    # -- the version of the API
    Explanation("query api-version", "2024-11-01", "2025-04-01", _VERSION),
    Explanation("query api-version", "2026-06-01", "2025-09-01", _VERSION),
    Explanation("query api-version", "2026-06-01", "2026-08-01", _VERSION),
    # -- the cluster
    Explanation(
        "cluster dnsPrefix",
        ANYTHING,
        "myAKSCluster",
        "a name that nobody else has to know: az makes it of cluster, group and subscription, the "
        "program takes the cluster's",
    ),
    Explanation("cluster disableLocalAccounts", False, UNSAID, _DEFAULT_SAID),
    Explanation("cluster enableRBAC", True, UNSAID, _DEFAULT_SAID),
    Explanation("cluster bootstrapProfile.artifactSource", "Direct", UNSAID, _DEFAULT_SAID),
    Explanation("cluster networkProfile.loadBalancerSku", "standard", UNSAID, _DEFAULT_SAID),
    Explanation("cluster networkProfile.outboundType", "loadBalancer", UNSAID, _DEFAULT_SAID),
    Explanation("cluster networkProfile.networkPlugin", UNSAID, "azure", _NETWORK),
    Explanation("cluster networkProfile.networkPluginMode", UNSAID, "overlay", _NETWORK),
    Explanation(
        "cluster oidcIssuerProfile.enabled",
        UNSAID,
        True,
        "the program turns the issuer on, which costs nothing and cannot be turned off again",
    ),
    Explanation(
        "cluster securityProfile.workloadIdentity.enabled",
        UNSAID,
        False,
        "the default, said so that a stack which turns it off again does turn it off",
    ),
    Explanation(
        "cluster autoUpgradeProfile.upgradeChannel",
        UNSAID,
        "none",
        "the default, said: clusters of the program are upgraded by its stack file alone",
    ),
    Explanation(
        "cluster autoUpgradeProfile.nodeOSUpgradeChannel",
        UNSAID,
        "NodeImage",
        "the default, said: it is a key of the stack file",
    ),
    # -- pools, inline and of their own
    Explanation("pool gpuProfile.driver", UNSAID, "Install", _GPU_DRIVER),
    Explanation("pool osSKU", UNSAID, "Ubuntu", _SYSTEM),
    Explanation("pool enableAutoScaling", False, UNSAID, _DEFAULT_SAID),
    Explanation("pool enableEncryptionAtHost", False, UNSAID, _DEFAULT_SAID),
    Explanation("pool enableFIPS", False, UNSAID, _DEFAULT_SAID),
    Explanation("pool enableNodePublicIP", False, UNSAID, _DEFAULT_SAID),
    Explanation("pool enableUltraSSD", False, UNSAID, _DEFAULT_SAID),
    Explanation("pool scaleDownMode", "Delete", UNSAID, _DEFAULT_SAID),
    Explanation("pool scaleSetPriority", "Regular", UNSAID, _DEFAULT_SAID),
    Explanation("pool upgradeSettings.undrainableNodeBehavior", "Schedule", UNSAID, _DEFAULT_SAID),
)
