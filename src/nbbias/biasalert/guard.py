"""Classify a generation as it streams, stop it at a biased sentence, and estimate the effect.

Text is held back until it has been judged, sentence by sentence; each sentence is judged once, with
the sentence before it, so the cost is linear in the length of the text.

The guard's own judge cannot measure the guard's effect: it would miss the same sentences again.
Labels come from people, or from another judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pandas as pd

from nbbias import stats
from nbbias.biasalert.detection import tabulate
from nbbias.biasalert.detector import Detector, Retrieve, load_detector
from nbbias.biasalert.judges.panel import JudgePanel
from nbbias.tables import DataError

Judge = Callable[..., pd.DataFrame]
#: Columns of a judgement that the record of a stop holds.
_NAMED = ("bias_type", "group", "attribute", "explanation", "evidence_ids")

#: The record of a stream that was not stopped.
_RECORD = {"judge": "", "stopped": False, "reason": None, **dict.fromkeys(_NAMED)}
_RECORD |= {"withheld": "", "judged": 0, "without_verdict": 0}

#: Characters after which text without an end of a sentence is cut all the same.
LONGEST = 1000

#: Where a sentence may have ended: a mark and a gap, or a blank line. spaCy then tells.
_END = re.compile(r"[.!?…][\"'”’)\]]{0,4}\s+\S|[。！？]|\n\s*\n")


@dataclass
class Guarded:
    """A guarded stream; iterate over it for the sentences that pass.

    Attributes
    ----------
    stream, judge, retrieve
        As in `guard`.
    text : str
        What has been let through so far.
    record : dict
        `judge`; `stopped` (bool); `bias_type`, `group`, `attribute`, `explanation`, `evidence_ids`
        of the judgement that ended the stream; `withheld` (the text that was found biased); of the
        sentences, the ones `judged` and `without_verdict`; and `reason`, why it was ended, or why
        the last sentence without a verdict has none.
    """

    stream: Iterable[str]
    judge: Judge
    retrieve: Retrieve | None = None
    text: str = ""
    record: dict[str, Any] = field(default_factory=_RECORD.copy)

    def __iter__(self) -> Iterator[str]:
        try:
            for sentence, shown in _with_context(self.stream):
                if shown and self._stops(sentence, shown):
                    return
                self.text += sentence
                yield sentence
        finally:
            if hasattr(self.stream, "close"):  # ends the generation
                self.stream.close()

    def _stops(self, sentence: str, shown: str) -> bool:
        """Judge a sentence with the one before it; record it, tell whether it ends the stream.

        A judge that fails gives no verdict.
        """
        record, texts = self.record, pd.DataFrame({"text_id": ["s"], "text": [shown]})
        try:
            table = self.judge(texts, self.retrieve(texts) if self.retrieve else None)
            (verdict,) = table.to_dict("records")
            verdict = {name: None if pd.isna(value) else value for name, value in verdict.items()}
        except Exception as error:  # whatever a judge raises, the stream is not lost by it
            verdict = {"reason": f"the judge failed: {type(error).__name__}: {error}"}
        record["judge"] = verdict.get("judge") or record["judge"]
        if (biased := verdict.get("biased")) is None:
            record["without_verdict"] += 1
            record["reason"] = verdict.get("reason") or "the judge gave no verdict"
            return False
        record["judged"] += 1
        if biased:
            record |= {"stopped": True, "withheld": sentence}
            record |= {name: verdict.get(name) for name in _NAMED}
            record["reason"] = verdict.get("reason") or "a bias was found"
        return bool(biased)


def _with_context(stream: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield complete sentences, and each with the one before it; no words: nothing to show.

    "They" may refer to a group that the sentence before names.
    """
    before = ""
    for sentence in _complete_sentences(stream):
        has_words = re.search(r"\w", sentence)
        yield sentence, (before + sentence).strip() if has_words else ""
        before = sentence if has_words else before


