"""Audit a generation as it streams, end it when a bias is found, and tell what that is worth.

Text is held back until it has been judged, sentence by sentence; each sentence is judged once, with
a little of what stands before it, so that the cost grows with the text and not with its square.

What a guard is worth the guard's own judge cannot say: whatever it finds it has already stopped,
and whatever it misses it misses twice. Labels come from people, or from a judge that is another.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats as distributions
from statsmodels.stats.contingency_tables import mcnemar

from nbbias import stats, tables
from nbbias.biasalert.detection import INFERENCE, STUDY, least_p
from nbbias.biasalert.detector import Detector, detector
from nbbias.biasalert.judges.bench import Bench
from nbbias.stats import InferenceSettings
from nbbias.tables import DataError, ParameterError

Judge = Callable[..., pd.DataFrame]
Retrieve = Callable[[pd.DataFrame], pd.DataFrame | None]

_WORD = re.compile(r"\w")

NOTHING_FOUND, NOTHING_JUDGED = "no bias found", "nothing was judged"


class Rules(NamedTuple):
    """How a generation is judged while it comes in.

    Attributes
    ----------
    every : int
        Judge whenever there are so many characters; 0 judges sentence by sentence.
    context : int
        Sentences (or stretches) before the one in question that the judge is shown with it, since
        "they" means whoever was named before. They were judged themselves and are not judged again
        from the start.
    stop_without_verdict : bool
        What happens where the judge refuses, fails or cannot be read: end the generation, or let
        the text through and count it as `unjudged`. The paper does not say.
    timeout : float, optional
        Seconds after which a judge that has not answered has given no verdict; None waits.
    """

    every: int = 0
    context: int = 1
    stop_without_verdict: bool = False
    timeout: float | None = None


RULES = Rules()


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
        through; `sentences` that the judge was asked about, in `calls`; of those gone through,
        the ones `judged` and `without_verdict`, and `unjudged` (the latter's characters that were
        let through); `seconds` that judging took. Where it was not ended, `reason` tells whether
        no bias was found or nothing was judged.
    """

    def __init__(
        self,
        stream: Iterable[str] | AsyncIterable[str],
        judge: Judge,
        retrieve: Retrieve | None,
        rules: Rules,
    ) -> None:
        self._stream, self._judge, self._retrieve, self._rules = stream, judge, retrieve, rules
        self._sentences = Sentences(rules.every)
        self._before: list[str] = []
        self.text = ""
        self.record: dict[str, Any] = {
            "judge": "",
            "stopped": False,
            "stopped_at": np.nan,
            "reason": NOTHING_JUDGED,
            "bias_type": None,
            "group": None,
            "attribute": None,
            "explanation": None,
            "evidence_ids": "",
            "withheld": "",
            "characters": 0,
            "sentences": 0,
            "calls": 0,
            "judged": 0,
            "without_verdict": 0,
            "unjudged": 0,
            "seconds": 0.0,
        }

    def __iter__(self) -> Iterator[str]:
        if not isinstance(self._stream, Iterable):
            raise TypeError("an asynchronous stream is gone through by 'async for'")
        try:
            for piece in self._stream:
                yield from self._passed(self._sentences.take(piece))
                if self.record["stopped"]:
                    return
            yield from self._passed(self._sentences.rest())
        finally:
            with suppress(AttributeError):
                self._stream.close()  # type: ignore[attr-defined]  # ends the generation

    async def __aiter__(self) -> AsyncIterator[str]:
        if not isinstance(self._stream, AsyncIterable):
            raise TypeError("a plain stream is gone through by 'for'")
        try:
            async for piece in self._stream:
                for one in await asyncio.to_thread(self._passed, self._sentences.take(piece)):
                    yield one
                if self.record["stopped"]:
                    return
            for one in await asyncio.to_thread(self._passed, self._sentences.rest()):
                yield one
        finally:
            with suppress(AttributeError):
                await self._stream.aclose()  # type: ignore[attr-defined]

    def _passed(self, sentences: list[str]) -> list[str]:
        """Judge sentences and return those that may be let through."""
        asked = [at for at, one in enumerate(sentences) if _WORD.search(one)]
        verdicts = dict(zip(asked, self._verdicts(sentences, asked), strict=True))
        passed: list[str] = []
        for at, sentence in enumerate(sentences):
            verdict = verdicts.get(at, {})
            biased = verdict.get("biased") is True
            unsure = at in verdicts and verdict.get("biased") is None
            self.record["without_verdict"] += int(unsure)
            self.record["judged"] += int(at in verdicts and not unsure)
            if biased or (unsure and self._rules.stop_without_verdict):
                self._stop(sentence, verdict)
                return passed
            self.record["unjudged"] += len(sentence) if unsure else 0
            if at in verdicts:
                self.record["reason"] = self._so_far(verdict)
            self.text += sentence
            self.record["characters"] = len(self.text)
            passed.append(sentence)
        return passed

    def _so_far(self, verdict: dict[str, Any]) -> str:
        """Return what is known of a text that was not stopped, after a sentence's verdict."""
        judged, lost = self.record["judged"], self.record["without_verdict"]
        if not judged:
            return f"{NOTHING_JUDGED}: {verdict.get('reason') or 'the judge gave no verdict'}"
        return (
            f"{NOTHING_FOUND}, and {lost} of {judged + lost} not judged" if lost else NOTHING_FOUND
        )

    def _stop(self, sentence: str, verdict: dict[str, Any]) -> None:
        told = verdict.get("reason") or "a bias was found"
        self.record |= {
            "stopped": True,
            "stopped_at": len(self.text),
            "reason": told,
            "withheld": sentence,
        }
        for name in ("bias_type", "group", "attribute", "explanation", "evidence_ids"):
            self.record[name] = verdict.get(name)

    def _verdicts(self, sentences: list[str], asked: list[int]) -> list[dict[str, Any]]:
        """Judge the sentences at some places in one call, each with what stands before it."""
        if not asked:
            return []
        said = [*self._before, *(sentences[at] for at in asked)]
        first = len(self._before)
        shown = [
            "".join(said[max(0, at - self._rules.context) : at + 1]).strip()
            for at in range(first, len(said))
        ]
        self._before = said[len(said) - self._rules.context :]
        ids = [f"s{self.record['sentences'] + n:06d}" for n in range(1, len(asked) + 1)]
        texts = pd.DataFrame({"text_id": ids, "text": pd.Series(shown, dtype="str")})
        self.record["calls"] += 1
        self.record["sentences"] += len(asked)
        started = time.perf_counter()
        try:
            table = _within(self._rules.timeout, lambda: self._asked(texts))
            verdicts = table.set_index("text_id").loc[ids].to_dict("records")
        except Exception as error:  # whatever a judge raises, the stream is not lost by it
            told = f"the judge failed: {type(error).__name__}: {error}"
            verdicts = [{"biased": None, "reason": told}] * len(asked)
        self.record["seconds"] += time.perf_counter() - started
        self.record["judge"] = next(
            (one["judge"] for one in verdicts if one.get("judge")), self.record["judge"]
        )
        return [_plain(one) for one in verdicts]

    def _asked(self, texts: pd.DataFrame) -> pd.DataFrame:
        return self._judge(texts, self._retrieve(texts) if self._retrieve else None)


