"""What a user sees of asking: the plan and its price, a progress bar, and how it ended."""

from __future__ import annotations

import math
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from nbbias import params
from nbbias.asking import loop, plan, recorded, trust
from nbbias.asking.loop import Tally
from nbbias.asking.plan import Plan
from nbbias.tables import escape

_EXAMPLES = 2
_WIDTH = 600


def show_plan(laid_out: Plan, console: Console) -> int:
    """Print what is to be asked and what it costs; return how many calls are still to be made."""
    table = plan.estimate(laid_out)
    for model in table.loc[table["to_ask"] > 0, "model"]:
        console.print(trust.destination(model, laid_out.block.base_url), markup=False)
    for row in table.itertuples():
        done = f"{row.answered:,} answered" + (f", {row.rejected:,} rejected" * bool(row.rejected))
        told = f"{row.model}: {row.calls:,} calls, {done}, {row.to_ask:,} to ask"
        if row.to_ask:
            told += f"; about {row.input_tokens:,} tokens in, "
            told += _range(row.output_likely, row.output_tokens, ",.0f") + " out"
        if row.to_ask and not math.isnan(row.cost):
            told += f"; cost {_range(row.cost_likely, row.cost, ',.2f')}"
        console.print(told, markup=False)
    for told in laid_out.notes:
        console.print(told, markup=False, soft_wrap=True)
    if len(laid_out.block.temperatures) > 1:
        told = ", ".join(f"{one:g}" for one in laid_out.block.temperatures)
        console.print(
            f"Each prompt is asked at {len(laid_out.block.temperatures)} temperatures: {told}."
        )
    if not table["to_ask"].sum():
        return 0
    if len(table) > 1 and table["cost"].notna().all():
        console.print(f"In all at most {table['cost'].sum():,.2f}.")
    if table["cost"].isna().any():
        console.print("No price stands in `prices` for every model, so the cost is not known.")
    console.print(
        f"Tokens in are estimated ({plan.CHARACTERS_PER_TOKEN} characters each); tokens out "
        f"are at most max_tokens = {laid_out.block.max_tokens:,} each."
    )
    return int(table["to_ask"].sum())


def _range(likely: float, most: float, form: str) -> str:
    told = f"at most {most:{form}}"
    return told if math.isnan(likely) else f"{told} (likely {likely:{form}})"


def show_examples(laid_out: Plan, console: Console) -> None:
    """Print a few prompts as they will be sent, one of each way of asking."""
    calls = laid_out.calls.drop_duplicates("prompt_id")
    some = calls.groupby("way", sort=False).head(1) if "way" in calls else calls.head(_EXAMPLES)
    for row in some.itertuples():
        console.print(f"[bold]{escape.terminal(row.prompt_id)}[/]")
        for message in plan.messages(laid_out.block, row.prompt):
            text = message["content"]
            cut = text if len(text) <= _WIDTH else f"{text[:_WIDTH]} …"
            console.print(f"  {message['role']}: {cut}", markup=False)


def ask(laid_out: Plan, console: Console, *, again: bool = False) -> Tally:
    """Ask with a progress bar: rate, tokens, cost so far, refusals; then say how it ended."""
    bars = Progress(
        TextColumn("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    with bars:
        task = bars.add_task("asking", total=None, told="")

        def listen(tally: Tally) -> None:
            elapsed = bars.tasks[0].elapsed or 0.0
            rate = tally.done / elapsed if elapsed else 0.0
            told = f"{rate:.1f}/s, {_summary(tally)}"
            bars.update(task, total=tally.total, completed=tally.done, told=told)

        tally = plan.ask(laid_out, again=again, listen=listen)
    _show_end(laid_out, tally, console)
    return tally


def _summary(tally: Tally) -> str:
    told = [f"{tally.input_tokens + tally.output_tokens:,} tokens"]
    if tally.cost:
        told.append(f"cost {tally.cost:,.4f}")
    told += [
        f"{n:,} {what}"
        for n, what in (
            (tally.refused, "refused or filtered"),
            (tally.retries, "retries"),
            (tally.rejected, "rejected"),
            (tally.failed, "failed"),
            (tally.elsewhere, "answered elsewhere"),
            (tally.uncounted, "without token counts"),
        )
        if n
    ]
    return ", ".join(told)


def _show_end(laid_out: Plan, tally: Tally, console: Console) -> None:
    console.print(f"{tally.answered:,} of {tally.total:,} answered: {_summary(tally)}")
    worst = sorted(tally.errors.items(), key=lambda one: -one[1])
    for told, n in worst[:5]:
        console.print(f"  {n:,} × {told}", markup=False)
    if len(worst) > 5:
        console.print(f"  and {len(worst) - 5:,} other errors; all are in the store")
    if tally.rejected:
        console.print("Rejected prompts are not asked again, unless with --again.")
    for path in tally.rescued:
        command = f"nbbias generate {laid_out.where} --import {path}"
        told = f"Answers that the store could not take: {path}\n  {command}"
        console.print(told, markup=False, soft_wrap=True)
    if tally.lost:
        console.print(f"[red]{tally.lost} paid answers could be written nowhere and are lost.[/]")
    if tally.stopped:
        console.print(f"[red]stopped[/] {escape.terminal(params.redact(tally.stopped))}")
    if tally.stopped or tally.failed:
        console.print("Nothing that was recorded is lost. Run the same command again to go on.")


def take_in(laid_out: Plan, paths: list[Path], console: Console) -> None:
    """File recorded answers, those of the plan's own export first, and say how many."""
    if recorded.has_more(laid_out):
        paths = [laid_out.export_path, *paths]
    for path in paths:
        counts = recorded.take_in(laid_out, path)
        told = ", ".join(f"{row.rows:,} {row.what}" for row in counts.itertuples() if row.rows)
        console.print(f"{path}: {told or 'nothing'}", markup=False)


def complete(laid_out: Plan, console: Console, *, again: bool = False) -> int:
    """Ask what is missing and export the table.

    Returns
    -------
    int
        The exit status: 0 when nothing is left to ask, 1 when something is, 130 when the user
        stopped it.
    """
    recorded.refuse_losses(laid_out)
    take_in(laid_out, [], console)
    to_ask = show_plan(laid_out, console)
    tally = ask(laid_out, console, again=again) if to_ask or again else Tally(0)
    answers = recorded.export(laid_out)
    console.print(
        f"{laid_out.export_path}: {answers['text'].notna().sum():,} answers of {len(answers):,}",
        markup=False,
    )
    if tally.stopped == loop.INTERRUPTED:
        return 130
    return int(bool(tally.stopped or tally.failed))
