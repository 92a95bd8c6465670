"""The rows of the article, and how each is proven in the two ways."""

from dataclasses import dataclass

from acceptance import proofs_in_azure as azure
from acceptance import proofs_in_kubernetes as kubernetes
from acceptance.steps import Finding, Proof


@dataclass(frozen=True)
class Row:
    """Something that the article says. Proven by one proof, it is the same thing in both ways."""

    number: int
    title: str
    by_hand: Proof
    by_program: Proof


@dataclass(frozen=True)
class Note:
    """Something that the article says of the world outside a cloud."""

    number: int
    title: str
    said: str

    @property
    def finding(self) -> Finding:
        return Finding("note", self.said)


def _same(number: int, title: str, proof: Proof) -> Row:
    return Row(number, title, proof, proof)


ROWS: tuple[Row, ...] = (
    Row(1, "Linux only", azure.linux_only_by_hand, azure.linux_only_by_program),
    _same(2, "the smallest size", kubernetes.smallest_size),
    Row(
        3,
        "Kubernetes 1.10 or later",
        kubernetes.kubernetes_by_hand,
        kubernetes.kubernetes_by_program,
    ),
    _same(4, "the resource group", azure.group),
    _same(5, "the cluster", azure.cluster),
    _same(6, "credentials", kubernetes.credentials),
    _same(7, "the namespace", kubernetes.namespace),
    _same(8, "the device plugin", kubernetes.device_plugin),
    _same(9, "the feature of the specialised image", azure.feature),
    _same(10, "the specialised image on a new cluster", azure.new_cluster),
    _same(11, "the specialised image on an existing cluster", azure.existing_cluster),
    _same(12, "sizes of generation 2", azure.generation_2),
    _same(13, "the regular image", azure.regular_image),
    Row(
        14,
        "WARNING: no DaemonSet on the specialised image",
        kubernetes.warning_by_hand,
        kubernetes.warning_by_program,
    ),
    _same(15, "confirm that GPUs are schedulable", kubernetes.confirmed),
    _same(16, "run a workload", kubernetes.job),
    _same(17, "NOTE on drivers", kubernetes.driver_note),
    Row(18, "watch the job", kubernetes.watched_by_hand, kubernetes.watched_by_program),
    _same(19, "the job's log", kubernetes.logged),
    _same(20, "clean up", kubernetes.cleaned_up),
)

NOTES: tuple[Note, ...] = (
    Note(
        21,
        "NOTE on price and regions",
        "a rehearsal has neither; docs/article.md says where Azure lists both",
    ),
)

BY_HAND = {row.number: row.by_hand for row in ROWS}
BY_PROGRAM = {row.number: row.by_program for row in ROWS}
