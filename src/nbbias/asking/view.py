"""What a user sees of asking: the plan and its price, a progress bar, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from nbbias import params
from nbbias.asking import loop, plan as plans, recorded, trust
from nbbias.asking.plan import Plan
from nbbias.reading import Terminal
from nbbias.tables import NbbiasError

_WIDTH = 600


def show_plan(plan: Plan, console: Terminal) -> int:
    """Print what is to be asked and what it costs; return how many calls are still to be made."""
    table, block = plans.estimate(plan), plan.block
    models = table.loc[table["to_ask"] > 0, "model"]
    console.lines(*(trust.describe_destination(m, block.base_url) for m in models), *plan.notes)
    rows = table.set_index("model").rename(columns=lambda name: name.replace("_", " ")).T
    console.table(rows.dropna(how="all").reset_index(names=""))
    if len(models):
        console.print(
            f"Input tokens are estimated ({plans.CHARACTERS_PER_TOKEN} characters each); output "
            f"tokens and cost are the most there can be (max_tokens = {block.max_tokens:,})."
        )
        if table["cost"].isna().any():
            console.print("Not every model has `prices`, so the cost is not known.")
    return int(table["to_ask"].sum())


def show_examples(plan: Plan, console: Terminal) -> None:
    """Print a prompt of each way of asking as it will be sent."""
    calls = plan.calls.drop_duplicates("prompt_id")
    for row in (calls.drop_duplicates("way") if "way" in calls else calls.head(2)).itertuples():
        console.print(str(row.prompt_id))
        for message in json.loads(str(row.messages)):
            text = message["content"]
            console.print(f"  {message['role']}: {text[:_WIDTH]}{' …' * (len(text) > _WIDTH)}")


def complete(
    plan: Plan, console: Terminal, *, again: bool = False, confirm: Callable[[], Any] = lambda: None
) -> int:
    """Ask what is missing and export the table.

    Where something is to be asked, `confirm` is called when the plan is shown, before asking.

    Returns
    -------
    int
        The exit status: 0 when nothing is left to ask, 1 when something is, 130 when the user
        stopped it.
    """
    recorded.check_export(plan)
    if restored := recorded.restore_answers(plan):
        console.print(f"{plan.export_path}: {restored:,} answers filed")
    if to_ask := show_plan(plan, console):
        confirm()
    tally = _ask_with_progress(plan, console, again=again) if to_ask or again else loop.Tally()
    try:
        answers = recorded.export_answers(plan)
    except (NbbiasError, OSError) as error:  # the disk may be as full for the table
        if not tally.stopped:
            raise
        console.print(f"{plan.export_path} was not written: {params.redact(str(error))}")
        return 1
    number = answers["text"].notna().sum()
    console.print(f"{plan.export_path}: {number:,} answers of {len(answers):,}")
    if tally.stopped == loop.INTERRUPTED:
        return 130
    return int(bool(tally.stopped or tally.failed))


def _ask_with_progress(plan: Plan, console: Terminal, *, again: bool) -> loop.Tally:
    """Ask with a progress bar, then print how it ended."""
    from tqdm import tqdm  # not every command shows a bar

    with tqdm(desc="asking", file=console.file, disable=not console.is_terminal) as bar:

        def listen(tally: loop.Tally) -> None:
            bar.total = tally.total
            bar.update(tally.answered + tally.rejected + tally.failed - bar.n)

        tally = plans.ask(plan, again=again, listen=listen)
    counts = {
        **{"tokens": tally.input_tokens + tally.output_tokens, "retries": tally.retries},
        **{"refused or filtered": tally.refused, "rejected": tally.rejected},
        **{"failed": tally.failed},
        "paid for, but could not be stored": tally.lost,
    }
    listed = "".join(f", {number:,} {what}" for what, number in counts.items() if number)
    cost = f", cost {tally.cost:,.4f}" if plan.block.prices else ""
    lines = [f"{tally.answered:,} of {tally.total:,} answered{listed}{cost}"]
    lines += [f"  {number:,} × {message}" for message, number in tally.errors.most_common(5)]
    if tally.rejected:
        lines.append("Rejected prompts are not asked again, unless with --again.")
    if tally.stopped:
        lines.append(f"stopped: {params.redact(tally.stopped)}")
    if tally.stopped or tally.failed:
        lines.append("All that was recorded is kept. Run the same command again to go on.")
    console.lines(*lines)
    return tally
