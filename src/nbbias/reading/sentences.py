"""From table rows to sentences and printed tables. Numbers are never typed by hand."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from great_tables import GT, html, loc, style
from IPython.display import HTML, Markdown

from nbbias.tables import visible

_ROWS_AT_ONCE = 30
_SHORT = 30  # characters that stay on one line
_THEME = (
    "background: var(--jp-layout-color0, #fff); color: var(--jp-content-font-color1, #333); "
    "border-color: var(--jp-border-color2, #d3d3d3);"
)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|$~&.:@-])")


def escape(text: object) -> str:
    """Make any text show as itself in Markdown: names come from corpora, not from us.

    Dollar signs and backslashes stand in elements of their own: JupyterLab would read what lies
    between two of them as mathematics, escaped or not.
    """
    return _MARKDOWN.sub(_escaped, visible(" ".join(str(text).split())))


def _escaped(found: re.Match[str]) -> str:
    escaped = f"\\{found[0]}"
    return f"<span>{escaped}</span>" if found[0] in "$\\" else escaped


def number(value: float, *, decimals: int = 2) -> str:
    """Write a number with a true minus sign; a value that was not measured says so."""
    if not np.isfinite(value):
        return "not measured"
    # Adding 0 takes the sign from a rounded zero.
    return f"{round(value, decimals) + 0:.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def _p_in_table(p: float) -> str:
    return "<\N{NO-BREAK SPACE}.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def p_value(p: float) -> str:
    """Write a p value as APA does: three decimals, no leading zero, never 0."""
    if not np.isfinite(p):
        return "p not computed"
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)


def interval(row: Mapping[str, Any], *, confidence: float, decimals: int = 2) -> str:
    """Write an estimate's interval, or why it has none."""
    if not np.isfinite(row["ci_low"]):
        return f"no interval: {row['reason']}" if isinstance(row["reason"], str) else "no interval"
    low, high = number(row["ci_low"], decimals=decimals), number(row["ci_high"], decimals=decimals)
    return f"{confidence:.0%} CI {low} to {high}"


def estimate_sentence(
    row: Mapping[str, Any], *, subject: str, unit: str, null: str, confidence: float
) -> str:
    """Write one row of ESTIMATES as a Markdown sentence.

    Parameters
    ----------
    row
        A row of ESTIMATES, as a mapping.
    subject
        What is estimated, with the verb, such as ``"The index of gpt-4 is"``.
    unit
        What `n` counts, such as ``"prompts"``.
    null
        What stands for chance, such as ``"neutral prose of the same length"``.
    confidence
        Level of the interval and of the range of the null.
    """
    if not np.isfinite(row["estimate"]):
        return f"{subject} not measured: {row['reason']} (N = {row['n']:.0f} {unit})."
    parts = [f"{confidence:.0%} CI", f"N = {row['n']:.0f} {unit}"]
    parts[0] = interval(row, confidence=confidence)
    if row["n_lost"]:
        parts.append(f"{row['n_lost']:.0f} lost")
    parts.append(escape(row["instrument"]))
    text = f"{subject} **{number(row['estimate'])}** ({'; '.join(parts)})."
    if np.isfinite(row["null_low"]):
        low, high = number(row["null_low"]), number(row["null_high"])
        expected = number(row["null"])
        text += (
            f" {null} gives {expected}, and {confidence:.0%} of its means lie in {low} to {high}."
        )
    return text


def difference_sentence(row: Mapping[str, Any], *, unit: str, confidence: float) -> str:
    """Write a paired difference between two models as a Markdown sentence."""
    model, other = escape(row["model"]), escape(row["group"])
    if not np.isfinite(row["estimate"]):
        return f"{model} and {other} were not compared: {row['reason']}."
    if row["estimate"] == 0:
        return f"{model} and {other} score alike on the same {unit} (N = {row['n']:.0f})."
    direction = "higher" if row["estimate"] > 0 else "lower"
    test = ""
    if np.isfinite(row["p_value"]):
        test = (
            f"; *t*({row['df']:.0f}) = {number(row['statistic_value'])}, "
            f"{p_value(row['p_adjusted'])} (Holm), *d* = {number(row['effect_size'])}"
        )
    return (
        f"{model} scores {number(abs(row['estimate']))} {direction} than {other} on the same "
        f"{unit} (difference {number(row['estimate'])}, {interval(row, confidence=confidence)}; "
        f"N = {row['n']:.0f}{test})."
    )


def estimate_sentences(
    estimates: pd.DataFrame, *, statistic: str, subject: str, unit: str, null: str,
    confidence: float,
) -> list[str]:  # fmt: skip
    """Write every row of one statistic; `subject` may name columns, as in ``"{model}"``."""
    rows = estimates[estimates["statistic"] == statistic].to_dict("records")
    return [
        estimate_sentence(
            row, subject=subject.format_map({k: escape(v) for k, v in row.items()}),
            unit=unit, null=null, confidence=confidence,
        )
        for row in rows
    ]  # fmt: skip


def difference_sentences(estimates: pd.DataFrame, *, unit: str, confidence: float) -> list[str]:
    """Write every difference between two models."""
    rows = estimates[estimates["statistic"] == "difference"].to_dict("records")
    return [difference_sentence(row, unit=unit, confidence=confidence) for row in rows]


