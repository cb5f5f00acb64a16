"""What a params file cannot decide: where prompts and keys go, and which code runs.

A params file is untrusted input (docs/decisions/what-can-be-lost-or-run.md). An address in it
is used only if the user names it outside the file, too; arguments of a backend come from a list.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from nbbias.tables import ParameterError

#: Where the user names the addresses that params files may use (`--base-url` adds one).
BASE_URL = "NBBIAS_BASE_URL"

#: Providers that run on this machine and take no key.
_LOCAL = {"hf", "nnterp", "transformer_lens", "llama-cpp-python", "mockllm", "none"}

#: Providers that would start a server where no address is given: open to others, without a key.
_SERVERS = {"vllm", "sglang"}

#: Arguments that a params file may give a provider; none of them names code, a key or an address.
ARGUMENTS = {
    "hf": "model_path tokenizer_path device batch_size chat_template use_chat_template "
    "tokenizer_call_args enable_thinking do_sample dtype torch_dtype revision",
    "openai": "responses_api service_tier",
    "openai-api": "responses_api stream",
    "anthropic": "streaming",
}


def provider(model: str) -> str:
    """Return who answers for a model.

    Examples
    --------
    >>> provider("openai-api/mine/small")
    'openai-api'
    """
    return model.partition("/")[0]


def model_breaches(models: Iterable[str], arguments: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with models, and with the arguments that they are given.

    Examples
    --------
    >>> model_breaches(["hf/m"], {"middleware": "os.system"})[0][:52]
    "model_args: hf takes no 'middleware' from a params f"
    """
    breaches = []
    for model in models:
        company, _, name = model.partition("/")
        allowed = ARGUMENTS.get(company, "").split()
        breaches += [
            f"model_args: {company} takes no {argument!r} from a params file; "
            f"it takes {', '.join(allowed) or 'none'}"
            for argument in arguments
            if argument not in allowed
        ]
        if not company or not name:
            breaches.append(f"models: {model!r} names no provider; write it as openai/{model}")
    return list(dict.fromkeys(breaches))


def _variable(model: str, what: str) -> str:
    """Return the environment variable of a provider's API_KEY or BASE_URL."""
    service = model.removeprefix("openai-api/").partition("/")[0]
    return f"{service.upper().replace('-', '_')}_{what}"


def _find_address(model: str, base_url: str) -> str:
    return base_url or os.environ.get(_variable(model, "BASE_URL"), "")


def describe_destination(model: str, base_url: str) -> str:
    """Say where a model's prompts go, and with which key; never the key.

    Examples
    --------
    >>> describe_destination("hf/tiny", "")
    'hf/tiny: runs on this machine'
    >>> describe_destination("openai/gpt-4o", "https://a.example/v1")
    'openai/gpt-4o: prompts, and the key in OPENAI_API_KEY, go to https://a.example/v1'
    >>> describe_destination("ollama/llama3", "")
    'ollama/llama3: prompts go to Ollama on this machine, without a key'
    """
    address, key = _find_address(model, base_url), _variable(model, "API_KEY")
    if provider(model) in _LOCAL:
        return f"{model}: runs on this machine"
    if provider(model) == "ollama":
        return f"{model}: prompts go to {address or 'Ollama on this machine'}, without a key"
    return f"{model}: prompts, and the key in {key}, go to {address or 'the provider itself'}"


def check_addresses(models: Iterable[str], base_url: str, *, where: str) -> None:
    """Refuse an address that the user did not name outside the params file, or that is not safe.

    Raises
    ------
    ParameterError
        The address stands in the file alone; or a key would go over plain http to another machine.
    """
    confirmed = {address.rstrip("/") for address in os.environ.get(BASE_URL, "").split()}
    breaches = []
    if base_url and base_url.rstrip("/") not in confirmed:
        breaches.append(
            f"generate.base_url: nothing is sent to {base_url}, which is named by the params file "
            f"alone; if prompts and your key are to go there, add --base-url {base_url} "
            f"(or set {BASE_URL})"
        )
    for model in models:
        address = _find_address(model, base_url)
        if provider(model) in _SERVERS and not address:
            breaches.append(
                f"{model}: start its server yourself, and name its address in base_url or "
                f"{_variable(model, 'BASE_URL')}"
            )
        if address and not _is_private(address):
            breaches.append(
                f"{model}: {address} is plain http on another machine, where anybody on the way "
                "could read your key; use https, or forward a port of this machine to it"
            )
    ParameterError.refuse(where, list(dict.fromkeys(breaches)))


def _is_private(address: str) -> bool:
    """Tell whether nobody else can read what is sent to an address."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    return parts.scheme == "https" or loopback
