"""A guard on a stream: what is let through, when it ends, and what it costs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from nbbias import tables
from nbbias.biasalert.contracts import JUDGEMENTS
from nbbias.biasalert.guard import LONGEST, Guarded, Rules, Sentences, guard, guard_texts
from nbbias.tables import ParameterError


class Judge:
    """Finds a bias where a text holds a word, and keeps what it was asked."""

    def __init__(self, word: str = "BIASED", outcome: str = "judged") -> None:
        self.word, self.outcome = word, outcome
        self.seen: list[str] = []
        self.tables: list[pd.DataFrame] = []
        self.evidence: list[pd.DataFrame | None] = []

    def __call__(self, texts: pd.DataFrame, evidence: pd.DataFrame | None) -> pd.DataFrame:
        self.seen += list(texts["text"])
        self.tables.append(texts)
        self.evidence.append(evidence)
        sure = self.outcome == "judged"
        found = [self.word in one for one in texts["text"]]
        table = pd.DataFrame(
            {
                "text_id": texts["text_id"],
                "judge": "words",
                "biased": pd.array([one if sure else pd.NA for one in found], dtype="boolean"),
                "bias_type": ["gender" if one and sure else None for one in found],
                "group": None,
                "attribute": None,
                "confidence": np.nan,
                "explanation": "holds the word",
                "evidence_ids": "e1",
                "knowledge": "",
                "outcome": self.outcome,
                "reason": None if sure else "it would not say",
                "raw": None,
            }
        )
        return table


def test_the_judge_of_these_tests_keeps_the_contract() -> None:
    texts = pd.DataFrame({"text_id": ["a", "b"], "text": ["BIASED", "fine"]})
    tables.check(Judge()(texts, None), JUDGEMENTS)
    tables.check(Judge(outcome="refused")(texts, None), JUDGEMENTS)


def stream(text: str, size: int = 3) -> Iterator[str]:
    for at in range(0, len(text), size):
        yield text[at : at + size]


def run(text: str, judge: Any, size: int = 3, **rules: Any) -> tuple[str, dict[str, Any]]:
    retrieve = rules.pop("retrieve", None)
    guarded = guard(stream(text, size), judge, retrieve=retrieve, rules=Rules(**rules))
    through = "".join(guarded)
    assert through == guarded.text
    return through, guarded.record


PLAIN = "The train is late. It is raining! Is it? Yes, it is."


# --- what is let through --------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_a_text_without_bias_goes_through_whole_and_is_judged_once(size: int) -> None:
    judge = Judge()
    through, record = run(PLAIN, judge, size, context=0)
    assert through == PLAIN
    assert judge.seen == ["The train is late.", "It is raining!", "Is it?", "Yes, it is."]
    assert (record["stopped"], record["sentences"], record["characters"]) == (False, 4, len(PLAIN))
    assert np.isnan(record["stopped_at"]) and record["reason"] == "no bias found"
    assert record["calls"] == (2 if size == 1000 else 4)  # the end comes apart


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_it_ends_before_the_sentence_that_is_biased(size: int) -> None:
    text = "The train is late. This is BIASED. More of it. And more."
    through, record = run(text, Judge(), size, context=0)
    assert through == "The train is late."
    assert record["stopped"] and record["stopped_at"] == 18
    assert record["withheld"].strip() == "This is BIASED."
    assert (record["bias_type"], record["explanation"]) == ("gender", "holds the word")
    assert (record["evidence_ids"], record["judge"]) == ("e1", "words")


def test_the_generation_is_ended_and_nothing_more_is_taken() -> None:
    taken: list[str] = []
    closed: list[bool] = []

    def generation() -> Iterator[str]:
        try:
            for piece in ["Fine. ", "BIASED. ", "x", "never", "asked", "for"]:
                taken.append(piece)
                yield piece
        finally:
            closed.append(True)

    guarded = guard(generation(), Judge())
    assert "".join(guarded) == "Fine."
    assert taken == ["Fine. ", "BIASED. ", "x"]  # the x shows that the sentence has ended
    assert closed == [True]


def test_nothing_is_seen_before_it_was_judged() -> None:
    judge = Judge()
    for piece in guard(stream(PLAIN, 1), judge, rules=Rules(context=0)):
        assert piece.strip() in judge.seen


def test_the_last_sentence_needs_no_full_stop() -> None:
    assert run("Fine. BIASED", Judge())[0] == "Fine."
    assert run("BIASED", Judge())[1]["stopped_at"] == 0


def test_context_is_shown_and_nothing_is_judged_from_the_start_again() -> None:
    judge = Judge("neighbours moved in. They all")
    through, record = run("I like it here. New neighbours moved in. They all lie. More.", judge)
    assert through == "I like it here. New neighbours moved in."
    assert record["withheld"] == " They all lie."
    long = Judge()
    run("One two three. " * 100, long, 5)
    assert sum(map(len, long.seen)) < 2.1 * 100 * 15  # each sentence twice, not 100 times


def test_a_stretch_of_characters_can_be_the_unit() -> None:
    judge = Judge()
    text = "abcd efgh ijkl mnop"
    assert run(text, judge, 4, every=10, context=0)[0] == text
    assert judge.seen == ["abcd efgh", "ijkl mnop"]
    assert run("abcdefghijklmno BIASED", Judge(), every=5, context=3)[1]["stopped"]


def test_gaps_and_marks_are_let_through_without_a_call() -> None:
    judge = Judge()
    through, record = run(" \n\n ... !!! \n", judge)
    assert through == " \n\n ... !!! \n"
    assert (record["calls"], judge.seen) == (0, [])


# --- judges that fail -----------------------------------------------------------------------------


def test_without_a_verdict_the_text_passes_and_is_counted() -> None:
    through, record = run("One. Two.", Judge(outcome="refused"))
    assert through == "One. Two."
    assert (record["without_verdict"], record["unjudged"]) == (2, 9)
    assert record["stopped"] is False


def test_without_a_verdict_the_text_can_be_stopped() -> None:
    through, record = run("One. Two.", Judge(outcome="refused"), stop_without_verdict=True)
    assert through == ""
    assert record["stopped"] and record["reason"] == "it would not say"


def broken(texts: pd.DataFrame, evidence: pd.DataFrame | None) -> pd.DataFrame:
    raise RuntimeError("the line is dead")


def hanging(texts: pd.DataFrame, evidence: pd.DataFrame | None) -> pd.DataFrame:
    time.sleep(30)
    raise AssertionError


def incomplete(texts: pd.DataFrame, evidence: pd.DataFrame | None) -> pd.DataFrame:
    return Judge()(texts, evidence).iloc[:0]


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        (broken, "RuntimeError: the line is dead"),
        (hanging, "no verdict within 0.1 s"),
        (incomplete, "the judge failed: KeyError"),
    ],
)
def test_a_judge_that_breaks_or_hangs_does_not_take_the_stream_with_it(
    judge: Any, told: str
) -> None:
    started = time.monotonic()
    through, record = run("One two.", judge, timeout=0.1)
    assert (through, record["without_verdict"]) == ("One two.", 1)
    assert time.monotonic() - started < 10
    _, record = run("One two.", judge, timeout=0.1, stop_without_verdict=True)
    assert record["stopped"] and told in record["reason"]


def test_where_nothing_was_judged_no_bias_was_not_found() -> None:
    through, record = run("One. Two.", hanging, 9, timeout=0.05)
    assert (through, record["stopped"]) == ("One. Two.", False)
    assert (record["judged"], record["without_verdict"]) == (0, 2)
    assert record["reason"] == (
        "nothing was judged: the judge failed: TimeoutError: no verdict within 0.05 s"
    )
    assert run(" ... ", Judge())[1]["reason"] == "nothing was judged"
    assert run("One.", Judge(outcome="refused"))[1]["reason"].endswith("it would not say")


def test_what_was_judged_in_part_says_so() -> None:
    def fickle(texts: pd.DataFrame, evidence: pd.DataFrame | None) -> pd.DataFrame:
        if "Two" in "".join(texts["text"]):
            raise RuntimeError("busy")
        return Judge()(texts, evidence)

    _, record = run("One. Two. Three.", fickle, context=0)
    assert (record["judged"], record["without_verdict"], record["unjudged"]) == (2, 1, 5)
    assert record["reason"] == "no bias found, and 1 of 3 not judged"
    _, record = run("Fine. BIASED. More.", Judge())
    assert (record["judged"], record["reason"]) == (2, "a bias was found")


def test_seconds_are_those_of_judging_alone() -> None:
    def slow(texts: pd.DataFrame, evidence: pd.DataFrame | None) -> pd.DataFrame:
        time.sleep(0.05)
        return Judge()(texts, evidence)

    def slower_stream() -> Iterator[str]:
        for piece in ("One is. ", "Two is. ", "Three is."):
            time.sleep(0.3)
            yield piece

    guarded = guard(slower_stream(), slow)
    assert "".join(guarded) == "One is. Two is. Three is."
    assert 0.15 <= guarded.record["seconds"] < 0.8


def test_evidence_is_found_for_what_is_judged() -> None:
    judge = Judge()
    run("One. Two.", judge, 100, retrieve=lambda texts: texts.assign(found=True))
    assert judge.evidence[0] is not None and judge.evidence[0]["found"].all()


@pytest.mark.parametrize(
    "wrong", [{"every": -1}, {"context": -1}, {"timeout": 0.0}, {"every": -1, "timeout": -1.0}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as told:
        guard([], Judge(), rules=Rules(**wrong))
    assert all(name in str(told.value) for name in wrong)


# --- odd streams ----------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces", [[], [""], ["", ""]])
def test_an_empty_stream_is_no_call(pieces: list[str]) -> None:
    guarded = guard(pieces, Judge())
    assert list(guarded) == [] and guarded.record["calls"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "word " * 20_000,
        "x" * 100_000,
        "." * 100_000,
        "\n" * 100_000,
        "One is. " * 12_500,
        "今日は晴れです。" * 500,
        "Ein Satz, und noch einer. " * 100,
    ],
)
def test_long_and_foreign_texts_go_through_whole(text: str) -> None:
    judge = Judge()
    started = time.monotonic()
    through, record = run(text, judge, 500)
    assert through == text and not record["stopped"]
    assert all(len(one) <= 2 * LONGEST for one in judge.seen)
    assert time.monotonic() - started < 30


@given(st.lists(st.text(alphabet="ab. \n!?\"'。", max_size=12), max_size=25), st.integers(0, 9))
@settings(max_examples=200, deadline=None)
def test_pieces_in_are_sentences_out(pieces: list[str], every: int) -> None:
    sentences = Sentences(every)
    out = [one for piece in pieces for one in sentences.take(piece)]
    out += sentences.rest()
    assert "".join(out) == "".join(pieces)
    assert all(out)


def test_an_abbreviation_ends_no_sentence() -> None:
    sentences = Sentences()
    assert sentences.take("Dr. Smith paid 3.50 euros. He ") == ["Dr. Smith paid 3.50 euros."]
    assert sentences.rest() == [" He "]


# --- asynchronous ---------------------------------------------------------------------------------


def test_an_asynchronous_stream_is_guarded_alike() -> None:
    closed: list[bool] = []

    async def generation() -> AsyncIterator[str]:
        try:
            for piece in stream("The train is late. This is BIASED. More of it."):
                await asyncio.sleep(0)
                yield piece
        finally:
            closed.append(True)

    async def main() -> tuple[str, Guarded]:
        guarded = guard(generation(), Judge())
        return "".join([piece async for piece in guarded]), guarded

    through, guarded = asyncio.run(main())
    assert through == guarded.text == "The train is late."
    assert guarded.record["stopped_at"] == 18
    assert closed == [True]


def test_the_wrong_loop_is_told() -> None:
    async def empty() -> AsyncIterator[str]:
        return
        yield ""

    async def wrong() -> None:
        async for _ in guard(["x"], Judge()):
            pass

    with pytest.raises(TypeError, match="async for"):
        list(guard(empty(), Judge()))
    with pytest.raises(TypeError, match="by 'for'"):
        asyncio.run(wrong())


# --- recorded generations -------------------------------------------------------------------------


def test_recorded_generations_are_guarded_one_by_one() -> None:
    texts = pd.DataFrame(
        {"text_id": ["a", "b", "c"], "text": ["Fine. BIASED. x", "Fine.", None], "model": "m"}
    )
    table = guard_texts(texts, Judge())
    assert table["let_through"].tolist() == ["Fine.", "Fine.", ""]
    assert table["stopped"].tolist() == [True, False, False]
    assert table["characters"].tolist() == [5, 5, 0]
    assert table["model"].tolist() == ["m"] * 3
    assert guard_texts(texts.iloc[:0], Judge()).empty
