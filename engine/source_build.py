"""The third way to an engine: building it from the Go modules that `source/` names."""

import os
from pathlib import Path

from engine.build import ModuleFile, Target, build, hash_of
from engine.cache import Say, make_whole
from engine.versions import PULUMI

SOURCE = Path(__file__).parent / "source"

_SDK = "github.com/pulumi/pulumi/sdk/v3"
_LDFLAGS = f"-s -w -X {_SDK}/go/common/version.Version=v{PULUMI}"


def built_engine(cache: Path) -> Path | None:
    """The `pulumi` of an earlier build from the same source."""
    pulumi = _place(cache) / "pulumi"
    return pulumi if pulumi.exists() else None


def build_engine(cache: Path, say: Say) -> Path:
    """Build `pulumi` and our language host, and put them into one folder."""
    folders = build(SOURCE, [_pulumi(), _language_host()], cache / "build", say)

    # One folder, since pulumi looks for its language hosts beside itself, and warns about one
    # that is only found on PATH. Links, since they take no space.
    def fill(unfinished: Path) -> Path:
        for file in (file for folder in folders for file in folder.iterdir()):
            os.link(file, unfinished / file.name)
        return unfinished

    return make_whole(_place(cache), fill, say) / "pulumi"


def _place(cache: Path) -> Path:
    return cache / f"engine-{PULUMI}-{hash_of(_LDFLAGS, _files())}"


def _pulumi() -> Target:
    # Its key leaves the language host's source out, so that a change there builds only that.
    return Target(
        name="pulumi",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        key=f"{PULUMI}-{hash_of(_LDFLAGS, [SOURCE / 'go.mod', SOURCE / 'go.sum'])}",
        ldflags=_LDFLAGS,
    )


def _language_host() -> Target:
    return Target(
        name="pulumi-language-python",
        package="./pulumi-language-python",
        key=f"{PULUMI}-{hash_of(_LDFLAGS, _files())}",
        ldflags=_LDFLAGS,
        files=(
            ModuleFile(_SDK, "python/cmd/pulumi-language-python-exec"),
            # What pulumi starts for dynamic providers.
            ModuleFile(_SDK, "python/dist/pulumi-resource-pulumi-python"),
        ),
    )


def _files() -> list[Path]:
    host = SOURCE / "pulumi-language-python"
    return [SOURCE / "go.mod", SOURCE / "go.sum", *sorted(host.glob("*.go"))]
