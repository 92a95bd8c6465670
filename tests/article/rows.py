"""The rows of the article, and how each is proven in both ways."""

from dataclasses import dataclass

from tests.article import proofs_in_azure as azure
from tests.article import proofs_in_kubernetes as kubernetes
from tests.article.report import RowResult
from tests.article.steps import Finding, Proof


@dataclass(frozen=True)
class Row:
    """A statement of the article. If there is one proof, it is for both ways."""

    number: int
    title: str
    by_hand: Proof
    by_program: Proof | None = None


ROWS: tuple[Row, ...] = (
    Row(1, "Linux only", azure.linux_only_by_hand, azure.linux_only_by_program),
    Row(2, "the smallest size", kubernetes.smallest_size),
    Row(
        3,
        "Kubernetes 1.10 or later",
        kubernetes.version_and(azure.old_kubernetes_by_hand),
        kubernetes.version_and(azure.old_kubernetes_by_program),
    ),
    Row(4, "the resource group", azure.group),
    Row(5, "the cluster", azure.cluster),
    Row(6, "credentials", kubernetes.credentials),
    Row(7, "the namespace", kubernetes.namespace),
    Row(8, "the device plugin", kubernetes.device_plugin),
    Row(9, "the feature of the specialized image", azure.feature),
    Row(10, "the specialized image on a new cluster", azure.new_cluster),
    Row(11, "the specialized image on an existing cluster", azure.existing_cluster),
    Row(12, "sizes of generation 2", azure.generation_2),
    Row(13, "the regular image", azure.regular_image),
    Row(
        14,
        "WARNING: no DaemonSet on the specialized image",
        kubernetes.warning_by_hand,
        kubernetes.warning_by_program,
    ),
    Row(15, "confirm that GPUs are schedulable", kubernetes.confirmed),
    Row(16, "run a workload", kubernetes.job),
    Row(17, "NOTE on drivers", kubernetes.driver_note),
    Row(18, "watch the job", kubernetes.watched_by_hand, kubernetes.watched_by_program),
    Row(19, "the job's log", kubernetes.logged),
    Row(20, "clean up", kubernetes.cleaned_up),
)

# Statements that a rehearsal cannot prove.
_LISTED = Finding("note", "a rehearsal has neither; docs/article.md says where Azure lists both")
NOTES = (RowResult(21, "NOTE on price and regions", _LISTED, _LISTED),)

BY_HAND = {row.number: row.by_hand for row in ROWS}
BY_PROGRAM = {row.number: row.by_program or row.by_hand for row in ROWS}