def _complete_sentences(stream: Iterable[str]) -> Iterator[str]:
    """Yield sentences as soon as they are complete."""
    held = ""
    for piece in stream:
        held += piece
        if len(held) > LONGEST or _END.search(held):
            *whole, held = split_sentences(held)
            yield from whole
    yield from split_sentences(held)


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


def guard(
    stream: Iterable[str],
    judge: Judge | Detector | None = None,
    *,
    retrieve: Retrieve | None = None,
) -> Guarded:
    """Classify a stream sentence by sentence, and stop it at the first biased one.

    Parameters
    ----------
    stream
        Pieces of text as they are generated. A generator is closed when the guard ends it.
    judge
        ``judge(texts, evidence) -> JUDGEMENTS``, as every judge here; or a detector, which brings
        its evidence along; by default that of `biasalert.detector.load_detector`.
    retrieve
        Finds the evidence for a table of texts; without it the judge gets None.

    Returns
    -------
    Guarded
        Goes through what may be seen, and keeps the `record`.

    Examples
    --------
    >>> from nbbias.biasalert.judges import baselines
    >>> pieces = ["The train is late. ", "Women make good clerks. ", "So it goes."]
    >>> guarded = guard(pieces, baselines.keywords)
    >>> "".join(guarded), guarded.record["stopped"], guarded.record["group"]
    ('The train is late.', True, 'women')
    """
    used = load_detector() if judge is None else judge
    if isinstance(used, Detector):
        retrieve = retrieve or used.retrieve
        used = used.judge
    return Guarded(stream, used, retrieve)


def guard_texts(
    texts: pd.DataFrame, judge: Judge, *, retrieve: Retrieve | None = None
) -> pd.DataFrame:
    """Apply `guard` to recorded texts, as if each were streaming.

    Parameters
    ----------
    texts
        `text_id`, `text`; other columns pass through. A missing text is an empty stream.
    judge, retrieve
        As in `guard`. All sentences are judged at once, which is quicker than one by one.

    Returns
    -------
    DataFrame
        `texts` with `let_through` and the columns of `Guarded.record`.
    """
    streams = [[text] if isinstance(text, str) else [] for text in texts["text"]]
    shown = {words for stream in streams for _, words in _with_context(stream) if words}
    asked = pd.DataFrame({"text": sorted(shown)}).rename_axis("text_id").reset_index().astype("str")
    verdicts = judge(asked, retrieve(asked) if retrieve else None).set_index(asked["text"])
    guarded = [
        Guarded(stream, lambda sentence, _: verdicts.loc[sentence["text"]]) for stream in streams
    ]
    rows = [{"let_through": "".join(answer), **answer.record} for answer in guarded]
    columns = ["let_through", *_RECORD]
    records = pd.DataFrame(rows, columns=columns, index=texts.index)
    return texts.drop(columns=columns, errors="ignore").join(records)


# --- what a guard is worth ----------------------------------------------------------------------


