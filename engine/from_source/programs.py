"""Pulumi engine, third source: a build from the Go modules in `source/`."""

from pathlib import Path

from engine.build import ModuleFile, Target, build_together, hash_of
from engine.cache import Say, used
from engine.versions import PULUMI

SOURCE = Path(__file__).parent / "source"

_SDK = "github.com/pulumi/pulumi/sdk/v3"
_LDFLAGS = f"-s -w -X {_SDK}/go/common/version.Version=v{PULUMI}"


def built_engine(cache: Path) -> Path | None:
    """Returns the `pulumi` of an earlier build from the same source."""
    place = _place(cache)
    return used(place) / "pulumi" if (place / "pulumi").exists() else None


def build_engine(cache: Path, say: Say) -> Path:
    """Builds `pulumi` and our language host into one folder.

    Pulumi looks for language hosts beside itself, and warns about one that is only on PATH.
    """
    pulumi = Target(
        name="pulumi",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        # Without the language host's source, so that a change there rebuilds only that.
        key=_key(_modules()),
        ldflags=_LDFLAGS,
    )
    language_host = Target(
        name="pulumi-language-python",
        package="./pulumi-language-python",
        key=_key(_files()),
        ldflags=_LDFLAGS,
        files=(
            ModuleFile(_SDK, "python/cmd/pulumi-language-python-exec"),
            # The script that pulumi starts for dynamic providers.
            ModuleFile(_SDK, "python/dist/pulumi-resource-pulumi-python"),
        ),
    )
    targets = [pulumi, language_host]
    return build_together(SOURCE, targets, cache / "build", _place(cache), say) / "pulumi"


def _place(cache: Path) -> Path:
    return cache / f"engine-{_key(_files())}"


def _key(files: list[Path]) -> str:
    return f"{PULUMI}-{hash_of(_LDFLAGS, files)}"


def _modules() -> list[Path]:
    return [SOURCE / "go.mod", SOURCE / "go.sum"]


def _files() -> list[Path]:
    return [*_modules(), *sorted((SOURCE / "pulumi-language-python").glob("*.go"))]
