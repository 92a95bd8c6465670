"""The page of what aks-gpu supports: what the catalogue knows of AKS."""

from collections.abc import Iterator
from itertools import groupby

from aks_catalogue import images, kubernetes, mig, retirement
from aks_catalogue.sizes import AS_OF, AZURE_LINUX_FAMILIES, FLOOR, GpuSize, gpu_sizes
from machine_setup.versions import LOWEST_PULUMI
from reference.markdown import code, sections, table

_PLANS = {kubernetes.OFFICIAL: "standard", kubernetes.LONG_TERM: "long-term support"}

_INTRODUCTION = """\
What follows is what aks-gpu knows of AKS, as of {day}. It is not Azure's word: `aksgpu preflight`
asks Azure for your subscription and region. Sizes that are not listed are accepted, and the
advisory rule `gpu-size-unknown` tells of them. AKS judges versions that are not listed.

| part | supported |
|---|---|
| GPU pools run | Linux. AKS has Windows GPU pools in preview; aks-gpu refuses them |
| OS SKU | `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux`, `AzureLinux3` |
| network | Azure CNI: overlay, or pods in your subnet |
| driver | from AKS, from the GPU Operator (`gpuOperator.driver: operator`), or yours (`none`) |
| device plugin | `{plugin}` |
| smallest size | `{floor}` for the policy pack; AKS's own minimum is `Standard_NC4as_T4_v3` |
| MIG profiles | {profiles}, on A100, H100 and H200 |
| Pulumi | {lowest} or newer |
| Python | 3.11 or newer |
| this machine, for rehearsals | Linux |"""

_SIZES = """\
## GPU sizes

"AKS's driver" says whether AKS installs a driver on the family. Without it, set
`gpuStack: operator` with `gpuOperator.driver: operator`: NVIDIA's GPU Operator then installs driver
and device plugin. AMD's GPUs need `gpuStack: none`. Azure Linux is version 3; a family without it
needs an Ubuntu SKU. `?` means unknown."""


def page() -> str:
    introduction = _INTRODUCTION.format(
        day=AS_OF,
        plugin=images.DEVICE_PLUGIN,
        floor=FLOOR,
        profiles=", ".join(map(code, mig.PROFILES)),
        lowest=LOWEST_PULUMI,
    )
    return sections(
        "Support matrix",
        introduction,
        f"## Kubernetes\n\nAKS's default is {kubernetes.DEFAULT} as of {kubernetes.AS_OF}. "
        f"{kubernetes.ENDING}",
        table(("version", "support plans"), _versions()),
        _SIZES,
        table(
            ("family", "GPU", "sizes", "AKS's driver", "Azure Linux", "MIG"),
            _families(retired=False),
        ),
        "## Retired GPU sizes\n\nAzure makes no new nodes of these.",
        table(("family", "GPU", "retired on", "move to"), _families(retired=True)),
    )


def _versions() -> Iterator[tuple[str, str]]:
    for version, minor in kubernetes.ON_AKS.items():
        yield version, ", ".join(_PLANS[plan] for plan in minor.plans)


def _families(*, retired: bool) -> Iterator[tuple[str, ...]]:
    known = sorted(gpu_sizes().values(), key=lambda size: (size.family, size.gpu_model))
    for (family, model), group in groupby(known, key=lambda size: (size.family, size.gpu_model)):
        sizes = list(group)
        if (sizes[0].retired_on is not None) != retired:
            continue
        gpu = f"{sizes[0].gpu_vendor} {model}"
        if retired:
            yield family, gpu, str(sizes[0].retired_on), code(retirement.SUCCESSORS.get(family, ""))
        else:
            yield family, gpu, _names(sizes), *_answers(family, sizes)


def _answers(family: str, sizes: list[GpuSize]) -> tuple[str, str, str]:
    nvidia = sizes[0].is_nvidia
    return (
        _said({size.aks_driver if nvidia else False for size in sizes}),
        "yes" if family in AZURE_LINUX_FAMILIES else "no",
        _said({size.mig for size in sizes}),
    )


def _said(answers: set[bool | None]) -> str:
    if len(answers) > 1:
        return "some"
    return {True: "yes", False: "no", None: "?"}[answers.pop()]


def _names(sizes: list[GpuSize]) -> str:
    return ", ".join(size.name.removeprefix("Standard_") for size in sizes)
