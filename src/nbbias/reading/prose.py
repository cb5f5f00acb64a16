"""Sentences of pages: templates of ``data/prose`` filled with values, and the words for numbers.

A template file has one topic and holds macros, such as ``claims.j2`` with ``clause``. What they
write is Markdown in which every value is escaped: names and texts come from files and models.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from IPython.display import Markdown
from markupsafe import Markup

from nbbias import stats
from nbbias.tables import CONFIDENCE, data_path
from nbbias.tables.escape import markdown as escape, without_markdown


def render(name: str, /, **values: Any) -> str:
    r"""Fill a macro of a template file and return Markdown on one line.

    Parameters
    ----------
    name
        The file and the macro, such as ``"claims.clause"``.
    **values
        The macro's arguments.

    Examples
    --------
    >>> render("claims.count", k=1, n=3, kind="models", names=["gpt_4"])
    'in one of three models (gpt\\_4)'
    """
    file, macro = name.split(".")
    text = getattr(_environment().get_template(f"{file}.j2").module, macro)(**values)
    return _LOOSE.sub("", " ".join(str(text).split()))


#: Spaces that lines of a template leave before punctuation; that of names is escaped.
_LOOSE = re.compile(r" (?=[;,:)]|\.(?!\d))|(?<=\() ")


def render_plain(name: str, /, **values: Any) -> str:
    """Fill a macro for a figure's words, which are text and not Markdown; see `render`.

    Examples
    --------
    >>> render_plain("claims.count", k=1, n=3, kind="models", names=["gpt_4"])
    'in one of three models (gpt_4)'
    """
    return without_markdown(render(name, **values))


#: Numbers that a sentence spells out.
_SPELLED = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


@cache
def _environment() -> jinja2.Environment:
    form: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "autoescape": True}
    form |= {"loader": jinja2.FileSystemLoader(data_path("prose")), "finalize": _escape}
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, **form)
    filters: dict[str, Callable[..., Any]] = {
        "listed": lambda parts, most=3, last="and": Markup(
            listed([_escape(part) for part in parts], most=most, last=last)
        ),
        "number": lambda value, decimals=2: Markup(number(value, decimals=decimals)),
        "count": lambda n: Markup(f"{n:,.0f}"),
        "spelled": lambda n: Markup(_SPELLED[n] if n < len(_SPELLED) else f"{n:,.0f}"),
        "percent": lambda share: Markup(f"{share:.0%}"),
        "level": lambda confidence: Markup(f"{100 * confidence:.4g}%"),
        "p_value": lambda row: Markup(p_value(row)),
        "interval": lambda row, *form: Markup(interval(row, *form)),
        "capitalized": lambda text: Markup(capitalize(_escape(text))),
    }
    environment.filters |= filters
    return environment


def _escape(value: Any) -> Any:
    """Escape a text for Markdown; what a template wrote, and numbers, stay as they are."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    first, last = (" " if end.isspace() else "" for end in (value[:1], value[1:][-1:]))
    return Markup(first + escape(value) + last)


# --- words ------------------------------------------------------------------------------------