def anova_sentences(estimates: pd.DataFrame) -> list[str]:
    """Write every analysis of variance as APA does."""
    sentences = []
    for row in estimates[estimates["statistic"] == "anova"].to_dict("records"):
        model = escape(row["model"])
        if not np.isfinite(row["statistic_value"]):
            sentences.append(f"{model}: no analysis of variance: {row['reason']}.")
            continue
        value = number(row["statistic_value"])
        sentences.append(
            f"{model}: *F* = {value} with {row['df']:.0f} degrees of freedom within dimensions, "
            f"{p_value(row['p_value'])}, ω² = {number(row['effect_size'])} "
            f"(N = {row['n']:.0f} prompts)."
        )
    return sentences


def printed_sentences(beside: pd.DataFrame, *, paper: str, printed_model: str) -> list[str]:
    """Say how far our values are from printed ones, and whether that is a replication."""
    sentences = []
    for model, rows in beside.groupby("model", sort=False):
        both = rows.dropna(subset=["ours", "printed"])
        if both.empty:
            sentences.append(f"{escape(model)}: {paper} prints none of these prompts.")
            continue
        largest = both["difference"].abs().max()
        how = (
            "the model that the paper names"
            if str(model) == printed_model
            else f"another writer than the paper's {printed_model}: no replication"
        )
        sentences.append(
            f"{escape(model)} ({how}): over {len(both)} prompts the largest difference from "
            f"{paper} is {largest:.5f}."
        )
    return sentences


def say(sentences: str | Iterable[str]) -> Markdown:
    """Show sentences; several become a list."""
    if isinstance(sentences, str):
        return Markdown(sentences)
    return Markdown("\n".join(f"- {sentence}" for sentence in sentences))


def show(
    table: pd.DataFrame,
    *,
    title: str,
    note: str | None = None,
    decimals: int = 3,
    labels: Mapping[str, str] | None = None,
    gap: str = "not measured",
) -> HTML:
    """Show a table: numbers aligned and rounded, gaps written out, every text escaped.

    Parameters
    ----------
    table
        The rows and columns to show, in order.
    title
        What the table says.
    note
        A line under the table: units, N, direction, what is missing.
    decimals
        Decimals of the fractional columns; whole numbers keep none.
    labels
        Column → heading; other columns show their name with spaces.
    gap
        What stands for a missing number.
    """
    plain = _seen(table.reset_index(drop=True))
    named = {name: visible((labels or {}).get(name, str(name).replace("_", " "))) for name in plain}
    # A name made from the content: the same table gets the same HTML in every run.
    digest = hashlib.sha256((title + plain.to_csv(index=False)).encode()).hexdigest()[:10]
    printed = GT(plain, id=f"t{digest}").tab_header(title=visible(title)).cols_label(**named)
    numeric = plain.select_dtypes("number")
    whole = [name for name in numeric if (numeric[name].dropna() % 1 == 0).all()]
    p_values = [name for name in numeric if str(name).startswith("p_")]
    whole = [name for name in whole if name not in p_values]
    fractional = [name for name in numeric if name not in {*whole, *p_values}]
    if p_values:
        printed = printed.fmt(_p_in_table, columns=p_values)
    if fractional:
        printed = printed.fmt_number(columns=fractional, decimals=decimals)
    if whole:
        printed = printed.fmt_integer(columns=whole)
    texts = [name for name in plain.columns if name not in numeric]
    for names, missing in ((list(numeric), gap), (texts, "")):
        if names:
            printed = printed.sub_missing(columns=names, missing_text=missing)
    printed = printed.tab_options(
        table_font_size="13px", heading_align="left", heading_title_font_size="14px",
        data_row_padding="4px", table_width="auto", table_margin_left="0",
        # Colours of JupyterLab's theme, where there is one; it paints rows itself else.
        table_additional_css=[f"#t{digest} table.gt_table :is(tr, th, td) {{ {_THEME} }}"],
    )  # fmt: skip
    short = [
        name for name in plain.columns.difference(numeric.columns)
        if plain[name].dropna().astype(str).str.len().max() <= _SHORT
    ]  # fmt: skip
    wordy = list(plain.columns.difference([*numeric.columns, *short]))
    if wordy:
        printed = printed.tab_style(style.css("min-width: 14em"), loc.body(columns=wordy))
    if short:
        printed = printed.tab_style(style.css("white-space: nowrap"), loc.body(columns=short))
    if note:
        printed = printed.tab_source_note(html(_escape_html(note)))
    scroll = "overflow:auto;max-height:32rem" if len(plain) > _ROWS_AT_ONCE else "overflow-x:auto"
    # No program that typesets mathematics looks into it.
    return HTML(
        f'<div class="tex2jax_ignore mathjax_ignore" style="{scroll}" tabindex="0">'
        f"{printed.as_raw_html()}</div>"
    )


def _seen(table: pd.DataFrame) -> pd.DataFrame:
    """Write out in every text what is not seen."""
    texts = table.select_dtypes(["object", "str", "category"]).columns
    shown = {
        name: table[name].astype(object).map(lambda v: visible(v) if isinstance(v, str) else v)
        for name in texts
    }
    return table.assign(**shown)


def _escape_html(text: str) -> str:
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
