"""Keys of model providers: refused in params, taken out of whatever is written or shown.

A key belongs in the environment (``OPENAI_API_KEY``) or in a provider's own file. Params files
are shared, pages are published, stores are copied; none of them may hold one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from nbbias.params.values import walk

#: What stands where a key stood.
REDACTED = "[redacted]"

#: Where a key belongs, for messages.
ADVICE = (
    "keys never stand in params: set the provider's environment variable instead, such as "
    "OPENAI_API_KEY or ANTHROPIC_API_KEY"
)

_NAMES = re.compile(
    r"api_?key|(access|auth|bearer|hf|secret|session)_?token|^token$|secret|passw(or)?d|^pwd$"
    r"|authori[sz]ation|^(extra_|default_)?headers?$|credential|^bearer$|^cookies?$"
)
_SHAPES = re.compile(
    r"""(?x)
    \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}           # OpenAI, Anthropic and many after them
    | \b(?:hf|gsk|xai|r8|ghp|gho|github_pat|glpat|pplx|nvapi|fw|tgp_v1)[_-][A-Za-z0-9_-]{16,}
    | \bAIza[A-Za-z0-9_-]{30,}                  # Google
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b             # Amazon
    | (?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*   # signed token
    | (?i:\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,})
    """
)
_IN_URL = re.compile(r"(?<=://)[^\s/@?#]+@")
_IN_QUERY = re.compile(
    r"(?i)(?<=[?&])((?:api[_-]?)?key|access_token|token|secret|sig(?:nature)?|password)=[^\s&#]+"
)
_COMMIT = r"(?!(?:[0-9a-f]{40}|[0-9a-f]{64})$)"  # a revision of a model is no key
_BARE = re.compile(_COMMIT + r"(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{32,}")
_HOLDS_A_KEY = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)(_ID)?$")
_SHORTEST = 8


def key_breaches(values: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each parameter that is a key, or looks like one; never the key.

    Refused are names that ask for a key (``api_key``, ``headers``, ``password``), values in the
    shape of one, and addresses with a user, a password or a key in them. A long run of letters
    and digits is refused only where it stands alone, so paths and model names pass.
    """
    breaches, secrets = [], _secrets()

    def check(name: str, value: Any, _: Any) -> None:
        parts = [part.lower().replace("-", "_") for part in name.split(".")]
        text = value if isinstance(value, str) else ""
        is_key = _SHAPES.search(text) or _BARE.fullmatch(text.strip())
        if any(_NAMES.search(part) for part in parts):
            breaches.append(f"{redact(name)}: {ADVICE}")
        elif _IN_URL.search(text) or _IN_QUERY.search(text):
            breaches.append(f"{redact(name)}: the address holds a user, password or key; {ADVICE}")
        elif is_key or any(secret in text for secret in secrets):
            breaches.append(f"{redact(name)}: the value looks like a key; {ADVICE}")

    walk(values, check)
    return breaches


def _secrets() -> list[str]:
    """Return the values of environment variables that hold keys, the longest first."""
    secrets = {
        value
        for name, value in os.environ.items()
        if _HOLDS_A_KEY.search(name.upper()) and len(value) >= _SHORTEST
    }
    return sorted(secrets, key=len, reverse=True)


def redact_known(text: str) -> str:
    """Take out of a text the keys that the environment holds, and nothing else."""
    for secret in _secrets():
        text = text.replace(secret, REDACTED)
    return text


def redact(text: str) -> str:
    """Take out of a message every key: those of the environment, and all that looks like one."""
    text = redact_known(text)
    text = _IN_URL.sub(f"{REDACTED}@", text)
    text = _IN_QUERY.sub(lambda match: f"{match[1]}={REDACTED}", text)
    return _SHAPES.sub(REDACTED, text)
