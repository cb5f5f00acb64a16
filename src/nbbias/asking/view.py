"""What a user sees of asking: the plan and its price, a progress bar, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from nbbias import params
from nbbias.asking import loop, plan as plans, recorded, trust
from nbbias.asking.loop import Tally
from nbbias.asking.plan import Plan
from nbbias.tables import escape

_EXAMPLES = 2
_WIDTH = 600


def show_plan(plan: Plan, console: Console) -> int:
    """Print what is to be asked and what it costs; return how many calls are still to be made."""
    table, block = plans.estimate(plan), plan.block
    left = table[table["to_ask"] > 0]
    lines = [trust.describe_destination(model, block.base_url) for model in left["model"]]
    lines += [_describe_row(row) for row in table.itertuples()] + list(plan.notes)
    if len(block.temperatures) > 1:
        listed = ", ".join(f"{temperature:g}" for temperature in block.temperatures)
        lines.append(f"Each prompt is asked at {len(block.temperatures)} temperatures: {listed}.")
    if len(left) and table["cost"].isna().any():
        lines.append("Not every model has `prices`, so the cost is not known.")
    elif len(left) and len(table) > 1:
        lines.append(f"In all at most {table['cost'].sum():,.2f}.")
    if len(left):
        lines.append(
            f"Tokens in are estimated ({plans.CHARACTERS_PER_TOKEN} characters each); tokens out "
            f"are at most max_tokens = {block.max_tokens:,} each."
        )
    _print(lines, console)
    return int(table["to_ask"].sum())


def _print(lines: Iterable[str], console: Console) -> None:
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _describe_row(row: Any) -> str:
    def describe_range(likely: float, most: float, form: str) -> str:
        return f"at most {most:{form}}" + ("" if pd.isna(likely) else f" (likely {likely:{form}})")

    counts = {"calls": row.calls, "answered": row.answered, "rejected": row.rejected}
    listed = [f"{n:,} {what}" for what, n in counts.items() if n or what != "rejected"]
    line = f"{row.model}: {', '.join(listed)}, {row.to_ask:,} to ask"
    if row.to_ask:
        tokens = describe_range(row.output_likely, row.output_tokens, ",.0f")
        line += f"; about {row.input_tokens:,} tokens in, {tokens} out"
        if not pd.isna(row.cost):
            line += f"; cost {describe_range(row.cost_likely, row.cost, ',.2f')}"
    return line


def show_examples(plan: Plan, console: Console) -> None:
    """Print a few prompts as they will be sent, one of each way of asking."""
    calls = plan.calls.drop_duplicates("prompt_id")
    rows = calls.groupby("way", sort=False).head(1) if "way" in calls else calls.head(_EXAMPLES)
    for row in rows.itertuples():
        console.print(f"[bold]{escape.terminal(row.prompt_id)}[/]")
        for message in plans.list_messages(plan.block, row.prompt):
            text = message["content"]
            text = text if len(text) <= _WIDTH else f"{text[:_WIDTH]} …"
            console.print(f"  {message['role']}: {text}", markup=False)


def import_answers(plan: Plan, paths: list[Path], console: Console) -> None:
    """File recorded answers, those of the plan's own export first, and print how many."""
    if recorded.find_unfiled(plan) & set(plan.calls["key"]):
        paths = [plan.export_path, *paths]
    for path in paths:
        counts = recorded.import_answers(plan, path)
        listed = ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)
        _print([f"{path}: {listed or 'nothing'}"], console)


def complete(plan: Plan, console: Console, *, again: bool = False) -> int:
    """Ask what is missing and export the table.

    Returns
    -------
    int
        The exit status: 0 when nothing is left to ask, 1 when something is, 130 when the user
        stopped it.
    """
    recorded.check_export(plan)
    import_answers(plan, [], console)
    to_ask = show_plan(plan, console)
    tally = _ask(plan, console, again=again) if to_ask or again else Tally(0)
    answers = recorded.export_answers(plan)
    number = answers["text"].notna().sum()
    _print([f"{plan.export_path}: {number:,} answers of {len(answers):,}"], console)
    if tally.stopped == loop.INTERRUPTED:
        return 130
    return int(bool(tally.stopped or tally.failed))


def _ask(plan: Plan, console: Console, *, again: bool) -> Tally:
    """Ask with a progress bar, then print how it ended."""
    from tqdm import tqdm  # not every command shows a bar

    with tqdm(desc="asking", file=console.file, disable=not console.is_terminal) as bar:

        def listen(tally: Tally) -> None:
            bar.total = tally.total
            bar.set_postfix_str(_describe(tally), refresh=False)
            bar.update(tally.done - bar.n)

        tally = plans.ask(plan, again=again, listen=listen)
    lines = [f"{tally.answered:,} of {tally.total:,} answered: {_describe(tally)}"]
    lines += [f"  {number:,} × {message}" for message, number in tally.errors.most_common(5)]
    if len(tally.errors) > 5:
        lines.append(f"  and {len(tally.errors) - 5:,} other errors; all are in the store")
    if tally.rejected:
        lines.append("Rejected prompts are not asked again, unless with --again.")
    if tally.lost:
        lines.append(f"{tally.lost} paid answers could not be stored and are lost.")
    if tally.stopped:
        lines.append(f"stopped: {params.redact(tally.stopped)}")
    if tally.stopped or tally.failed:
        lines.append("All that was recorded is kept. Run the same command again to go on.")
    _print(lines, console)
    return tally


def _describe(tally: Tally) -> str:
    cost = f", cost {tally.cost:,.4f}" if tally.cost else ""
    counts = {
        **{"refused or filtered": tally.refused, "retries": tally.retries},
        **{"rejected": tally.rejected, "failed": tally.failed},
        "without token counts": tally.uncounted,
    }
    others = "".join(f", {number:,} {what}" for what, number in counts.items() if number)
    return f"{tally.input_tokens + tally.output_tokens:,} tokens{cost}{others}"
