"""Many calls at a time, each tried again after a wait; every answer is recorded when it comes.

What an error means is said by `call`; how often a call is tried again, and after what wait, by
`max_retries` and `first_wait` of the `generate:` block.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from nbbias.asking import call, store
from nbbias.asking.params import Generate

_log = logging.getLogger(__name__)

#: Rejections in a row, with no answer among them, after which the fault is not the prompts'.
_ALL_REJECTED = 20

#: Seconds: no wait between attempts is longer, one of `_LONG_WAIT` is announced, and one that the
#: server does not ask for is `_LONGEST_BACKOFF` at most.
_LONGEST_WAIT, _LONG_WAIT, _LONGEST_BACKOFF = 600.0, 20.0, 60.0

#: `Tally.stopped` after Ctrl-C or SIGTERM.
INTERRUPTED = "interrupted"

#: A row of a plan's `calls`, with `max_cost`, the most that it can cost.
Row = Mapping[str, Any]


@dataclass
class Tally:
    """Counts of a run so far; tokens and cost are those of its answers.

    `refused` (content-filtered answers and provider refusals) are among the answered; answers
    without token counts are not in `cost`; `lost` are answers that the store could not take.
    `errors` counts messages of calls that were given up. `stopped` says why the run stopped early,
    or is empty.
    """

    total: int = 0
    answered: int = 0
    rejected: int = 0
    failed: int = 0
    refused: int = 0
    retries: int = 0
    lost: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    stopped: str = ""
    errors: Counter[str] = field(default_factory=Counter)


@dataclass
class Session:
    """One run of asking: where answers go (the store and the run's id), and what has happened.

    `listen` is called with the tally after every attempt; `reserved` is the highest cost of the
    calls in flight; `streak` counts failures and rejections since the last answer.
    """

    block: Generate
    connection: sqlite3.Connection
    path: Path
    run: str
    listen: Callable[[Tally], None]
    tally: Tally = field(default_factory=Tally)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    reserved: float = 0.0
    streak: Counter[str] = field(default_factory=Counter)

    async def ask_all(self, rows: Sequence[Row]) -> Tally:
        """Make all calls, one model after the other.

        It stops early, with `Tally.stopped` saying why, when the key or the address is wrong, when
        the server gives no answer any more, when everything is rejected, when the money is spent,
        when the store cannot be written, or on Ctrl-C or SIGTERM. Calls in flight are then still
        awaited, since they are paid for; a second Ctrl-C drops them.
        """
        self.tally.total = len(rows)
        work = asyncio.ensure_future(self._ask_models(rows))
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, self._end, INTERRUPTED)
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:  # by asyncio.run, at the first Ctrl-C
            self._end(INTERRUPTED)
            await work
        return self.tally

    async def _ask_models(self, rows: Sequence[Row]) -> None:
        slots, most = asyncio.Semaphore(self.block.concurrency), self.block.max_cost
        # A local model answers several calls at once, by one temperature.
        for (name, temperature), batch in groupby(rows, itemgetter("model", "temperature")):
            model = call.open_model(name, self.block, temperature=temperature)
            async with model, asyncio.TaskGroup() as group:
                for row in batch:
                    await slots.acquire()
                    if most and self.tally.cost + self.reserved + row["max_cost"] > most:
                        self._end(f"max_cost of {most:g} would be passed")
                    if self.stop.is_set():
                        return
                    self.reserved += row["max_cost"]
                    task = group.create_task(self._ask_with_retries(model, row))
                    task.add_done_callback(lambda _: slots.release())

    async def _ask_with_retries(self, model: Any, row: Row) -> None:
        """Ask until there is an answer, or no more attempt is allowed; record what came of it."""
        attempts = self.block.max_retries + 1
        for attempt in range(1, attempts + 1):
            try:
                answer = await call.ask_once(model, json.loads(row["messages"]))
                self._record_answer(row, answer, attempt)
                break
            except call.Failure as failure:
                final = failure.meaning != "temporary" or attempt == attempts
                if final or await self._stops_within(self._choose_wait(failure, attempt, row)):
                    self._record_failure(row, failure, attempt)
                    break
            self.tally.retries += 1
            self.listen(self.tally)
        self.reserved -= row["max_cost"]
        self.listen(self.tally)

    def _choose_wait(self, failure: call.Failure, attempt: int, row: Row) -> float:
        """Return seconds: at random up to a bound that doubles, at least the Retry-After."""
        bound = min(self.block.first_wait * 2.0 ** (attempt - 1), _LONGEST_BACKOFF)
        seconds = min(max(failure.wait, random.uniform(0, bound)), _LONGEST_WAIT)
        if seconds >= _LONG_WAIT:
            _log.warning("%s: waiting %.0f s before another attempt", row["model"], seconds)
        return seconds

    async def _stops_within(self, seconds: float) -> bool:
        """Wait before another attempt; tell whether asking was stopped meanwhile."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stop.wait(), seconds)
        return self.stop.is_set()

    def _record_answer(self, row: Row, answer: call.Answer, attempts: int) -> None:
        self.streak.clear()
        tally, n_in, n_out = self.tally, answer.input_tokens or 0, answer.output_tokens or 0
        tally.answered += 1
        tally.refused += bool(answer.refusal)
        tally.input_tokens += n_in
        tally.output_tokens += n_out
        tally.cost += self.block.price(row["model"], n_in, n_out) or 0.0
        outcome = {"status": "answered", **answer._asdict()}
        tally.lost += not self._record(row, outcome, attempts)

    def _record_failure(self, row: Row, failure: call.Failure, attempts: int) -> None:
        message, rejected = str(failure), failure.meaning == "rejected"
        self.tally.errors[message] += 1
        self.tally.rejected += rejected
        self.tally.failed += not rejected
        if failure.meaning == "fatal":  # no prompt's fault, so none has a record of it
            self._end(message)
            return
        status = "rejected" if rejected else "failed"
        self._record(row, {"status": status, "error": message}, attempts)
        self.streak[status] += 1
        most = _ALL_REJECTED if rejected else max(self.block.concurrency, 3)
        if self.streak[status] >= most:
            outcome = "were rejected" if rejected else "had no answer"
            self._end(f"{most} calls in a row {outcome}; the last: {message}")

    def _record(self, row: Row, outcome: Mapping[str, Any], attempts: int) -> bool:
        made = {"attempts": attempts, "asked_at": store.read_clock(), "run": self.run}
        columns = {name: row[name] for name in store.CALL_COLUMNS}
        try:
            store.record(self.connection, {**columns, **outcome, **made})
        except store.ERRORS as error:
            self._end(f"{self.path}: {store.explain_error(error)}")
            return False
        return True

    def _end(self, reason: str) -> None:
        self.tally.stopped = self.tally.stopped or reason
        self.stop.set()
