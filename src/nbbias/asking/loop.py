"""Many calls at a time, each claimed before it is paid for and recorded before the next."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import sqlite3
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from nbbias.asking import call as asking, store
from nbbias.asking.call import Answer, Failure, Transport

#: Seconds between looks at prompts that another process is asking.
_LOOK = 0.5

#: Rejections in a row, with no answer among them, after which the fault is not the prompts'.
_ALL_REJECTED = 20


#: `Tally.stopped` after Ctrl-C or SIGTERM.
INTERRUPTED = "interrupted"


class Call(NamedTuple):
    """One call to make: `parameters` are those that its key rests on; what it costs at most."""

    key: str
    model: str
    messages: list[dict[str, str]]
    replicate: int
    parameters: Mapping[str, Any]
    cost_at_most: float

    @property
    def temperature(self) -> float | None:
        """None leaves it to the provider."""
        return self.parameters.get("temperature")


@dataclass
class Tally:
    """What has happened so far. Tokens and cost are those of this run's answers."""

    total: int
    answered: int = 0
    rejected: int = 0
    failed: int = 0
    #: Content-filtered answers and provider refusals; they count as answered too.
    refused: int = 0
    retries: int = 0
    #: Answered meanwhile by another process.
    elsewhere: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    #: Answers for which the server told no tokens; their cost is not in `cost`.
    uncounted: int = 0
    cost: float = 0.0
    #: Why the run stopped early, or empty.
    stopped: str = ""
    #: Files of answers that the store could not take, each once.
    rescued: dict[Path, None] = field(default_factory=dict)
    lost: int = 0
    #: Messages of errors that were not retried further, with how often each came.
    errors: dict[str, int] = field(default_factory=dict)

    @property
    def done(self) -> int:
        return self.answered + self.rejected + self.failed + self.elsewhere


class Desk(NamedTuple):
    """What every worker needs."""

    connection: sqlite3.Connection
    path: Path
    run: str
    transport: Transport
    #: Price of a million input tokens and of a million output tokens.
    prices: Mapping[str, tuple[float, float]]
    #: Stop before more than this is spent; 0 is no limit.
    max_cost: float
    again: bool
    listen: Callable[[Tally], None]


async def ask_all(calls: list[Call], models: Mapping[str, Callable[[], Any]], desk: Desk) -> Tally:
    """Make all calls, one model after the other, and record every answer as it comes.

    It stops early, with `Tally.stopped` saying why, when the key or the address is wrong, when
    the server gives no answer any more, when everything is rejected, when the money is spent, when
    the store cannot be written, or on Ctrl-C. Calls in flight are then still awaited, since they
    are paid for; a second Ctrl-C drops them.
    """
    tally = Tally(len(calls))
    stop = asyncio.Event()
    heart = asyncio.create_task(_keep_claims(desk))
    try:
        with _heeding_signals(stop, tally):
            for name in dict.fromkeys(call.model for call in calls):
                if stop.is_set():
                    break
                async with models[name]() as model:
                    mine = [call for call in calls if call.model == name]
                    # One temperature at a time: a local model may answer several calls as one.
                    for warmth in dict.fromkeys(call.temperature for call in mine):
                        own = [call for call in mine if call.temperature == warmth]
                        await _Round(model, desk, tally, stop).make(own)
    except asyncio.CancelledError:  # the second Ctrl-C; what was in flight is dropped
        tally.stopped = tally.stopped or INTERRUPTED
    finally:
        heart.cancel()
        with suppress(*store.Broken):
            store.release(desk.connection)
    return tally


async def _keep_claims(desk: Desk) -> None:
    while True:
        await asyncio.sleep(store.LEASE / 3)
        with suppress(*store.Broken):  # a full disk shows itself when an answer is recorded
            store.renew(desk.connection)


