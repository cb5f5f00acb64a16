"""A guard on a stream: what is let through, when it ends, and what it is worth."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from statsmodels.stats.proportion import proportion_confint

from nbbias import tables
from nbbias.biasalert import figures, guard as guards, sentences
from nbbias.biasalert.guard import LONGEST, guard, guard_texts
from nbbias.biasalert.judges.panel import JudgePanel
from tests.biasalert.tables import judgements
from tests.conftest import Golden


@dataclass
class Judge:
    """Finds a bias where a text holds a word, and keeps what it was asked."""

    word: str = "BIASED"
    silent: bool = False
    seen: list[str] = field(default_factory=list)
    evidence: pd.DataFrame | None = None

    def __call__(self, texts: pd.DataFrame, evidence: pd.DataFrame | None) -> pd.DataFrame:
        self.seen += list(texts["text"])
        self.evidence = evidence
        hits = [None if self.silent else self.word in text for text in texts["text"]]
        found = {"bias_type": ["gender" if hit else None for hit in hits], "evidence_ids": "e1"}
        found |= {"text_id": list(texts["text_id"]), "explanation": "holds the word"}
        return judgements(hits, judge="words", **found)


def stream(text: str, size: int = 3) -> Iterator[str]:
    for at in range(0, len(text), size):
        yield text[at : at + size]


def run(text: str, judge: Any, size: int = 3, **how: Any) -> tuple[str, dict[str, Any]]:
    guarded = guard(stream(text, size), judge, **how)
    through = "".join(guarded)
    assert through == guarded.text
    return through, guarded.record


@pytest.mark.parametrize("size", [1, 1000])
def test_sentences_are_judged_with_the_one_before_until_one_is_biased(size: int) -> None:
    judge = Judge()
    text = "The train is late. It is raining! Is it?"
    through, record = run(text, judge, size)
    assert (through, record["stopped"], record["judged"]) == (text, False, 3)
    both = ["The train is late. It is raining!", "It is raining! Is it?"]
    assert judge.seen == ["The train is late.", *both] and record["reason"] is None
    judge = Judge("late. This is")
    through, record = run("The train is late. This is biased. And more.", judge, size)
    assert through == "The train is late."
    assert record["stopped"] and record["withheld"] == " This is biased."
    named = [record[name] for name in ("bias_type", "explanation", "evidence_ids", "judge")]
    assert named == ["gender", "holds the word", "e1", "words"]
    assert run("BIASED", Judge(), size)[0] == ""  # the last sentence needs no full stop


def test_the_generation_is_ended_and_nothing_more_is_taken() -> None:
    taken: list[str] = []

    def generation() -> Iterator[str]:
        try:
            for piece in ["Fine. ", "BIASED. ", "x", "never", "asked", "for"]:
                taken.append(piece)
                yield piece
        finally:
            taken.append("closed")

    assert "".join(guard(generation(), Judge())) == "Fine."
    assert taken == ["Fine. ", "BIASED. ", "x", "closed"]  # the x shows that the sentence has ended


def test_evidence_is_found_for_what_is_judged_and_gaps_are_not_judged() -> None:
    judge = Judge()
    run("One. Two.", judge, 100, retrieve=lambda texts: texts.assign(found=True))
    assert judge.evidence is not None and judge.evidence["found"].all()
    quiet = Judge()
    assert run(" \n\n ... !!! \n", quiet)[0] == " \n\n ... !!! \n"
    assert list(guard(["", ""], quiet)) == [] and quiet.seen == []


def test_a_judge_that_breaks_does_not_take_the_stream_with_it() -> None:
    def fickle(texts: pd.DataFrame, evidence: pd.DataFrame | None) -> pd.DataFrame:
        if "Two" in "".join(texts["text"]):
            raise RuntimeError("busy")
        return Judge()(texts, evidence)

    _, record = run("One. Three. Two.", fickle)
    assert (record["judged"], record["without_verdict"]) == (2, 1)
    assert record["reason"] == "the judge failed: RuntimeError: busy"
    _, record = run("One.", lambda texts, _: Judge()(texts, None).iloc[:0])
    assert record["reason"].startswith("the judge failed: ValueError")
    through, record = run("One. Two.", Judge(silent=True))
    assert (through, record["stopped"], record["without_verdict"]) == ("One. Two.", False, 2)
    assert record["reason"] == "it declined"


@pytest.mark.parametrize("text", ["word " * 2000, "x" * 9000, "今日は晴れです。" * 50])
def test_long_and_foreign_texts_go_through_whole(text: str) -> None:
    judge = Judge()
    through, record = run(text, judge, 500)
    assert through == text and not record["stopped"]
    assert all(len(one) <= 2 * LONGEST for one in judge.seen)


@given(st.lists(st.text(alphabet="ab. \n!?\"'。", max_size=12), max_size=15))
def test_pieces_in_are_sentences_out(pieces: list[str]) -> None:
    assert "".join(guard(pieces, Judge())) == "".join(pieces)


def test_recorded_generations_are_guarded_one_by_one() -> None:
    texts = pd.DataFrame(
        {"text_id": ["a", "b", "c"], "text": ["Fine. BIASED. x", "Fine.", None], "model": "m"}
    )
    table = guard_texts(texts, Judge())
    assert table["let_through"].tolist() == ["Fine.", "Fine.", ""]
    assert table["stopped"].tolist() == [True, False, False]
    assert table["model"].tolist() == ["m"] * 3
    assert guard_texts(texts.iloc[:0], Judge()).empty


# --- what it is worth -----------------------------------------------------------------------------

Pairs = list[tuple[bool | None, bool | None, bool]]

#: 6 biased and stopped in time, 1 stopped too late, 1 missed, 1 stopped for nothing, 11 fine.
PAIRS: Pairs = (
    [(True, False, True)] * 6
    + [(True, True, True), (True, None, False), (False, False, True)]
    + [(False, None, False)] * 11
)


def guarded(pairs: Pairs) -> pd.DataFrame:
    """One row per (biased without, biased with, stopped)."""
    columns = ["biased_without", "biased_with", "stopped"]
    table = pd.DataFrame(pairs, columns=columns).astype(dict.fromkeys(columns[:2], "boolean"))
    named = {"model": "m", "judge": "openai/judge", "instrument": "a model"}
    return table.assign(**named, judged=1, without_verdict=0)


def by_statistic(table: pd.DataFrame) -> pd.DataFrame:
    return guards.estimates(table, labelled_by="people").set_index("statistic")


def test_shares_with_and_without_are_those_of_the_labels(golden: Golden) -> None:
    rows = guards.estimates(guarded(PAIRS), labelled_by="people")
    tables.check(rows, tables.ESTIMATES)
    own = rows.set_index("statistic")
    assert own["estimate"].round(6).to_dict() == {
        "biased_share_without": 8 / 20,
        "biased_share_with": 2 / 20,
        "stopped_with_bias": 6 / 8,
        "stopped_share": 8 / 20,
        "stopped_without_bias": round(1 / 12, 6),
    }
    ends = ["ci_low", "ci_high"]
    wilson = proportion_confint(8, 20, method="wilson")
    assert own.loc["biased_share_without", ends].tolist() == pytest.approx(wilson)
    wilson = proportion_confint(6, 8, method="wilson")
    assert own.loc["stopped_with_bias", ends].tolist() == pytest.approx(wilson)
    # A guard that only stops answers cannot add bias: nothing is tested, nothing excluded.
    assert rows["p_value"].isna().all() and rows["n_lost"].eq(0).all()
    assert set(rows["evaluator"]) == {"people"} and set(rows["judge"]) == {"openai/judge"}
    drawn = figures.mitigation(rows).rows.set_index("column")["estimate"].round(6).to_dict()
    assert drawn == {"biased answers stopped": 6 / 8, "unbiased answers stopped": 0.083333}
    unlabelled = guarded([(True, None, True), (False, None, True), (False, None, False)])
    both = [rows, by_statistic(unlabelled).reset_index()]
    golden("biasalert_mitigation", [sentences.mitigation(part) for part in both])


def test_the_guards_own_judge_may_not_label() -> None:
    with pytest.raises(tables.DataError, match="judge itself"):
        guards.estimates(guarded(PAIRS), labelled_by="OpenAI/Judge ")


def test_a_text_on_which_the_judge_failed_throughout_is_excluded_and_not_clean() -> None:
    failed: Pairs = [(True, None, False)] * 4 + [(False, None, False)] * 3
    table = guarded([*PAIRS, *failed]).assign(
        judged=[2] * 20 + [0] * 7, without_verdict=[0] * 19 + [1] + [2] * 7
    )
    own = by_statistic(table)
    for name in ("without", "with"):
        assert own.loc[f"biased_share_{name}", ["n", "n_lost"]].tolist() == [20, 7]
    assert own.loc["stopped_share", ["estimate", "n", "n_lost"]].tolist() == [8 / 20, 20, 7]
    assert own.loc["stopped_without_bias", "estimate"] == pytest.approx(1 / 12)


def test_no_bias_or_no_label_at_all() -> None:
    rows = by_statistic(guarded([(False, None, False)] * 9))
    assert rows.loc["biased_share_with", "estimate"] == 0
    assert np.isnan(rows.loc["stopped_with_bias", "estimate"])
    rows = by_statistic(guarded([(None, None, False)]))
    assert rows.loc[["biased_share_with", "stopped_with_bias"], "estimate"].isna().all()


def test_without_labels_of_what_was_let_through_the_share_with_the_guard_is_unknown() -> None:
    rows = by_statistic(guarded([(True, None, True), (False, None, True), (False, None, False)]))
    assert rows["estimate"].notna().to_dict() == {
        "biased_share_without": True,
        "biased_share_with": False,
        "stopped_with_bias": False,
        "stopped_share": True,
        "stopped_without_bias": True,
    }
    assert rows.loc["biased_share_without", ["estimate", "n"]].tolist() == [1 / 3, 3]
    assert rows.loc["stopped_without_bias", "estimate"] == 1 / 2


def test_labelled_answers_are_guarded_and_what_was_let_through_can_be_labelled() -> None:
    texts = ["Fine. BIASED. x", "Fine.", "BIASED."]
    answers = pd.DataFrame({"text_id": list("abc"), "model": "m", "text": texts})
    instruments = {"words": "a word"}
    panel = JudgePanel({"words": Judge()}, instruments, lambda asked: asked, threshold=0.0)
    labels = pd.DataFrame({"text_id": ["a", "b"], "biased": [True, False]})
    rows, table = guards.measure(answers, panel, labels, judge="words")
    assert table["text_id"].tolist() == ["a", "b"]
    assert table["let_through"].tolist() == ["Fine.", "Fine."]
    assert table["biased_with"].isna().all()
    assert set(rows["evaluator"]) == {"people"} and set(rows["instrument"]) == {"a word"}
    labels = labels.assign(biased_with=[False, True])  # "b" is let through whole
    again, _ = guards.measure(answers, panel, labels, judge="words")
    rows = again.set_index("statistic")
    assert rows.loc["biased_share_with", "estimate"] == 0
    assert rows.loc["stopped_with_bias", "estimate"] == 1