def listed(parts: Sequence[str], *, most: int = 3, last: str = "and") -> str:
    """Join parts by commas and "and"; those beyond `most` are counted.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    if len(parts) > most:
        parts = [*parts[:most], f"{len(parts) - most} more"]
    return ", ".join(parts[:-1]) + (f" {last} " if len(parts) > 1 else "") + "".join(parts[-1:])


def capitalize(text: str) -> str:
    """Begin a sentence with a capital, and leave its other letters as they are.

    Examples
    --------
    >>> capitalize("share of BOLD")
    'Share of BOLD'
    """
    return text[:1].upper() + text[1:]


# --- numbers ----------------------------------------------------------------------------------


def number(value: float, *, decimals: int = 2) -> str:
    """Write a number with a true minus sign; a missing value is "not measured".

    Parameters
    ----------
    value
        The number; NaN is "not measured".
    decimals
        Number of decimals.

    Examples
    --------
    >>> number(-0.1234), number(1200, decimals=0), number(float("nan"))
    ('−0.12', '1,200', 'not measured')
    >>> number(-0.001), number(0)
    ('0.00', '0.00')
    """
    if not np.isfinite(value):
        return "not measured"
    return f"{value:z,.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def p_value(p: float | Mapping[str, Any], of: str = "p_adjusted", *, is_bound: bool = False) -> str:
    """Write a p value as APA does: three decimals, no leading zero, never 0.

    Of a row of ESTIMATES it is that of the column `of`. Where a permutation test gave the smallest
    p value that it can give, p is at most that. A bound is rounded upwards. Where three decimals
    would hide that p is below the level of significance, there are four.

    Parameters
    ----------
    p
        A p value, or a row of ESTIMATES.
    of
        The column of the row.
    is_bound
        Whether p is an upper bound.

    Examples
    --------
    >>> p_value(0.0312), p_value(0), p_value(0.000999), p_value(0.001)
    ('p = .031', 'p < .001', 'p < .001', 'p = .001')
    >>> p_value(1.0), p_value(float("nan"))
    ('p = 1.000', 'p not computed')
    >>> row = {"p_value": 1 / 1001, "p_least": 1 / 1001, "p_adjusted": 6 / 1001}
    >>> p_value(row), p_value(row, "p_value"), p_value({**row, "p_value": 2 / 1001})
    ('p ≤ .006', 'p < .001', 'p = .006')
    >>> p_value(0.00125, is_bound=True)
    'p ≤ .002'
    >>> p_value(0.04966), p_value({"p_value": 0.0098, "p_adjusted": 0.0098, "confidence": 0.99})
    ('p = .0497', 'p = .0098')
    """
    alpha = stats.alpha(CONFIDENCE)
    if isinstance(p, Mapping):
        alpha = stats.alpha(p.get("confidence", CONFIDENCE))
        is_exact = re.search("exact|sign test", str(p.get("test")))
        is_bound |= bool(p["p_value"] <= p.get("p_least", np.nan) * (1 + 1e-9)) and not is_exact
        p = float(p[of])
    if not np.isfinite(p):
        return "p not computed"
    if p < 0.001:
        return "p < .001"
    is_bound &= p < 1
    p = np.ceil(1000 * p - 1e-9) / 1000 if is_bound else p
    sign = "\N{LESS-THAN OR EQUAL TO}" if is_bound else "="
    digits = f"{p:.4f}" if p < round(alpha, 9) <= round(p, 3) else f"{p:.3f}"
    return f"p {sign} {digits}".replace("0.", ".", 1)


def interval(row: Mapping[str, Any], decimals: int = 2, form: str = "{} to {}") -> str:
    """Write an estimate's interval, or why it has none, as Markdown.

    Its level is the row's `confidence`; of a significant claim it is adjusted for selection.

    Parameters
    ----------
    row
        A row of ESTIMATES.
    decimals
        Number of decimals.
    form
        How the lower and the upper end are joined.

    Examples
    --------
    >>> row = {"ci_low": -0.125, "ci_high": 1.0, "confidence": 0.9, "reason": "one text"}
    >>> interval(row), interval(row, decimals=3)
    ('90% CI −0.12 to 1.00', '90% CI −0.125 to 1.000')
    >>> interval({**row, "ci_low": float("nan")})
    'no interval: one text'
    >>> interval({**row, "ci_low": float("nan"), "reason": None})
    'no interval'
    """
    *ends, level = confidence_interval(row)
    if not np.isfinite(ends[0]):
        reason = row["reason"]
        return f"no interval: {escape(reason)}" if isinstance(reason, str) else "no interval"
    low, high = (number(end, decimals=decimals) for end in ends)
    return f"{level} {form.format(low, high)}"


def confidence_interval(row: Mapping[str, Any]) -> tuple[float, float, str]:
    """Return the ends of an interval and its name; adjusted for selection where the row was.

    Examples
    --------
    >>> row = {"ci_low": 0.1, "ci_high": 0.3, "confidence": 0.95}
    >>> confidence_interval(row | {"ci_low_selected": 0.0, "ci_high_selected": 0.4})
    (0.0, 0.4, 'selection-adjusted 95% CI')
    """
    level = f"{100 * row['confidence']:.4g}% CI"
    if np.isfinite(row.get("ci_low_selected", np.nan)):
        return row["ci_low_selected"], row["ci_high_selected"], f"selection-adjusted {level}"
    return row["ci_low"], row["ci_high"], level


def level(rows: pd.DataFrame) -> str:
    """Write the level of confidence that rows have; empty where they have several, or none.

    Examples
    --------
    >>> level(pd.DataFrame({"confidence": [0.95, 0.95, None]}))
    '95%'
    """
    levels = rows["confidence"].dropna().unique() if "confidence" in rows else []
    return f"{100 * levels[0]:.4g}%" if len(levels) == 1 else ""


def count_range(counts: pd.Series) -> str:
    """Write the range of some numbers of units; empty where there is none.

    Examples
    --------
    >>> count_range(pd.Series([1200, 9])), count_range(pd.Series([9, 9]))
    ('9 to 1,200', '9')
    """
    ends = [f"{count:,.0f}" for count in (counts.min(), counts.max()) if np.isfinite(count)]
    return " to ".join(dict.fromkeys(ends))


def round_up(n: float) -> int:
    """Round a number of units up to two significant digits.

    Examples
    --------
    >>> round_up(71), round_up(1234)
    (71, 1300)
    """
    step = 10 ** max(len(str(math.ceil(n))) - 2, 0)
    return math.ceil(n / step) * step


# --- on a page --------------------------------------------------------------------------------


def say(
    sentences: str | Iterable[str], *, most: int | None = None, summary: str = "{} more"
) -> Markdown:
    """Show sentences; several become a list, of which those beyond `most` fold under `summary`.

    Examples
    --------
    >>> print(say(["One.", "Two."]).data)
    - One.
    - Two.
    >>> "<summary>1 more</summary>" in say(["One.", "Two."], most=1).data
    True
    """
    if isinstance(sentences, str):
        return Markdown(sentences)
    items = [f"- {sentence}" for sentence in sentences]
    rest = items[most:] if most is not None else []
    head = f"<details><summary>{summary.format(len(rest))}</summary>"
    folded = ["", head, "", *rest, "", "</details>"] if rest else []
    return Markdown("\n".join([*items[:most], *folded]))