@contextmanager
def _heeding_signals(stop: asyncio.Event, tally: Tally) -> Iterator[None]:
    """Stop gently at the first Ctrl-C or SIGTERM, at once at the second."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def heed() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        tally.stopped = tally.stopped or INTERRUPTED
        stop.set()

    heeded = []
    for one in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
            loop.add_signal_handler(one, heed)
            heeded.append(one)
    try:
        yield
    finally:
        for one in heeded:
            loop.remove_signal_handler(one)


class _Round:
    """The calls of one model: a queue, its workers, and when to give up."""

    def __init__(self, model: Any, desk: Desk, tally: Tally, stop: asyncio.Event) -> None:
        self.model, self.desk, self.tally, self.stop = model, desk, tally, stop
        self.queue: deque[Call] = deque()
        self.held: list[Call] = []
        self.in_flight = 0.0
        self.unanswered_in_a_row = 0
        self.rejected_in_a_row = 0
        self.workers = desk.transport.in_flight

    async def make(self, calls: list[Call]) -> None:
        self.queue = deque(calls)
        while self.queue and not self.stop.is_set():
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.workers, len(self.queue))):
                    group.create_task(self._work())
            # What another process has claimed is waited for, and taken over if that one dies.
            self.queue, self.held = deque(self.held), []
            if self.queue:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.stop.wait(), _LOOK)

    async def _work(self) -> None:
        while self.queue and not self.stop.is_set():
            call = self.queue.popleft()
            try:
                claim = store.claim(self.desk.connection, call.key, again=self.desk.again)
            except store.Broken as error:
                return self._end(store.in_words(error, self.desk.path).breaches[0])
            if claim == "held":
                self.held.append(call)
                await asyncio.sleep(0)  # of thousands held, no signal and no renewal waits for all
            elif claim == "done":
                self.tally.elsewhere += 1
                self.desk.listen(self.tally)
                await asyncio.sleep(0)
            elif self._too_dear(call):
                return self._end(f"max_cost of {self.desk.max_cost:g} would be passed")
            else:
                await self._make_one(call)
        return None

    def _too_dear(self, call: Call) -> bool:
        spent = self.tally.cost + self.in_flight + call.cost_at_most
        return bool(self.desk.max_cost) and spent > self.desk.max_cost

    async def _make_one(self, call: Call) -> None:
        failures: list[Failure] = []

        def heard(failure: Failure) -> None:
            failures.append(failure)
            self.tally.retries += 1
            self.desk.listen(self.tally)

        self.in_flight += call.cost_at_most
        try:
            answer = await asking.ask(
                self.model,
                call.messages,
                temperature=call.temperature,
                transport=self.desk.transport,
                listen=heard,
                pause=self._pause,
            )
        except Failure as failure:
            last = failures[-1] if failures and failure.meaning == "temporary" else failure
            self._failed(call, last, attempts=max(len(failures), 1))
        else:
            self._answered(call, answer, attempts=len(failures) + 1)
        finally:
            self.in_flight -= call.cost_at_most
        self.desk.listen(self.tally)

    async def _pause(self, seconds: float) -> None:
        """Wait before trying again, unless asking ends meanwhile."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stop.wait(), seconds)
            raise Failure("asking ended before this was tried again", "temporary")

    def _answered(self, call: Call, answer: Answer, *, attempts: int) -> None:
        self.unanswered_in_a_row = self.rejected_in_a_row = 0
        tally = self.tally
        tally.answered += 1
        tally.refused += bool(answer.refusal)
        if answer.input_tokens is None or answer.output_tokens is None:
            tally.uncounted += 1
        else:
            tally.input_tokens += answer.input_tokens
            tally.output_tokens += answer.output_tokens
            dear = self.desk.prices.get(call.model, (0.0, 0.0))
            tally.cost += (answer.input_tokens * dear[0] + answer.output_tokens * dear[1]) / 1e6
        self._record(call, {"status": "answered", **answer._asdict()}, attempts)

    def _failed(self, call: Call, failure: Failure, *, attempts: int) -> None:
        tally, told = self.tally, str(failure)
        tally.errors[told] = tally.errors.get(told, 0) + 1
        if failure.meaning == "fatal":
            tally.failed += 1  # its claim is given back at the end, with all others
            return self._end(told)
        if failure.meaning == "rejected":
            tally.rejected += 1
            self.rejected_in_a_row += 1
        else:
            tally.failed += 1
            self.unanswered_in_a_row += 1
        status = "rejected" if failure.meaning == "rejected" else "failed"
        self._record(call, {"status": status, "error": told}, attempts)
        if self.unanswered_in_a_row >= max(self.workers, 3) and not self.stop.is_set():
            self._end(f"{self.unanswered_in_a_row} calls in a row had no answer; the last: {told}")
        elif self.rejected_in_a_row >= _ALL_REJECTED:
            self._end(f"{_ALL_REJECTED} calls in a row were rejected; the last: {told}")
        return None

    def _end(self, why: str) -> None:
        self.tally.stopped = self.tally.stopped or why
        self.stop.set()

    def _record(self, call: Call, outcome: Mapping[str, Any], attempts: int) -> None:
        row = {
            "key": call.key,
            "model": call.model,
            "base_url": self.desk.transport.base_url,
            "messages": store.canonical(call.messages),
            "parameters": store.canonical(call.parameters),
            "replicate": call.replicate,
            **outcome,
            "attempts": attempts,
            "asked_at": store.now(),
            "run": self.desk.run,
        }
        try:
            store.record(self.desk.connection, row)
        except store.Broken as error:
            if row["status"] == "answered":
                self._rescue(row)
            self._end(store.in_words(error, self.desk.path).breaches[0])

    def _rescue(self, row: Mapping[str, Any]) -> None:
        """Put an answer that the store cannot take where there is room: it is paid for."""
        line = json.dumps(row, ensure_ascii=False) + "\n"
        for folder in _refuges():
            path = folder / f"nbbias-rescued-{self.desk.run}.jsonl"
            try:
                _append(path, line.encode())
            except OSError:
                continue
            self.tally.rescued |= {path: None}
            return
        self.tally.lost += 1


def _refuges() -> Iterator[Path]:
    """Name folders that may have room when the store's has none."""
    with suppress(OSError):  # there is none in which a file can be made
        yield Path(tempfile.gettempdir())
    yield Path(os.path.expanduser("~"))
    yield Path("/dev/shm")


def _append(path: Path, line: bytes) -> None:
    """Write a line at a file's end whole or not at all: half of one would spoil those before it."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with open(handle, "wb", buffering=0) as file:
        before = os.fstat(handle).st_size
        try:
            if file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            os.fsync(handle)
        except OSError:
            file.truncate(before)
            raise