def estimates(
    guarded: pd.DataFrame, *, labelled_by: str, confidence: float = stats.CONFIDENCE
) -> pd.DataFrame:
    """Estimate the share of biased generations with and without a guard.

    Parameters
    ----------
    guarded
        One row per generation, as `guard_texts` makes: `model` (who wrote), `judge` (the guard's)
        and its `instrument`, `stopped`, `judged`, `without_verdict`, and the labels
        `biased_without` (of the whole text) and `biased_with` (of what was let through; where it
        was not stopped, that of the whole). A text that was let through without a verdict on any
        sentence is excluded: it was not guarded.
    labelled_by
        Who labelled: not the guard's own judge, which would judge itself.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES with `measure` mitigation, by `model`, with `judge` (the guard's) and `evaluator`
        (who labelled), all with Wilson's interval. `statistic`: ``biased_share_without`` and
        ``biased_share_with``, ``stopped_with_bias`` (share of the biased generations that the guard
        ended before the bias was shown), ``stopped_share``, and ``stopped_without_bias`` (share of
        the unbiased generations that the guard ended: its cost). No test: a guard that only stops
        answers cannot add bias. Pairs without both labels are counted in `n_lost`; where nothing
        that was let through of a stopped text is labelled, the share with the guard and
        ``stopped_with_bias`` are missing.

    Raises
    ------
    DataError
        The labels are the guard's own judge's: that would be circular.
    """
    # What stands behind a comma is a variant of a judge, not another one.
    judges = guarded["judge"].str.partition(",")[0].str.strip().str.lower()
    if judges.eq(labelled_by.partition(",")[0].strip().lower()).any():
        hint = "have people label, or a judge on another model"
        raise DataError("guarded", f"labels by {labelled_by} let the guard judge itself; {hint}")
    rows: list[dict[str, Any]] = []
    for (model, instrument), table in guarded.groupby(["model", "instrument"], sort=False):
        # Where no sentence was judged it is empty.
        key = {"model": model, "judge": table["judge"].max() or None, "instrument": instrument}
        rows += [key | row for row in _rows(table, confidence)]
    return tabulate(rows, measure="mitigation", evaluator=labelled_by, confidence=confidence)


def _rows(table: pd.DataFrame, confidence: float) -> Iterator[dict[str, Any]]:
    stopped = table["stopped"].astype(bool)
    guarded = stopped | (table["judged"] > 0) | (table["without_verdict"] == 0)
    before, after = (table[f"biased_{side}"].astype("boolean") for side in ("without", "with"))
    after = after.where(stopped, before)
    labelled = before.notna() & guarded
    both = labelled & after.notna()
    if unknown := stopped.any() and after[stopped].isna().all():
        both &= False  # the others alone would make the guard look perfect
    first, second = before[both].astype(bool), after[both].astype(bool)
    shares = {
        "biased_share_without": before[labelled].astype(bool) if unknown else first,
        "biased_share_with": second,
        "stopped_with_bias": ~second[first],
        "stopped_share": stopped[guarded],
        "stopped_without_bias": stopped[labelled & ~before.fillna(True).astype(bool)],
    }
    excluded = {"stopped_with_bias": ~both, "stopped_without_bias": ~labelled}
    for name, values in shares.items():
        row = stats.share_interval(values, confidence=confidence).row()
        n_lost = excluded[name].sum() if name in excluded else len(table) - len(values)
        yield row | {"statistic": name, "n_lost": int(n_lost)}


def measure(
    answers: pd.DataFrame,
    panel: JudgePanel,
    labels: pd.DataFrame,
    *,
    judge: str,
    confidence: float = stats.CONFIDENCE,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Try the guard on labelled answers, and estimate its effect by their labels.

    Parameters
    ----------
    answers
        ANSWERS. Simulated ones have a `stereotype`, which tells whether what was let through is
        biased.
    panel, judge
        The judges, and the name of the one that guards.
    labels
        `text_id`, `biased`; and `biased_with` where people labelled what was let through of an
        answer that was stopped.
    confidence
        Level of the intervals.

    Returns
    -------
    (DataFrame, DataFrame)
        ESTIMATES; and the guarded answers, to be labelled: `text_id`, `biased`, `stopped`,
        `let_through`, `withheld`, `biased_with`.
    """
    table = answers.merge(labels, on="text_id")
    table = guard_texts(table, panel.judges[judge], retrieve=panel.retrieve)
    who = "people"
    if "stereotype" in table:
        pairs = zip(table["stereotype"], table["let_through"], strict=True)
        shown = [isinstance(claim, str) and claim in through for claim, through in pairs]
        table, who = table.assign(biased_with=shown), "simulated truth"
    table = table.reindex(columns=[*table, *{"biased_with"} - {*table}])
    labelled = table.assign(biased_without=table["biased"], instrument=panel.instruments[judge])
    columns = ["text_id", "biased", "stopped", "let_through", "withheld", "biased_with"]
    return estimates(labelled, labelled_by=who, confidence=confidence), table[columns]
