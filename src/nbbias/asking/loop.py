"""Many calls at a time; every answer is recorded when it comes."""

from __future__ import annotations

import asyncio
import logging
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nbbias.asking import call as one_call, store
from nbbias.asking.call import Answer, Failure

if TYPE_CHECKING:
    from nbbias.asking.params import Generate

_log = logging.getLogger(__name__)

#: Rejections in a row, with no answer among them, after which the fault is not the prompts'.
_ALL_REJECTED = 20

#: Seconds: no wait between attempts is longer, and one of `_LONG_WAIT` is announced.
_LONGEST_WAIT, _LONG_WAIT = 600.0, 20.0

#: `Tally.stopped` after Ctrl-C or SIGTERM.
INTERRUPTED = "interrupted"


class Call(NamedTuple):
    """One call to make; `columns` are those of its row in the store."""

    model: str
    messages: list[dict[str, str]]
    temperature: float | None
    cost_at_most: float
    columns: Mapping[str, Any]


@dataclass
class Tally:
    """Counts of a run so far; tokens and cost are those of its answers.

    `refused` (content-filtered answers and provider refusals) and `uncounted` (answers without
    token counts, which `cost` leaves out) are among the answered; `lost` are answers that the
    store could not take. `errors` counts messages of calls that were given up. `stopped` says why
    the run stopped early, or is empty.
    """

    total: int
    answered: int = 0
    rejected: int = 0
    failed: int = 0
    refused: int = 0
    retries: int = 0
    lost: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    cost: float = 0.0
    stopped: str = ""
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def done(self) -> int:
        return self.answered + self.rejected + self.failed


@dataclass
class Session:
    """One run of asking: where answers go (the store and the run's id), and what has happened.

    `listen` is called with the tally after every attempt; `reserved` is the highest cost of the
    calls in flight.
    """

    block: Generate
    connection: sqlite3.Connection
    path: Path
    run: str
    listen: Callable[[Tally], None]
    tally: Tally = field(default_factory=lambda: Tally(0))
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    reserved: float = 0.0
    in_a_row: Counter[str] = field(default_factory=Counter)
    announced_until: float = 0.0

    async def ask_all(self, calls: Sequence[Call], open_model: Callable[[str], Any]) -> Tally:
        """Make all calls, one model after the other.

        It stops early, with `Tally.stopped` saying why, when the key or the address is wrong, when
        the server gives no answer any more, when everything is rejected, when the money is spent,
        when the store cannot be written, or on Ctrl-C or SIGTERM. Calls in flight are then still
        awaited, since they are paid for; a second Ctrl-C drops them.
        """
        self.tally.total = len(calls)
        work = asyncio.ensure_future(self._ask_models(calls, open_model))
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
            end = partial(self._end, INTERRUPTED)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:  # by asyncio.run, at the first Ctrl-C
            self._end(INTERRUPTED)
            await work
        return self.tally

    async def _ask_models(self, calls: Sequence[Call], open_model: Callable[[str], Any]) -> None:
        for name, of_model in groupby(calls, key=lambda call: call.model):
            if not self.stop.is_set():
                async with open_model(name) as model:
                    # A local model answers several calls at once, by one temperature.
                    for _, batch in groupby(of_model, key=lambda call: call.temperature):
                        await self._ask_batch(model, list(batch))

    async def _ask_batch(self, model: Any, calls: Sequence[Call]) -> None:
        slots = asyncio.Semaphore(self.block.in_flight)
        async with asyncio.TaskGroup() as group:
            for call in calls:
                await slots.acquire()
                self._check_cost(call)
                if self.stop.is_set():
                    break
                self.reserved += call.cost_at_most
                task = group.create_task(self._ask(model, call))
                task.add_done_callback(lambda _: slots.release())

    async def _ask(self, model: Any, call: Call) -> None:
        """Ask until there is an answer, or no more attempt is allowed; record what came of it."""
        attempts = 1 if self.block.batch_size else self.block.max_retries + 1
        for attempt in range(1, attempts + 1):
            try:
                answer = await one_call.ask_once(model, call.messages, call.temperature)
            except Failure as failure:
                final = failure.meaning != "temporary" or attempt == attempts
                if final or await self._stops_within(self._choose_wait(failure, attempt, call)):
                    self._file_failure(call, failure, attempt)
                    break
                self.tally.retries += 1
                self.listen(self.tally)
            else:
                self._file_answer(call, answer, attempt)
                break
        self.reserved -= call.cost_at_most
        self.listen(self.tally)

    def _choose_wait(self, failure: Failure, attempt: int, call: Call) -> float:
        """Return seconds: at random up to a bound that doubles, at least the Retry-After."""
        bound = min(self.block.first_wait * 2.0 ** (attempt - 1), 60.0)
        seconds = min(max(failure.wait, random.uniform(0, bound)), _LONGEST_WAIT)
        now = time.monotonic()
        if seconds >= _LONG_WAIT and now > self.announced_until:
            self.announced_until = now + seconds
            _log.warning("%s: the server asks for patience; waiting %.0f s", call.model, seconds)
        return seconds

    async def _stops_within(self, seconds: float) -> bool:
        """Wait before another attempt; tell whether asking was stopped meanwhile."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stop.wait(), seconds)
        return self.stop.is_set()

    def _check_cost(self, call: Call) -> None:
        most = self.block.max_cost
        if most and self.tally.cost + self.reserved + call.cost_at_most > most:
            self._end(f"max_cost of {most:g} would be passed")

    def _file_answer(self, call: Call, answer: Answer, attempts: int) -> None:
        self.in_a_row.clear()
        tally, price = self.tally, self.block.prices.get(call.model)
        tally.answered += 1
        tally.refused += bool(answer.refusal)
        if answer.input_tokens is None or answer.output_tokens is None:
            tally.uncounted += 1
        else:
            tally.input_tokens += answer.input_tokens
            tally.output_tokens += answer.output_tokens
            if price:
                tally.cost += price.charge(answer.input_tokens, answer.output_tokens)
        if not self._record(call, {"status": "answered", **answer._asdict()}, attempts):
            tally.lost += 1

    def _file_failure(self, call: Call, failure: Failure, attempts: int) -> None:
        message, rejected = str(failure), failure.meaning == "rejected"
        self.tally.errors[message] += 1
        self.tally.rejected += rejected
        self.tally.failed += not rejected
        if failure.meaning == "fatal":  # no prompt's fault, so none has a record of it
            return self._end(message)
        status = "rejected" if rejected else "failed"
        self._record(call, {"status": status, "error": message}, attempts)
        self.in_a_row[status] += 1
        most = _ALL_REJECTED if rejected else max(self.block.in_flight, 3)
        if self.in_a_row[status] >= most:
            outcome = "were rejected" if rejected else "had no answer"
            self._end(f"{most} calls in a row {outcome}; the last: {message}")
        return None

    def _record(self, call: Call, outcome: Mapping[str, Any], attempts: int) -> bool:
        made = {"attempts": attempts, "asked_at": store.read_clock(), "run": self.run}
        try:
            store.record(self.connection, {**call.columns, **outcome, **made})
        except store.Broken as error:
            self._end(f"{self.path}: {store.explain(error)}")
            return False
        return True

    def _end(self, reason: str) -> None:
        self.tally.stopped = self.tally.stopped or reason
        self.stop.set()
