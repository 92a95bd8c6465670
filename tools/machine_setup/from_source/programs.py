"""What is built from Go modules: each set of programs, into one folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from machine_setup.cache import Say, used
from machine_setup.from_source.build import ModuleFile, Target, build_together, hash_of
from machine_setup.versions import ACTIONLINT, HELM, KUBERNETES, KWOK, PULUMI

MODULES = Path(__file__).parent / "modules"


@dataclass(frozen=True)
class Programs:
    """Programs that are built together; the folder of their modules has the same name."""

    name: str
    version: str
    # By name. A path is a package of this project.
    packages: Mapping[str, str]
    # Variables of Go that name versions: without them Kubernetes reports v0.0.0.
    stamps: Mapping[str, str] = field(default_factory=dict)
    files: tuple[ModuleFile, ...] = ()

    @property
    def source(self) -> Path:
        return MODULES / self.name

    def place(self, cache: Path) -> Path:
        return cache / f"{self.name}-{self.version}-{self._key(*self.packages.values())}"

    def built(self, cache: Path) -> Path | None:
        """Returns the folder of an earlier build from the same source."""
        place = self.place(cache)
        return used(place) if place.exists() else None

    def build(self, cache: Path, say: Say) -> Path:
        """Builds what was not built yet. Raises SourceUnavailableError if that is not possible."""
        if place := self.built(cache):
            return place
        targets = [
            Target(name, package, self._key(package), self._flags, self._files_of(package))
            for name, package in self.packages.items()
        ]
        return build_together(self.source, targets, cache / "build", self.place(cache), say)

    @property
    def _flags(self) -> str:
        return " ".join(["-s -w", *(f"-X {name}={value}" for name, value in self.stamps.items())])

    def _files_of(self, package: str) -> tuple[ModuleFile, ...]:
        return self.files if package.startswith("./") else ()

    def _key(self, *packages: str) -> str:
        """Returns a hash of all that packages are built from."""
        own = [self.source / package for package in packages if package.startswith("./")]
        files = [self.source / "go.mod", self.source / "go.sum"]
        files += [file for folder in own for file in sorted(folder.glob("*.go"))]
        return hash_of(self._flags, files)


_SDK = "github.com/pulumi/pulumi/sdk/v3"
# Pulumi looks for language hosts beside itself, and warns about one that is only on PATH.
ENGINE = Programs(
    "engine",
    PULUMI,
    {
        "pulumi": "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        "pulumi-language-python": "./pulumi-language-python",
    },
    {f"{_SDK}/go/common/version.Version": f"v{PULUMI}"},
    (
        ModuleFile(_SDK, "python/cmd/pulumi-language-python-exec"),
        # The script that pulumi starts for dynamic providers.
        ModuleFile(_SDK, "python/dist/pulumi-resource-pulumi-python"),
    ),
)
_MAJOR, _MINOR, _ = KUBERNETES.split(".")
CONTROL_PLANE = Programs(
    "kubernetes",
    KUBERNETES,
    {
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
        "etcd": "go.etcd.io/etcd/server/v3",
        "kwok": "sigs.k8s.io/kwok/cmd/kwok",
    },
    {
        "k8s.io/component-base/version.gitVersion": f"v{KUBERNETES}",
        "k8s.io/component-base/version.gitMajor": _MAJOR,
        "k8s.io/component-base/version.gitMinor": _MINOR,
        "sigs.k8s.io/kwok/pkg/consts.Version": f"v{KWOK}",
    },
)
CHARTS = Programs(
    "helm",
    HELM,
    {"helm": "helm.sh/helm/v3/cmd/helm"},
    {"helm.sh/helm/v3/internal/version.version": f"v{HELM}"},
)
WORKFLOWS = Programs(
    "actionlint", ACTIONLINT, {"actionlint": "github.com/rhysd/actionlint/cmd/actionlint"}
)
