"""One call to a model: what goes out, what comes back, and what an error means.

The transport is inspect_ai, which speaks to OpenAI and whatever is compatible with it, Anthropic,
Google, local Hugging Face models, vLLM, Ollama and others. Its cache is not used: it expires, and
gives one answer to repeated prompts.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from nbbias import params
from nbbias.asking import trust
from nbbias.asking.params import Generate
from nbbias.tables import NbbiasError, replace_surrogates, require_packages

#: What an error means: ask this again, never ask this again, or stop asking anything.
Meaning = Literal["temporary", "rejected", "fatal"]

#: Providers whose own client tries again, unless it is told not to.
_RETRYING_CLIENTS = {"openai", "openai-api", "anthropic"}

_LONGEST_BODY = 16_000_000  # bytes, unpacked
_ERROR_LENGTH = 500
_MOST_TOKENS = 10**9  # of one call; more is no count
#: Not the prompt's fault, so no prompt is charged with it: key, rights, credit, address.
_FATAL_STATUSES = {401, 402, 403, 404}
_FATAL_CODES = {"insufficient_quota", "invalid_api_key", "billing_hard_limit_reached"}


class Failure(Exception):  # noqa: N818
    """A call that gave no answer: what it means, and how long the server asks to wait."""

    def __init__(self, message: str, meaning: Meaning, wait: float | None = None) -> None:
        self.meaning: Meaning = meaning
        self.wait = wait or 0.0
        message = params.redact(" ".join(replace_surrogates(message).split()))
        super().__init__(message[:_ERROR_LENGTH])


class Answer(NamedTuple):
    """A model's answer. `refusal` is ``content_filter``, ``provider_refusal`` or empty."""

    text: str
    stop_reason: str
    refusal: str
    error: str | None
    input_tokens: int | None
    output_tokens: int | None
    seconds: float


def open_model(name: str, block: Generate, *, temperature: float | None) -> Any:
    """Return inspect_ai's model, ready to be asked; the key comes from the environment.

    No temperature leaves it to the provider.

    Raises
    ------
    NbbiasError
        inspect_ai or a provider's package is not installed, no key is set, or no such provider.
    """
    require_packages("inspect_ai", where="asking models")
    from inspect_ai.model import GenerateConfig, get_model

    arguments, url = dict(block.model_args), block.base_url or None
    if trust.provider(name) in _RETRYING_CLIENTS:
        arguments.setdefault("max_retries", 0)
    try:
        config = GenerateConfig(
            **block.parameters,
            temperature=temperature,
            max_retries=0,  # inspect_ai's own waits heed no Retry-After
            attempt_timeout=block.attempt_timeout,
            max_connections=block.concurrency,
        )
        model = get_model(name, config=config, base_url=url, memoize=False, **arguments)
    except Exception as error:  # whatever a provider's constructor raises, it is about the set-up
        raise NbbiasError(name, params.redact(_read_message(error))) from None
    # A server that redirects sends prompts and, in some providers' headers, keys to another
    # address; and an answer from there would be filed as this server's.
    client = getattr(model.api, "client", None)
    for http in (getattr(model.api, "http_client", None), getattr(client, "_client", None)):
        if http is not None:
            http.follow_redirects = False
            http.event_hooks["response"].append(_limit_body)
    return model


async def ask_once(model: Any, messages: Sequence[Mapping[str, str]]) -> Answer:
    """Ask once.

    inspect_ai keeps every call in the transcript of the task that makes it: give each a task.

    Raises
    ------
    Failure
        There was no answer.
    """
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    chat = [kinds[message["role"]](content=message["content"]) for message in messages]
    start = time.monotonic()
    try:
        output = await model.generate(chat)
    except Exception as error:
        raise classify_error(model, error) from None
    return read_output(output, time.monotonic() - start)


def read_output(output: Any, seconds: float) -> Answer:
    """Turn inspect_ai's output into an answer.

    Raises
    ------
    Failure
        There is no choice in it, or the provider says that the request is too long.
    """
    if not output.choices:
        raise Failure(output.error or "the server sent no answer", "temporary")
    choice, usage = output.choices[0], output.usage
    text, error = params.redact_known(replace_surrogates(output.completion)), None
    if usage is None and choice.stop_reason == "model_length":
        raise Failure(text, "rejected")  # the text is the provider's error, not the model's
    content = choice.message.content
    parts = content if isinstance(content, list) else []
    refusal = "provider_refusal" if any(getattr(p, "refusal", None) for p in parts) else ""
    if choice.stop_reason == "content_filter":
        refusal = "content_filter"
        if usage is None:  # filtered before the model: the text is the filter's message
            text, error = "", params.redact(text)[:_ERROR_LENGTH]
    tokens: tuple[int | None, int | None] = (None, None)
    if usage is not None:
        cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        counts = (usage.input_tokens + cached, usage.output_tokens)
        tokens = counts if all(0 <= n <= _MOST_TOKENS for n in counts) else tokens
    return Answer(text, choice.stop_reason, refusal, error, *tokens, round(seconds, 3))


async def _limit_body(response: Any) -> None:
    """Stop reading a body that is too long for an answer: it would fill the memory."""
    read_bytes = response.aiter_bytes

    async def read_limited(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        size = 0
        async for part in read_bytes(chunk_size):
            size += len(part)
            if size > _LONGEST_BODY:
                raise Failure(f"the body is longer than {_LONGEST_BODY:,} bytes", "temporary")
            yield part

    response.aiter_bytes = read_limited


# --- errors -----------------------------------------------------------------------------------


def classify_error(model: Any, error: BaseException | None) -> Failure:
    """Say what an exception of the transport means.

    inspect_ai's reading of it decides between temporary and not; where nothing came, or a success
    that is no answer (cut off, no JSON), it is temporary, too. What concerns key, rights, credit
    or address is fatal, whatever the prompt.
    """
    last = getattr(error, "last_attempt", None)  # of the RetryError of tenacity
    error = (last.exception() if last else error) or RuntimeError("the call ended without a reason")
    while type(error).__name__ == "ModelGenerateError" and error.__cause__:  # repeats the request
        error = error.__cause__
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, Failure):
        cause = cause.__cause__
    if cause is not None:
        return cause
    message = f"{type(error).__name__}: {_read_message(error)}"
    status, code = getattr(error, "status_code", None), str(getattr(error, "code", ""))
    if status in _FATAL_STATUSES or code in _FATAL_CODES or "api key not valid" in message.lower():
        return Failure(message, "fatal")
    if isinstance(status, int) and 300 <= status < 400:
        return Failure(f"{message} (sent on to another address, where nothing is asked)", "fatal")
    try:
        decision = model.api.should_retry(error)
    except Exception:  # a provider that cannot read the exception says nothing about it
        decision = None
    if decision or status is None or status < 300:
        return Failure(message, "temporary", getattr(decision, "retry_after", None))
    return Failure(message, "rejected")


def _read_message(error: BaseException) -> str:
    """Return an error's message as one line without rich's markup."""
    message = str(getattr(error, "message", None) or error or type(error).__name__)
    return " ".join(re.sub(r"\[/?[a-z ]+\]", "", message).split())
