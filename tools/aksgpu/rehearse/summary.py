"""The last screen of a rehearsal: resources, whether the GPUs work, the cost, and what to do."""

from rich.console import Console
from rich.text import Text

from aksgpu.check.command import examine_cluster
from aksgpu.check.examination import CheckOptions
from aksgpu.check.report import print_problem, print_summary
from aksgpu.check.target import Target, of_resources
from aksgpu.outcome import Cause, StoppedError
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.price_list import price_list_url
from aksgpu.rehearsal_stage import Stage, command_line, down_line, is_of_others
from aksgpu.rehearse import inventory, stored_only
from aksgpu.rehearse.planning import Plan
from aksgpu.rehearse.state import State
from aksgpu.report import print_next
from aksgpu.review.costs import PriceSource, costs
from machine_setup.progress import Progress, to_stderr
from rehearsal.cloud import Cloud, status_of

# The cost is not worth a long wait.
_PRICE_SECONDS = 5.0


class _FoldedProgress(Progress):
    """Progress on one line, without the steps reached."""

    def reached(self, line: str) -> None:
        self.update(line)


def show(
    stage: Stage, planned: Plan, now: State, env: str, console: Console, *, with_job: bool
) -> int:
    """Checks the cluster, and shows the screen, a problem last; the exit code of the check.

    `env` is the command that sets up a shell for the stack.
    """
    stack, pulumi = planned.stack, stage.pulumi()

    def target() -> Target:
        return of_resources(now.resources, pulumi, stack)

    try:
        kubeconfig = target().kubeconfig
    except StoppedError:
        kubeconfig = None
    checked = None
    # Another team's program need not hand out a kubeconfig.
    if kubeconfig is not None or not is_of_others():
        checked = examine_cluster(target, CheckOptions(job=with_job), to_stderr, _FoldedProgress)
    rows = inventory.resources(now, stage.cloud, kubeconfig, pulumi.environment)
    cost = _cost(stage.cloud, planned)
    console.print()
    console.print(inventory.as_table(f"The stack {stack} on the rehearsal cloud", rows))
    status = status_of(stage.cloud.home)
    if not_simulated := stored_only.in_words(status.clusters, status.stored_types):
        console.print(Text(not_simulated), soft_wrap=True)
    console.print()
    if checked and is_of_others() and checked.verdict is Cause.NO_GPU_POOL:
        # Any program with AKS can be rehearsed: this one has nothing to check.
        checked = None
        console.print(Text("GPUs:   the cluster has none, and no pool for them: nothing to check"))
    problem = checked if checked and checked.verdict.is_problem else None
    if checked and not problem:
        print_summary(checked, console)
    console.print(Text(f"Cost:   {cost}"), soft_wrap=True)
    if not problem:
        look = "kubectl get nodes" if kubeconfig else "pulumi stack output"
        print_next("Next:   look at it", [env, look], console)
    console.print(Text(f"Log:    {stage.cloud.request_log} has all requests"), soft_wrap=True)
    console.print(Text(f"Page:   {command_line('dashboard')} shows it live"), soft_wrap=True)
    console.print(Text(f"Remove: {down_line()}"), soft_wrap=True)
    if problem:
        console.print()
        print_problem(problem, console)
        return problem.verdict.exit_code
    return 0


def _cost(cloud: Cloud, planned: Plan) -> str:
    """What the nodes cost, by Azure's price list, or else by the rehearsal's."""
    steps = planned.result.steps.values()
    azure = PriceSource(price_list_url(), _PRICE_SECONDS)
    made_up = PriceSource(f"{cloud.url}/api/retail/prices", _PRICE_SECONDS, cloud.ca_certificate)
    for source in (azure, made_up):
        cost = costs(steps, source)
        if cost is None:
            return "no nodes"
        if not isinstance(cost, Unanswered):
            origin = f"by {cost.source} of {cost.asked_on}"
            if source is made_up:
                origin = "by made-up prices, because Azure's price list cannot be reached"
            return f"{cost.after.money} {cost.currency} an hour for the nodes, {origin}"
    return "not known"
