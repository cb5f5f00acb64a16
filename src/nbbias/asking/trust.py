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
    "hf": (
        "model_path",
        "tokenizer_path",
        "device",
        "batch_size",
        "chat_template",
        "use_chat_template",
        "tokenizer_call_args",
        "enable_thinking",
        "do_sample",
        "dtype",
        "torch_dtype",
        "revision",
    ),
    "vllm": (
        "dtype",
        "max_model_len",
        "gpu_memory_utilization",
        "tensor_parallel_size",
        "quantization",
        "revision",
        "seed",
        "enforce_eager",
        "max_num_seqs",
        "device",
    ),
    "sglang": (
        "dtype",
        "context_length",
        "mem_fraction_static",
        "tp_size",
        "quantization",
        "revision",
        "device",
    ),
    "openai": ("responses_api", "service_tier"),
    "openai-api": ("responses_api", "stream"),
    "anthropic": ("streaming",),
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
    told = []
    for model in models:
        of, _, name = model.partition("/")
        allowed = ARGUMENTS.get(of, ())
        named = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
        told += [
            f"model_args: {of} takes no {argument!r} from a params file; {named}"
            for argument in arguments
            if argument not in allowed
        ]
        if any(part.startswith("-") for part in name.split(":")):
            told.append(f"models: {name!r} is no model's name")
    return list(dict.fromkeys(told))


def server_arguments(model: str, base_url: str) -> dict[str, Any]:
    """Return how a server that is started for a model listens: on loopback, with a random key.

    Examples
    --------
    >>> server_arguments("openai/gpt-4o", ""), server_arguments("vllm/m", "")["host"]
    ({}, '127.0.0.1')
    """
    of = provider(model)
    if of not in _SERVERS or base_url or os.environ.get(f"{of.upper()}_BASE_URL"):
        return {}
    return {"host": "127.0.0.1", "api_key": secrets.token_urlsafe(32)}


def _variables(model: str) -> tuple[str, str]:
    """Return the environment variables of a provider's key and address."""
    of = model.split("/")[1] if provider(model) == "openai-api" else provider(model)
    name = of.upper().replace("-", "_")
    return f"{name}_API_KEY", f"{name}_BASE_URL"


def destination(model: str, base_url: str) -> str:
    """Say where a model's prompts go, and with which key; never the key.

    Examples
    --------
    >>> destination("hf/tiny", "")
    'hf/tiny: runs on this machine'
    >>> destination("openai/gpt-4o", "https://a.example/v1")
    'openai/gpt-4o: prompts, and the key in OPENAI_API_KEY, go to https://a.example/v1'
    """
    of = provider(model)
    key, variable = _variables(model)
    address = base_url or os.environ.get(variable, "")
    if of in _LOCAL or (of in _SERVERS and not address):
        return f"{model}: runs on this machine"
    return f"{model}: prompts, and the key in {key}, go to {address or 'the provider itself'}"


def check_addresses(models: Iterable[str], base_url: str, *, where: str) -> None:
    """Refuse an address that the user did not name outside the params file, or that is not safe.

    Raises
    ------
    ParameterError
        The address stands in the file alone; or a key would go over plain http to another machine.
    """
    named = {one.rstrip("/") for one in os.environ.get(BASE_URL, "").split()}
    told = []
    if base_url and base_url.rstrip("/") not in named:
        told.append(
            f"generate.base_url: nothing is sent to {base_url}, which is named by the params file "
            f"alone; if prompts and your key are to go there, add --base-url {base_url} "
            f"(or set {BASE_URL})"
        )
    for model in models:
        key, variable = _variables(model)
        address = base_url or os.environ.get(variable, "")
        if address and not _is_private(address):
            told.append(
                f"{model}: {address} is plain http on another machine, where anybody on the way "
                f"could read {key}; use https, or forward a port of this machine to it"
            )
    if told:
        raise ParameterError(where, list(dict.fromkeys(told)))


def _is_private(address: str) -> bool:
    """Tell whether what is sent to an address can be read by nobody else."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        return True
    host = parts.hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
