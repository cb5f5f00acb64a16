"""How prompts are worded: templates, what fills them, and the ideologies of biased prompts."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from nbbias.tables import read_shipped_yaml

#: The kinds of prompts that belong to no single study.
KINDS = ("news", "table")

_SLOT = re.compile(r"\{(\w+)\}")


def load_wording() -> dict[str, Any]:
    """Return the templates of news prompts and the ideologies, as shipped, with their sources."""
    return read_shipped_yaml("news_prompts.yaml")


def load_ideologies() -> pd.DataFrame:
    """Return the ideologies of biased prompts.

    Returns
    -------
    DataFrame
        `name`, `bias`, `against` (the group placed below others; ``"none"`` for a control),
        `prompt` (the tables' word for it) and `source` (the paper, or this project).
    """
    return pd.DataFrame(load_wording()["ideologies"])


def fill_template(template: str, **values: object) -> str:
    """Fill a template's slots, each once: braces inside a value stay as they are.

    Examples
    --------
    >>> fill_template("On {headline}: {other}", headline="{other}")
    'On {other}: {other}'
    """
    return _SLOT.sub(lambda slot: str(values.get(slot[1], slot[0])), template)
