"""Audit a generation as it streams, end it when a bias is found, and estimate what that is worth.

Text is held back until it has been judged, sentence by sentence; each sentence is judged once, with
a little of what stands before it, so that the cost grows with the text and not with its square.

What a guard is worth the guard's own judge cannot say: whatever it finds it has already stopped,
and whatever it misses it misses twice. Labels come from people, or from another judge.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from nbbias import stats, tables
from nbbias.biasalert.detection import INFERENCE, STUDY, least_p
from nbbias.biasalert.detector import Detector, detector
from nbbias.biasalert.judges.panel import JudgePanel
from nbbias.stats import InferenceSettings
from nbbias.tables import DataError, ParameterError

Judge = Callable[..., pd.DataFrame]
Retrieve = Callable[[pd.DataFrame], pd.DataFrame | None]

NOTHING_FOUND, NOTHING_JUDGED = "no bias found", "nothing was judged"

#: Columns of a judgement that the record of a stop holds.
_NAMED = ("bias_type", "group", "attribute", "explanation", "evidence_ids")


class Guarded:
    """A stream under guard. Iterate over it (``for`` or ``async for``) for what is let through.

    Attributes
    ----------
    text : str
        What has been let through so far.
    record : dict
        `judge`; `stopped` (bool); `stopped_at` (the character before which it was ended; NaN if it
        was not); `reason`, `bias_type`, `group`, `attribute`, `explanation`, `evidence_ids` of the
        judgement that ended it; `withheld` (the text that was found biased); `characters` let
        through; of the sentences, the ones `judged` and `without_verdict`, and `unjudged` (the
        latter's characters that were let through). Where it was not ended, `reason` tells whether
        no bias was found or nothing was judged.
    """

    def __init__(
        self,
        stream: Iterable[str] | AsyncIterable[str],
        judge: Judge,
        retrieve: Retrieve | None,
        *,
        context: int,
        stop_without_verdict: bool,
    ) -> None:
        self._stream, self._judge, self._retrieve = stream, judge, retrieve
        self._context, self._stop_without_verdict = context, stop_without_verdict
        self._held = ""
        self._before: list[str] = []
        self.text = ""
        self.record: dict[str, Any] = {
            "judge": "",
            "stopped": False,
            "stopped_at": np.nan,
            "reason": NOTHING_JUDGED,
            **dict.fromkeys(_NAMED),
            "withheld": "",
            "characters": 0,
            "judged": 0,
            "without_verdict": 0,
            "unjudged": 0,
        }

    def __iter__(self) -> Iterator[str]:
        if not isinstance(self._stream, Iterable):
            raise TypeError("an asynchronous stream is gone through by 'async for'")
        try:
            for piece in self._stream:
                yield from self._pass(self._complete(piece))
                if self.record["stopped"]:
                    return
            yield from self._pass(split_sentences(self._held))
        finally:
            if hasattr(self._stream, "close"):  # ends the generation
                self._stream.close()

    async def __aiter__(self) -> AsyncIterator[str]:
        if not isinstance(self._stream, AsyncIterable):
            raise TypeError("a plain stream is gone through by 'for'")
        try:
            async for piece in self._stream:
                for sentence in self._pass(self._complete(piece)):
                    yield sentence
                if self.record["stopped"]:
                    return
            for sentence in self._pass(split_sentences(self._held)):
                yield sentence
        finally:
            if hasattr(self._stream, "aclose"):
                await self._stream.aclose()

    def _complete(self, piece: str) -> list[str]:
        """Take a piece of text; return the sentences that are now complete."""
        self._held += piece
        if len(self._held) <= LONGEST and not _END.search(self._held):
            return []
        *whole, self._held = split_sentences(self._held)
        return whole

    def _pass(self, sentences: list[str]) -> Iterator[str]:
        """Judge sentences one by one and give back those that may be let through."""
        for sentence in sentences:
            if re.search(r"\w", sentence):
                verdict = self._verdict(sentence)
                biased, record = verdict["biased"], self.record
                record["judged" if biased is not None else "without_verdict"] += 1
                if biased or (biased is None and self._stop_without_verdict):
                    record |= {"stopped": True, "stopped_at": len(self.text), "withheld": sentence}
                    record["reason"] = verdict.get("reason") or "a bias was found"
                    record |= {name: verdict.get(name) for name in _NAMED}
                    return
                record["unjudged"] += len(sentence) if biased is None else 0
                record["reason"] = self._reason(verdict)
            self.text += sentence
            self.record["characters"] = len(self.text)
            yield sentence

    def _reason(self, verdict: dict[str, Any]) -> str:
        """Return what is known of a text that was not stopped, after a sentence's verdict."""
        judged, lost = self.record["judged"], self.record["without_verdict"]
        if not judged:
            return f"{NOTHING_JUDGED}: {verdict.get('reason') or 'the judge gave no verdict'}"
        return (
            f"{NOTHING_FOUND}, and {lost} of {judged + lost} not judged" if lost else NOTHING_FOUND
        )

    def _verdict(self, sentence: str) -> dict[str, Any]:
        """Judge a sentence with what stands before it; a judge that fails gives no verdict."""
        self._before = [*self._before, sentence][-self._context - 1 :]
        texts = pd.DataFrame({"text_id": ["s"], "text": ["".join(self._before).strip()]})
        try:
            table = self._judge(texts, self._retrieve(texts) if self._retrieve else None)
            (verdict,) = table.to_dict("records")
        except Exception as error:  # whatever a judge raises, the stream is not lost by it
            reason = f"the judge failed: {type(error).__name__}: {error}"
            return {"biased": None, "reason": reason}
        verdict = {name: None if pd.isna(value) else value for name, value in verdict.items()}
        self.record["judge"] = verdict.get("judge") or self.record["judge"]
        biased = verdict.get("biased")
        return verdict | {"biased": None if biased is None else bool(biased)}


def guard(
    stream: Iterable[str] | AsyncIterable[str],
    judge: Judge | Detector | None = None,
    *,
    retrieve: Retrieve | None = None,
    context: int = 1,
    stop_without_verdict: bool = False,
) -> Guarded:
    """Audit a generation as it streams, and end it when a bias is found.

    Parameters
    ----------
    stream
        Pieces of text as they are generated: an iterator or an asynchronous one. A generator is
        closed when the guard ends it.
    judge
        ``judge(texts, evidence) -> JUDGEMENTS``, as every judge here; or a detector, which brings
        its evidence along; by default that of `biasalert.detector.detector`.
    retrieve
        Finds the evidence for a table of texts; without it the judge gets None.
    context
        Sentences before the one in question that the judge is shown with it, since "they" means
        whoever was named before.
    stop_without_verdict
        What happens where the judge refuses, fails or cannot be read: end the generation, or let
        the text through and count it as `unjudged`. The paper does not say.

    Returns
    -------
    Guarded
        Goes through what may be seen, and keeps the `record`.

    Examples
    --------
    >>> from nbbias.biasalert.judges import baselines
    >>> pieces = ["The train is late. ", "Women make good clerks. ", "So it goes."]
    >>> guarded = guard(pieces, lambda texts, evidence: baselines.keywords(texts))
    >>> "".join(guarded), guarded.record["stopped"], guarded.record["group"]
    ('The train is late.', True, 'women')
    """
    if context < 0:
        raise ParameterError("guard", f"context: must be 0 or more, but is {context}")
    used = detector() if judge is None else judge
    how: dict[str, Any] = {"context": context, "stop_without_verdict": stop_without_verdict}
    if isinstance(used, Detector):
        return Guarded(stream, used.judge, retrieve or used.retrieve, **how)
    return Guarded(stream, used, retrieve, **how)


def guard_texts(texts: pd.DataFrame, judge: Judge, **settings: Any) -> pd.DataFrame:
    """Put recorded generations under guard, as if each were streaming.

    Parameters
    ----------
    texts
        `text_id`, `text`; other columns pass through. A missing text is an empty stream.
    judge, **settings
        As in `guard`.

    Returns
    -------
    DataFrame
        `texts` with `let_through` and the columns of `Guarded.record`.
    """
    rows = []
    for text in texts["text"]:
        guarded = guard([text] if isinstance(text, str) else [], judge, **settings)
        rows.append({"let_through": "".join(guarded), **guarded.record})
    columns = ["let_through", *guard([], judge).record]
    records = pd.DataFrame(rows, columns=columns, index=texts.index)
    return texts.drop(columns=[name for name in columns if name in texts]).join(records)


#: Characters after which text without an end of a sentence is cut all the same.
LONGEST = 1000

#: Where a sentence may have ended: a mark and a gap, or a blank line. spaCy then tells.
_END = re.compile(r"[.!?…][\"'”’)\]]{0,4}\s+\S|[。！？]|\n\s*\n")


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences that together are the text; a gap belongs to what follows it.

    Examples
    --------
    >>> split_sentences("It rains. The train is late.")
    ['It rains.', ' The train is late.']
    """
    from nbbias.text.pipeline import load_pipeline  # loads spaCy

    ends = [sentence.end_char for sentence in load_pipeline()(text).sents]
    sentences = [text[start:end] for start, end in pairwise([0, *ends[:-1], len(text)])]
    return [s[at : at + LONGEST] for s in sentences for at in range(0, len(s), LONGEST)]


# --- what a guard is worth ----------------------------------------------------------------------

MEASURE = "mitigation"
_NEEDED = ["text_id", "model", "judge", "stopped", "biased_without", "biased_with"]


def estimates(
    guarded: pd.DataFrame, *, labelled_by: str, inference: InferenceSettings = INFERENCE
) -> pd.DataFrame:
    """Estimate the share of biased generations with and without a guard.

    Parameters
    ----------
    guarded
        One row per generation, such as `biasalert.guard.guard_texts` makes: `text_id`, `model`
        (who wrote), `judge` (the guard's; its `instrument` where it is known), `stopped`, and the
        labels `biased_without` (of the whole text) and `biased_with` (of what was let through). Of
        a text that was not stopped, or that was stopped before its first word (`characters` is 0),
        `biased_with` may be missing. With
        the guard's `judged` and `without_verdict`, a text that was let through without a verdict
        on any sentence is excluded: it was not guarded.
    labelled_by
        ``"people"``, or the name of the judge that labelled.
    inference
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES with `measure` mitigation, by `model`, with `judge` (the guard's) and `evaluator`
        (who labelled). `statistic`: ``biased_share_without`` and ``biased_share_with`` (Wilson),
        ``biased_share_difference`` (with minus without; below 0 the guard helps; exact McNemar
        test, Holm over the models; Tango's score interval for paired shares), ``stopped_share``
        (Wilson), and ``stopped_without_bias`` (share of the unbiased generations that the guard
        ended: its cost). Pairs without both labels are counted in `n_lost`.

    Raises
    ------
    DataError
        The labels are the guard's own judge's: that would be circular.
    ContractError
        A column is missing.
    """
    tables.require_columns(guarded, _NEEDED, where="guarded")
    # What stands behind a comma is a variant of a judge, not another one.
    judges = guarded["judge"].dropna().astype(str).str.split(",").str[0].str.strip().str.lower()
    if labelled_by.split(",")[0].strip().lower() in set(judges) - {""}:
        raise DataError(
            "guarded",
            f"labels by {labelled_by} would let the guard judge itself; have people label, or a "
            "judge on another model",
        )
    rows: list[dict[str, Any]] = []
    for model, table in guarded.groupby("model", sort=False):
        names = table["judge"].replace("", np.nan).dropna().astype(str).unique()
        key = {
            "model": str(model),
            "judge": ", ".join(names) or None,
            "instrument": table["instrument"].iloc[0] if "instrument" in table else "guard",
        }
        rows += [key | row for row in _rows(table, inference.confidence)]
    table = tables.estimates(
        rows, study=STUDY, measure=MEASURE, evaluator=labelled_by, confidence=inference.confidence
    )
    return stats.adjust(table, where={"statistic": "biased_share_difference"})


def _rows(table: pd.DataFrame, confidence: float) -> list[dict[str, Any]]:
    stopped = table["stopped"].astype(bool)
    before = table["biased_without"].astype("boolean")
    after = table["biased_with"].astype("boolean")
    after = after.where(stopped | after.notna(), before)
    if "characters" in table:  # nothing was said, so nothing biased was
        after = after.mask(stopped & (table["characters"] == 0) & after.isna(), False)
    unguarded = stopped & False
    if {"judged", "without_verdict"} <= set(table):
        unguarded = ~stopped & (table["judged"] == 0) & (table["without_verdict"] > 0)
    both = before.notna() & after.notna() & ~unguarded
    first, second = before[both].astype(bool), after[both].astype(bool)
    unbiased = both & ~before.fillna(True).astype(bool)
    shares = {
        "biased_share_without": first,
        "biased_share_with": second,
        "stopped_share": stopped[~unguarded],
        "stopped_without_bias": stopped[unbiased],
    }
    rows: list[dict[str, Any]] = [
        stats.share_interval(values, confidence=confidence).row()
        | {"statistic": name, "n_lost": len(table) - len(values)}
        for name, values in shares.items()
    ]
    paired = paired_shares(first, second, confidence=confidence)
    paired |= {"statistic": "biased_share_difference", "n_lost": int((~both).sum()), "null": 0.0}
    return [*rows[:2], paired, *rows[2:]]


def paired_shares(before: pd.Series, after: pd.Series, *, confidence: float) -> dict[str, Any]:
    """Compare two shares of the same units.

    Parameters
    ----------
    before, after
        Booleans of the same units, in the same order.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        `estimate` (share after minus share before), `n`, `ci_low`, `ci_high` (Tango 1998), and
        exact McNemar's `test`, `p_value`, `p_least`; or `reason` where there is no unit.

    Examples
    --------
    >>> row = paired_shares(pd.Series([True] * 5), pd.Series([False] * 5), confidence=0.95)
    >>> row["estimate"], row["p_value"]
    (-1.0, 0.0625)
    """
    n = len(before)
    row: dict[str, Any] = {"test": "McNemar (exact)", "estimate": np.nan, "n": n}
    if not n:
        return row | {"reason": "no unit has both labels"}
    more, less = int((after & ~before).sum()), int((before & ~after).sum())
    low, high = stats.tango_interval(more, less, n, confidence=confidence)
    row |= {"estimate": (more - less) / n, "ci_low": float(low), "ci_high": float(high)}
    p = binomtest(more, more + less).pvalue if more + less else 1.0
    return row | {"p_value": float(p), "p_least": least_p(more + less)}


def simulated(
    answers: pd.DataFrame,
    panel: JudgePanel,
    *,
    each: int = 12,
    inference: InferenceSettings = INFERENCE,
) -> pd.DataFrame:
    """Put simulated answers under guard, and estimate its worth by the simulated truth.

    Parameters
    ----------
    answers
        Of `biasalert.sample.answers`: the truth tells whether what was let through is biased.
    panel
        The judges; its `reader` is the guard's.
    each
        Answers per model, the first ones; every model answered the same prompts.
    inference
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES.
    """
    name = panel.reader
    few = answers.groupby("model").head(each)
    table = guard_texts(few, panel.judges[name], retrieve=panel.retrieve)
    held = [
        isinstance(sentence, str) and sentence in through
        for sentence, through in zip(table["stereotype"], table["let_through"], strict=True)
    ]
    table = table.assign(
        biased_without=table["planted"], biased_with=held, instrument=panel.instruments[name]
    )
    return estimates(table, labelled_by="simulated truth", inference=inference)
