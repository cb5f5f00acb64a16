"""What a params file cannot decide: where prompts and keys go, and which code runs.

A params file is data from a stranger (docs/decisions/0014-nothing-lost.md). An address in it is
used only if the user names it outside the file, too, and arguments of a backend come from a list.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from nbbias.tables import ParameterError

#: Where the user names the addresses that params files may use (`--base-url` adds one).
BASE_URL = "NBBIAS_BASE_URL"

#: Providers that run on this machine and take no key.
_LOCAL = {"hf", "nnterp", "transformer_lens", "llama-cpp-python", "mockllm", "none"}

#: Providers that start a server of their own where no address is given.
_SERVERS = {"vllm", "sglang"}

#: Arguments that a params file may give a provider; none of them names code, a key or an address.
ARGUMENTS = {
    "hf": "model_path tokenizer_path device batch_size chat_template use_chat_template "
    "tokenizer_call_args enable_thinking do_sample dtype torch_dtype revision",
    "vllm": "dtype max_model_len gpu_memory_utilization tensor_parallel_size quantization revision "
    "seed enforce_eager max_num_seqs device",
    "sglang": "dtype context_length mem_fraction_static tp_size quantization revision device",
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


def argument_breaches(models: Iterable[str], arguments: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the arguments, and with models that would become arguments.

    Examples
    --------
    >>> argument_breaches(["vllm/m"], {"middleware": "os.system"})[0][:54]
    "model_args: vllm takes no 'middleware' from a params f"
    >>> argument_breaches(["vllm/--middleware=os.system"], {})
    ["models: '--middleware=os.system' is no model's name"]
    """
    breaches = []
    for model in models:
        company, _, name = model.partition("/")
        allowed = ARGUMENTS.get(company, "").split()
        for argument in arguments:
            if argument not in allowed:
                breaches.append(
                    f"model_args: {company} takes no {argument!r} from a params file; "
                    f"it takes {', '.join(allowed) or 'none'}"
                )
        if any(part.startswith("-") for part in name.split(":")):
            breaches.append(f"models: {name!r} is no model's name")
    return list(dict.fromkeys(breaches))


def server_arguments(model: str, base_url: str) -> dict[str, Any]:
    """Return how a server that is started for a model listens: on loopback, with a random key.

    Examples
    --------
    >>> server_arguments("openai/gpt-4o", ""), server_arguments("vllm/m", "")["host"]
    ({}, '127.0.0.1')
    """
    if provider(model) not in _SERVERS or base_url or os.environ.get(_variables(model)[1]):
        return {}
    return {"host": "127.0.0.1", "api_key": secrets.token_urlsafe(32)}


def _variables(model: str) -> tuple[str, str]:
    """Return the environment variables of a provider's key and address."""
    service = model.removeprefix("openai-api/").partition("/")[0]
    name = service.upper().replace("-", "_")
    return f"{name}_API_KEY", f"{name}_BASE_URL"


def describe_destination(model: str, base_url: str) -> str:
    """Say where a model's prompts go, and with which key; never the key.

    Examples
    --------
    >>> describe_destination("hf/tiny", "")
    'hf/tiny: runs on this machine'
    >>> describe_destination("openai/gpt-4o", "https://a.example/v1")
    'openai/gpt-4o: prompts, and the key in OPENAI_API_KEY, go to https://a.example/v1'
    """
    key, variable = _variables(model)
    address = base_url or os.environ.get(variable, "")
    if provider(model) in _LOCAL or (provider(model) in _SERVERS and not address):
        return f"{model}: runs on this machine"
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
        key, variable = _variables(model)
        address = base_url or os.environ.get(variable, "")
        if address and not _is_private(address):
            breaches.append(
                f"{model}: {address} is plain http on another machine, where anybody on the way "
                f"could read {key}; use https, or forward a port of this machine to it"
            )
    if breaches:
        raise ParameterError(where, list(dict.fromkeys(breaches)))


def _is_private(address: str) -> bool:
    """Tell whether nobody else can read what is sent to an address."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    return parts.scheme == "https" or loopback