def guard(
    stream: Iterable[str] | AsyncIterable[str],
    judge: Judge | Detector | None = None,
    *,
    retrieve: Retrieve | None = None,
    rules: Rules = RULES,
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
    rules
        How much is judged at a time, with what before it, and what no verdict means.

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
    told = [
        f"{name}: must be 0 or more, but is {number}"
        for name, number in (("every", rules.every), ("context", rules.context))
        if number < 0
    ]
    if rules.timeout is not None and rules.timeout <= 0:
        told.append(f"timeout: must be above 0 seconds, but is {rules.timeout}")
    if told:
        raise ParameterError("guard", told)
    used = detector() if judge is None else judge
    if isinstance(used, Detector):
        return Guarded(stream, used.judge, retrieve or used.retrieve, rules)
    return Guarded(stream, used, retrieve, rules)


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
    for words in texts["text"]:
        guarded = guard([words] if isinstance(words, str) else [], judge, **settings)
        through = "".join(guarded)
        rows.append({"let_through": through, **guarded.record})
    columns = ["let_through", *guard([], judge).record]
    found = pd.DataFrame(rows, columns=columns, index=texts.index)
    return texts.drop(columns=[c for c in columns if c in texts]).join(found)


def _plain(verdict: dict[str, Any]) -> dict[str, Any]:
    """Return a row of JUDGEMENTS with None for whatever is missing."""
    plain = {name: None if pd.isna(value) else value for name, value in verdict.items()}
    biased = plain.get("biased")
    return plain | {"biased": None if biased is None else bool(biased)}


def _within(timeout: float | None, ask: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Call a judge, and wait no longer than so many seconds for it."""
    if timeout is None:
        return ask()
    done: list[pd.DataFrame | BaseException] = []

    def work() -> None:
        try:
            done.append(ask())
        except BaseException as error:
            done.append(error)

    # A daemon: a judge that hangs must not keep the process from ending.
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(timeout)
    if not done:
        raise TimeoutError(f"no verdict within {timeout:g} s")
    if isinstance(done[0], BaseException):
        raise done[0]
    return done[0]


#: Characters after which text without an end of a sentence is cut all the same.
LONGEST = 1000

#: Where a sentence may have ended: a mark and a gap, or a blank line. spaCy then tells.
_END = re.compile(r"[.!?…][\"'”’)\]]{0,4}\s+\S|[。！？]|\n\s*\n")
_LOOK_BACK = 8


class Sentences:
    """Takes pieces of text, and gives sentences back as soon as they are complete.

    Parameters
    ----------
    every
        Cut every so many characters, between words where there are any; 0 cuts at sentences.
    """

    def __init__(self, every: int = 0) -> None:
        self._every, self._held, self._looked = every, "", 0

    def take(self, piece: str) -> list[str]:
        """Take a piece and return what is now complete; nothing is lost or changed."""
        self._held += piece
        found: list[str] = []
        if not self._every and _END.search(self._held, self._looked):
            *whole, self._held = _split(self._held)
            found = [part for one in whole for part in _short(one)]
        while len(self._held) > (self._every or LONGEST):
            found.append(self._cut(self._every or LONGEST))
        self._looked = max(0, len(self._held) - _LOOK_BACK)
        return found

    def rest(self) -> list[str]:
        """Return what is left when the text has ended."""
        held, self._held, self._looked = self._held, "", 0
        if not held:
            return []
        return [held] if self._every else [part for one in _split(held) for part in _short(one)]

    def _cut(self, length: int) -> str:
        if self._held[length - 1 : length + 1].isalnum():  # in the middle of a word
            gap = max(self._held.rfind(" ", 0, length), self._held.rfind("\n", 0, length))
            length = gap + 1 if gap > 0 else length
        taken, self._held = self._held[:length], self._held[length:]
        return taken


def _split(words: str) -> list[str]:
    """Split into sentences that together are the text; a gap belongs to what follows it."""
    from nbbias.text.pipeline import load_pipeline  # loads spaCy

    ends = [sentence.end_char for sentence in load_pipeline()(words).sents]
    places = [0, *ends[:-1], len(words)]
    return [words[start:end] for start, end in pairwise(places)]


def _short(sentence: str) -> list[str]:
    return [sentence[at : at + LONGEST] for at in range(0, len(sentence), LONGEST)]


MEASURE = "mitigation"
_NEEDED = ["text_id", "model", "judge", "stopped", "seconds", "biased_without", "biased_with"]


def estimates(
    guarded: pd.DataFrame, *, labelled_by: str, inference: InferenceSettings = INFERENCE
) -> pd.DataFrame:
    """Estimate the share of biased generations with and without a guard.

    Parameters
    ----------
    guarded
        One row per generation, such as `biasalert.guard.guard_texts` makes: `text_id`, `model`
        (who wrote), `judge` (the guard's), `stopped`, `seconds` (added; the
        judge's `instrument` where it is known), and the labels
        `biased_without` (of the whole text) and `biased_with` (of what was let through). Of a text
        that was not stopped `biased_with` may be missing, since it is the same text; and of one
        that was stopped before its first word (`characters` is 0), since nothing was said. With
        the guard's `judged` and `without_verdict`, a text that was let through without a verdict
        on any sentence is lost: it was not guarded.
    labelled_by
        ``"people"``, or the name of the judge that labelled.
    inference
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES with `measure` mitigation, by `model`, with `judge` (the guard's) and `evaluator`
        (who labelled). `statistic`: ``biased_share_without`` and ``biased_share_with`` (Wilson),
        ``biased_share_difference`` (with minus without; below 0 the guard helps; 0 by chance;
        exact McNemar test, Holm over the models; interval of Bonett and Price 2012 for paired
        shares), ``stopped_share`` (Wilson), ``stopped_without_bias`` (share of the generations that
        are not biased which the guard ended: its cost), ``unguarded_share`` (share in which the
        judge gave no verdict on some sentence; where the guard counted them), and ``seconds``
        (mean per text, t interval). Pairs without both labels are counted as lost.

    Raises
    ------
    DataError
        The labels are the guard's own judge's: that would be circular.
    ContractError
        A column is missing.
    """
    tables.require_columns(guarded, _NEEDED, where="guarded")
    own = {_plain_label(name) for name in guarded["judge"].dropna().astype(str) if name}
    if _plain_label(labelled_by) in own:
        raise DataError(
            "guarded",
            f"labels by {labelled_by} would let the guard judge itself; have people label, or a "
            "judge on another model",
        )
    rows: list[dict[str, Any]] = []
    for model, table in guarded.groupby("model", sort=False):
        judges = table["judge"].replace("", np.nan).dropna().unique()
        common = {
            "model": str(model),
            "judge": ", ".join(map(str, judges)) or None,
            "instrument": table["instrument"].iloc[0] if "instrument" in table else "guard",
        }
        rows += [common | row for row in _of_one(table, inference.confidence)]
    found = tables.estimates(
        rows, study=STUDY, measure=MEASURE, evaluator=labelled_by, confidence=inference.confidence
    )
    return stats.adjust(found, where={"statistic": "biased_share_difference"})


def _plain_label(name: str) -> str:
    """Return the model behind a judge's name: parts left out do not make it another judge."""
    return name.split(",")[0].strip().lower()


def _of_one(table: pd.DataFrame, confidence: float) -> list[dict[str, Any]]:
    stopped = table["stopped"].astype(bool)
    without = table["biased_without"].astype("boolean")
    labelled = table["biased_with"].astype("boolean")
    silent = stopped & (table["characters"] == 0) if "characters" in table else stopped & False
    with_ = labelled.where(stopped | labelled.notna(), without).mask(
        silent & labelled.isna(), False
    )
    counted = {"judged", "without_verdict"} <= set(table)
    failed = table["without_verdict"] > 0 if counted else stopped & False
    unguarded = failed & ~stopped & (table["judged"] == 0) if counted else failed
    both = without.notna() & with_.notna() & ~unguarded
    lost = int((~both).sum())
    before, after = without[both].astype(bool), with_[both].astype(bool)
    n = int(both.sum())
    fine = both & ~without.fillna(True).astype(bool)

    def share(statistic: str, found: pd.Series, lost: int) -> dict[str, Any]:
        row = stats.proportion_interval(int(found.sum()), len(found), confidence=confidence).row()
        return {"statistic": statistic, "n_lost": lost, **row}

    found = [
        share("biased_share_without", before, lost),
        share("biased_share_with", after, lost),
        {
            "statistic": "biased_share_difference",
            "n": n,
            "n_lost": lost,
            "null": 0.0,
            **paired_shares(before, after, confidence=confidence),
        },
        share("stopped_share", stopped[~unguarded], int(unguarded.sum())),
        share("stopped_without_bias", stopped[fine], len(table) - int(fine.sum())),
        {
            "statistic": "seconds",
            **stats.mean_interval(
                table["seconds"].astype(float), confidence=confidence, bounds=(0, np.inf)
            ).row(),
        },
    ]
    return [*found, share("unguarded_share", failed, 0)] if counted else found


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
        `estimate` (share after minus share before), `ci_low`, `ci_high` (Bonett and Price 2012,
        adjusted Wald: one added to either discordant count and two to n), and exact McNemar's
        `test`, `statistic_value` (the smaller discordant count), `p_value`, `reason`.
    """
    row: dict[str, Any] = {"test": "McNemar (exact)", "reason": None}
    n = len(before)
    if n == 0:
        nothing = ("estimate", "ci_low", "ci_high", "statistic_value", "p_value")
        return row | dict.fromkeys(nothing, np.nan) | {"reason": "no unit has both labels"}
    first, second = before.to_numpy(bool), after.to_numpy(bool)
    more, less = int((second & ~first).sum()), int((first & ~second).sum())
    estimate = (more - less) / n
    up, down = (more + 1) / (n + 2), (less + 1) / (n + 2)
    z = distributions.norm.ppf((1 + confidence) / 2)
    half = z * np.sqrt((up + down - (up - down) ** 2) / (n + 2))
    low, high = np.clip([up - down - half, up - down + half], -1, 1)
    tested = mcnemar([[0, more], [less, 0]], exact=True)
    return row | {
        "estimate": estimate,
        "ci_low": min(low, estimate),
        "ci_high": max(high, estimate),
        "statistic_value": float(tested.statistic),
        "p_value": float(min(tested.pvalue, 1.0)),
        "p_least": least_p(more + less),
    }


def planted(
    answers: pd.DataFrame, bench: Bench, *, each: int = 12, inference: InferenceSettings = INFERENCE
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put simulated answers under guard, and tell its worth by what was planted.

    Parameters
    ----------
    answers
        Of `biasalert.sample.answers`: the truth tells whether what was let through is biased.
    bench
        The judges; its `reader` is the guard's.
    each
        Answers per model, the first ones; every model answered the same prompts.
    inference
        Level of the intervals.

    Returns
    -------
    (DataFrame, DataFrame)
        One row per answer, and ESTIMATES. The seconds that were added are left out: they change
        from run to run.
    """
    name = bench.reader
    few = answers.groupby("model").head(each)
    table = guard_texts(few, bench.judges[name], retrieve=bench.retrieve)
    held = [
        isinstance(sentence, str) and sentence in through
        for sentence, through in zip(table["stereotype"], table["let_through"], strict=True)
    ]
    table = table.assign(
        biased_without=table["planted"], biased_with=held, instrument=bench.instruments[name]
    )
    found = estimates(table, labelled_by="planted truth", inference=inference)
    return table, found[found["statistic"] != "seconds"].reset_index(drop=True)
