"""One call to a model: what goes out, what comes back, and what an error means.

The transport is inspect_ai, which speaks to OpenAI and whatever is compatible with it, Anthropic,
Google, local Hugging Face models, vLLM, Ollama and others. Its cache is not used: it expires, and
gives one answer to repeated prompts.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from nbbias import params
from nbbias.asking import trust
from nbbias.tables import NbbiasError, replace_surrogates, require_packages

_log = logging.getLogger(__name__)

#: What an error means: ask this again, never ask this again, or stop asking anything.
Meaning = Literal["temporary", "rejected", "fatal"]

#: Providers whose own client retries on top of ours unless it is told not to.
_RETRY_THEMSELVES = {"openai", "openai-api", "anthropic"}

#: Providers with a batch mode.
BATCHES = ("openai", "anthropic", "google", "together", "grok")

_LONGEST_WAIT = 600.0
_LONG_WAIT = 20.0  # what is told: somebody may be looking at nothing
_told_until: dict[str, float] = {}
#: Bytes of a body, unpacked; of a batch each answer may add a line.
_LONGEST_BODY, _LONGEST_LINE = 16_000_000, 1_000_000
_ERROR_LENGTH = 500
_MOST_TOKENS = 10**9  # of one call; what is beyond is no count
#: Not the prompt's fault, so no prompt is charged with it: key, rights, credit, address.
_FATAL_STATUSES = {401, 402, 404}
_FATAL_CODES = {"insufficient_quota", "invalid_api_key", "billing_hard_limit_reached"}


class Failure(Exception):  # noqa: N818
    """A call that gave no answer: what it means, and how long the server asks to wait."""

    def __init__(self, message: str, meaning: Meaning, wait: float | None = None) -> None:
        self.meaning: Meaning = meaning
        self.wait = wait
        super().__init__(
            params.redact(" ".join(replace_surrogates(message).split()))[:_ERROR_LENGTH]
        )


class Answer(NamedTuple):
    """What a model said. `refusal` is ``content_filter``, ``provider_refusal`` or empty."""

    text: str
    stop_reason: str
    refusal: str
    error: str | None
    input_tokens: int | None
    output_tokens: int | None
    seconds: float


class Transport(NamedTuple):
    """How calls are made; none of it changes an answer."""

    base_url: str
    concurrency: int
    timeout: int
    max_retries: int
    first_wait: float
    batch_size: int

    @property
    def in_flight(self) -> int:
        """How many calls are under way at a time: `concurrency` counts batches, if there are."""
        return self.concurrency * max(1, self.batch_size)


def open_model(
    name: str, *, parameters: Mapping[str, Any], model_args: Mapping[str, Any], transport: Transport
) -> Any:
    """Return inspect_ai's model, ready to be asked; the key comes from the environment.

    `parameters` are those of all calls; the temperature goes with each call.

    Raises
    ------
    NbbiasError
        inspect_ai or a provider's package is not installed, no key is set, or no such provider.
    """
    require_packages("inspect_ai", "tenacity", where="asking models")
    from inspect_ai.model import BatchConfig, GenerateConfig, get_model

    provider = name.split("/", 1)[0]
    further = dict(model_args) | trust.server_arguments(name, transport.base_url)
    if provider in _RETRY_THEMSELVES:
        further.setdefault("max_retries", 0)
    batch = transport.batch_size
    config = GenerateConfig(
        **parameters,
        # Retries are ours: inspect's waits do not heed Retry-After. Only batches, whose upkeep
        # is retried by the same number, are left to it.
        max_retries=transport.max_retries if batch else 0,
        attempt_timeout=None if batch else transport.timeout,
        max_connections=transport.in_flight,
        batch=BatchConfig(size=batch, max_size=batch) if batch else None,
    )
    try:
        model = get_model(
            name, config=config, base_url=transport.base_url or None, memoize=False, **further
        )
    except Exception as error:  # whatever a provider's constructor raises, it is about the set-up
        raise NbbiasError(name, params.redact(_plain(error))) from None
    # A server that sends on to another sends prompts and, in some providers' headers, keys there;
    # and what that one said would be filed as this one's.
    own = getattr(model.api, "client", None)
    for client in (getattr(model.api, "http_client", None), getattr(own, "_client", None)):
        if client is not None:
            client.follow_redirects = False
            client.event_hooks["response"].append(partial(_check_body, batch=batch))
    return model


async def _check_body(response: Any, *, batch: int) -> None:
    """Stop reading a body that is no answer's: too long for one, or an error with status 200."""
    whole_body, most = response.aiter_bytes, _LONGEST_BODY + batch * _LONGEST_LINE

    async def checked(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        parts, size = [], 0
        async for part in whole_body(chunk_size):
            size += len(part)
            if size > most:
                raise Failure(f"the body is longer than {most:,} bytes", "temporary")
            parts.append(part)
            yield part
        if response.status_code == 200 and size < _LONGEST_BODY:
            _check_answer(b"".join(parts))

    response.aiter_bytes = checked


def _check_answer(body: bytes) -> None:
    """Raise what a body says that is JSON and no completion: an error, or a text in parts."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return  # told where it is read
    if not isinstance(said, dict):
        return
    error = said.get("error")
    if error and not said.get("choices") and not said.get("content"):
        inside = error if isinstance(error, dict) else {"message": error}
        code = inside.get("code") or inside.get("type") or ""
        fatal = code in _FATAL_STATUSES or code in _FATAL_CODES
        told = f"the server sent status 200 with an error: {inside.get('message') or error}"
        raise Failure(told, "fatal" if fatal else "temporary")
    choices = said.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        message = choice.get("message") if isinstance(choice, dict) else None
        if isinstance(message, dict) and isinstance(message.get("content"), list):
            told = "the server sent the answer's content as a list, where the protocol has a text"
            raise Failure(told, "rejected")


def _plain(error: BaseException) -> str:
    """Return an error's message as one line without rich's markup."""
    from rich.text import Text

    message = getattr(error, "message", None) or str(error) or type(error).__name__
    try:
        message = Text.from_markup(str(message)).plain
    except Exception:  # square brackets that are no markup
        message = str(message)
    return " ".join(message.split())


async def ask_once(
    model: Any, messages: Sequence[Mapping[str, str]], temperature: float | None = None
) -> Answer:
    """Ask once; no temperature leaves it to the provider.

    Raises
    ------
    Failure
        There was no answer.
    """
    from inspect_ai.log._transcript import Transcript, init_transcript
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
    from tenacity import RetryError

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    sent = [kinds[one["role"]](content=one["content"]) for one in messages]
    init_transcript(Transcript())  # or inspect keeps every call in memory
    started = time.monotonic()
    try:
        output = await model.generate(sent, config=GenerateConfig(temperature=temperature))
    except RetryError as error:
        raise failure(model, error.last_attempt.exception()) from None
    except Exception as error:
        raise failure(model, error) from None
    return read(output, time.monotonic() - started)


def read(output: Any, seconds: float) -> Answer:
    """Turn inspect_ai's output into an answer.

    Raises
    ------
    Failure
        There is no choice in it, or the provider says that the request is too long.
    """
    if not output.choices:
        raise Failure(output.error or "the server sent no answer", "temporary")
    choice = output.choices[0]
    usage, stop = output.usage, choice.stop_reason
    said = params.redact_known(replace_surrogates(output.completion))
    if usage is None and stop == "model_length":
        raise Failure(said, "rejected")  # the text is the provider's error, not the model's
    refused = any(
        getattr(part, "refusal", None)
        for part in (choice.message.content if isinstance(choice.message.content, list) else [])
    )
    refusal = "provider_refusal" if refused else ""
    note = None
    if stop == "content_filter":
        refusal = "content_filter"
        if usage is None:  # filtered before the model: the text is the filter's message
            said, note = "", params.redact(said)[:_ERROR_LENGTH]
    tokens: tuple[int | None, int | None] = (None, None)
    if usage is not None:
        cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        counts = (usage.input_tokens + cached, usage.output_tokens)
        tokens = counts if all(0 <= n <= _MOST_TOKENS for n in counts) else tokens
    return Answer(said, stop, refusal, note, *tokens, round(seconds, 3))


# --- errors -----------------------------------------------------------------------------------


def failure(model: Any, error: BaseException | None) -> Failure:
    """Say what an exception of the transport means.

    The provider's own reading of it (inspect_ai's) decides between temporary and not; broken
    responses (cut off, no JSON) are temporary too. What concerns key, rights, credit or address is
    fatal, whatever the prompt.
    """
    origin = _origin(error)
    cause: BaseException | None = origin
    while cause is not None and not isinstance(cause, Failure):
        cause = cause.__cause__
    if cause is not None:
        return cause
    told = f"{type(origin).__name__}: {_plain(origin)}"
    status: Any = getattr(origin, "status_code", None) or getattr(error, "status_code", None)
    code = str(getattr(origin, "code", "") or "")
    if status in _FATAL_STATUSES or code in _FATAL_CODES or "api key not valid" in told.lower():
        return Failure(told, "fatal")
    if isinstance(status, int) and 300 <= status < 400:
        return Failure(f"{told} (sent on to another address, where nothing is asked)", "fatal")
    decision = _provider_says(model, origin)
    if decision or type(origin).__name__ == "AttemptTimeoutError" or _is_broken(origin):
        return Failure(told, "temporary", getattr(decision, "retry_after", None))
    if status is None and not isinstance(origin, ValueError):
        return Failure(told, "temporary")  # nothing was answered, so nothing was rejected
    return Failure(told, "fatal" if status == 403 else "rejected")


def _origin(error: BaseException | None) -> BaseException:
    """Return the provider's exception below inspect_ai's wrapper, which repeats the request."""
    while type(error).__name__ == "ModelGenerateError" and error.__cause__ is not None:  # type: ignore[union-attr]
        error = error.__cause__  # type: ignore[union-attr]
    return error or RuntimeError("the call ended without a word")


def _provider_says(model: Any, error: BaseException) -> Any:
    try:
        return model.api.should_retry(error)
    except Exception:  # a provider that cannot read the exception says nothing about it
        return False


#: Exceptions of clients, and of what reads their answers, about an answer that is none.
_BROKEN = {"APIResponseValidationError", "OpenAIResponseError", "ValidationError"}


def _is_broken(error: BaseException | None) -> bool:
    """Tell whether a response came in pieces: no JSON, or cut off."""
    while error is not None:
        if isinstance(error, json.JSONDecodeError | UnicodeError | EOFError | ConnectionError):
            return True
        if type(error).__name__ in _BROKEN:
            return True
        error = error.__cause__
    return False


async def ask(
    model: Any,
    messages: Sequence[Mapping[str, str]],
    *,
    temperature: float | None,
    transport: Transport,
    listen: Callable[[Failure], None],
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Answer:
    """Ask until there is an answer or the retries are used up.

    Waits double from `first_wait`, with jitter, and are never shorter than the server's
    Retry-After. `listen` hears of every attempt that failed for now; `pause` does the waiting.

    Raises
    ------
    Failure
        The last one.
    """
    from tenacity import (
        AsyncRetrying,
        RetryCallState,
        retry_if_exception,
        stop_after_attempt,
        wait_random_exponential,
    )

    backoff = wait_random_exponential(multiplier=transport.first_wait, max=60)

    def last(state: RetryCallState) -> Failure | None:
        error = state.outcome.exception() if state.outcome else None
        return error if isinstance(error, Failure) else None

    def wait(state: RetryCallState) -> float:
        error = last(state)
        return min(max((error and error.wait) or 0.0, backoff(state)), _LONGEST_WAIT)

    def heard(state: RetryCallState) -> None:
        error = last(state)
        if error:
            listen(error)

    def tell(state: RetryCallState) -> None:
        seconds = state.next_action.sleep if state.next_action else 0.0
        now, name = time.monotonic(), str(getattr(model, "name", model))
        if seconds >= _LONG_WAIT and now > _told_until.get(name, 0.0):
            _told_until[name] = now + seconds
            _log.warning("%s: the server asks for patience; waiting %.0f s", name, seconds)

    attempts = AsyncRetrying(
        retry=retry_if_exception(lambda e: isinstance(e, Failure) and e.meaning == "temporary"),
        stop=stop_after_attempt(1 if transport.batch_size else transport.max_retries + 1),
        wait=wait,
        after=heard,
        before_sleep=tell,
        sleep=pause,
        reraise=True,
    )
    return await attempts(ask_once, model, messages, temperature)
