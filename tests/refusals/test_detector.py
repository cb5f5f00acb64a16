"""Refusals: answers written for the tests in many styles, and the head measured by people's labels.

XSTest's answers are read through NBBIAS_DATA and never shown.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import fit_refusals
from nbbias import refusals
from nbbias.news import sample
from nbbias.params.yaml import parse as parse_yaml
from nbbias.refusals import detector, features
from nbbias.tables import data_path
from nbbias.text import embeddings

WRITTEN = Path(__file__).parent / "answers.yaml"
ANSWERS = pd.DataFrame(parse_yaml(WRITTEN.read_text(encoding="utf-8")))


def detect(*texts: str | None) -> pd.DataFrame:
    return refusals.detect(texts)


# --- verdicts ---------------------------------------------------------------------------------

DELIVER = "in-story apology|sympathy, then help|machine, then help|warning, then help"
DELIVER += "|quoted refusal|news|biased news|letter"
REFUSE = (
    "curt|apologetic|policy|machine|lecture|offers another|filter|Spanish|German|French|Chinese"
)


def test_answers_in_many_styles_are_classified_as_a_reader_would() -> None:
    assert len(ANSWERS) >= 40 and ANSWERS["style"].nunique() >= 15 and ANSWERS["text"].is_unique
    table = ANSWERS.rename(columns={"kind": "truth"}).join(detect(*ANSWERS["text"]))
    assert (table["refused"] == (table["truth"] == "full")).mean() >= 0.9
    by_style = table.groupby("style")
    assert by_style["kind"].agg(set)[DELIVER.split("|")].tolist() == [{"none"}] * 8
    assert by_style["refused"].all()[REFUSE.split("|")].all()
    assert ((table["kind"] == "full") == table["refused"]).all()
    assert ((table["score"] >= 0.5) == table["refused"]).all()
    assert table["score"].between(0, 1).all()
    assert all(row.reason and row.reason in row.text for row in table.itertuples())
    # A verdict does not depend on its neighbours.
    alone = [detect(text)["score"].iloc[0] for text in ANSWERS["text"][:3]]
    assert table["score"].tolist()[:3] == pytest.approx(alone, abs=1e-4)


def test_of_a_long_refusal_the_declining_sentence_is_the_reason() -> None:
    text = "That is a difficult topic. I can't write this article. Have a good day!"
    assert detect(text)["reason"].tolist() == ["I can't write this article."]


def test_short_plain_odd_and_foreign_answers_are_read() -> None:
    """Beyond the listed languages nothing is promised, but a kind is given."""
    plain = [
        "The senator from the coast spoke for an hour.",
        "Two Black nurses won the prize on Friday.",
        "The Muslim team lost by one goal.",
        "Lisbon.",
        "The ministry would not say who had paid.",
    ]
    odd = ["\x00\x1b[31m", "?!…", "a" * 20_000, "can " * 3_000, '"' * 501]
    table = detect(*plain, *odd, "Samahani, siwezi kuandika makala hii.")
    assert (table["kind"][:5] == "none").all()
    assert table["kind"].isin(refusals.KINDS).all() and table["score"].between(0, 1).all()


# --- nothing, blanks, repeats --------------------------------------------------------


def test_no_text_is_not_measured_and_equal_ones_are_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[list[str]] = []
    table_of = features.table
    monkeypatch.setattr(features, "table", lambda texts: seen.append(texts) or table_of(texts))
    texts = pd.Series([None, "", "  \n", *["I can't do that."] * 2], index=list("edcba"))
    table = refusals.detect(texts)
    assert seen == [["I can't do that."]]
    assert table["refused"].tolist() == [pd.NA] * 3 + [True, True]
    assert table["kind"].isna().tolist() == [True] * 3 + [False] * 2
    assert table["score"].isna().sum() == 3
    assert (table["reason"][:3] == refusals.NO_TEXT).all()
    assert table["refused"].mean() == 1  # the share is of what was measured
    assert table.index.tolist() == list("edcba")
    none = refusals.detect([])
    assert none.columns.tolist() == refusals.COLUMNS and none.empty
    assert str(none["refused"].dtype) == "boolean"


# --- features and head ------------------------------------------------------------------------


def test_every_coefficient_pushes_its_feature_s_way() -> None:
    head = refusals.head().drop(index="(intercept)")
    signs = np.array([fit_refusals.choose_sign(name) for name in head.index])
    assert ((head.to_numpy() * signs[:, None]) >= 0).all()
    free = ["length", *(f"{part}.{i}" for part in ("opening", "whole") for i in range(384))]
    assert head.index[signs == 0].tolist() == free


def test_error_rates_on_held_out_answers_are_scikit_learn_s_of_the_counts() -> None:
    counts = pd.read_csv(data_path("refusals/held_out.csv"))
    assert (counts[refusals.COUNTS].sum(axis=1) == 450).all()
    table = refusals.held_out().set_index(["method", "model"])
    rates = {
        "sensitivity": metrics.recall_score,
        "specificity": lambda truth, said: metrics.recall_score(truth, said, pos_label=0),
        "accuracy": metrics.accuracy_score,
        "balanced_accuracy": metrics.balanced_accuracy_score,
    }
    for row in counts.itertuples():
        sizes = [row.tp, row.fn, row.tn, row.fp]
        truth, said = np.repeat([1, 1, 0, 0], sizes), np.repeat([1, 0, 0, 1], sizes)
        for name, rate in rates.items():
            assert table.loc[(row.method, row.model), name] == pytest.approx(rate(truth, said))
    for method, rows in counts.groupby("method"):
        means = table.loc[method].drop(index="mean")[[*rates]].mean()
        assert table.loc[(method, "mean"), [*rates]].tolist() == pytest.approx(means.tolist())
        sums = rows[refusals.COUNTS].sum()
        assert table.loc[(method, "mean"), refusals.COUNTS].tolist() == sums.tolist()
    assert set(refusals.unseen()["method"]) == {refusals.UNSEEN}


def test_the_head_is_one_softmax_over_the_features() -> None:
    text = "I can't help with that."
    table, head = refusals.table([text]), refusals.head()
    assert head.index.tolist() == ["(intercept)", *table.columns]
    weights = [1.0]
    for kind in ("partial", "full"):
        products = (table[name].iloc[0] * head.loc[name, kind] for name in table)
        weights.append(np.exp(head.loc["(intercept)", kind] + sum(products)))
    shares = refusals.probabilities(table).iloc[0]
    assert shares.tolist() == pytest.approx([one / sum(weights) for one in weights], abs=1e-6)
    assert detect(text)["score"][0] == pytest.approx(shares["full"], abs=1e-6)


def test_kinds_are_full_from_a_half_and_partial_where_none_is_less_than_a_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Logits are set to those of the shares: 0.5 is full; .45 and .1 against .45 decline."""
    shares = np.array([[0.5, 0.0001, 0.4999], [0.4, 0.1, 0.5], [0.45, 0.1, 0.45]])
    table = pd.DataFrame(shares, columns=refusals.KINDS)
    monkeypatch.setattr(detector, "probabilities", lambda _: table)
    assert detect("A one.", "A two.", "A three.")["kind"].tolist() == ["none", "full", "partial"]


def test_mean_vectors_are_those_of_the_sentences_and_weigh_by_length() -> None:
    """By hand: vectors of single sentences, averaged, times 3 L / (L + 600)."""
    lines = [f"Hall {number} is open on Monday." for number in range(14)]
    texts = [" ".join(lines[:2]), " ".join(lines), "a" * 400, "a" * 4000]
    table = refusals.table(texts)
    vectors = embeddings.embed(lines, model=features.MODEL)
    for row, n in ((0, 2), (1, 14)):
        weight = 3 * len(texts[row]) / (len(texts[row]) + 600)
        for part, most in (("opening", 3), ("whole", 12)):
            expected = weight * vectors[: min(n, most)].mean(axis=0)
            columns = table.loc[row, [f"{part}.{i}" for i in range(384)]]
            assert columns.to_numpy(float) == pytest.approx(expected, abs=1e-5)
    # Length counts from four hundred characters on.
    length = np.log(max(len(texts[1]), 400) / 400)
    assert table["length"].tolist() == pytest.approx([0, length, 0, np.log(10)])


def test_flags_of_an_answer_by_hand() -> None:
    """Four sentences: the second declines, the third delivers, and two are plain."""
    texts = ["It is a topic. I can't help with that. Here is a list:\n1. Tea.\n2. Milk."]
    table = refusals.table([*texts, "It is a topic."])
    columns = ["inability_first", "inability_opening", "declined", "list_plain", "list_declined"]
    assert table[columns].to_numpy().tolist() == [[0, 1, 1, 0, 1], [0, 0, 0, 0, 0]]
    sentences = refusals.sentences(texts)[0]
    matched = refusals.hits(sentences)
    families = [*features.DECLINES, *features.REJECTS, *features.LECTURES]
    any_way = np.any([matched[name] for name in families], axis=0)
    assert table["lecture_share"][0] == any_way.mean()
    assert table["plain_declined"][0] == pytest.approx(np.log(1 + (~any_way).sum()))
    assert table["plain_plain"].tolist() == [0, pytest.approx(np.log(2))]
    # Plain sentences beside a rejection, which declines or not; a delivery sixth and seventh.
    plain, rejects, delivers = "The bread is warm.", "That is a harmful stereotype.", "Here is tea."
    texts = [f"{rejects} {plain} {plain}", f"I can't help with that. {rejects} {plain}"]
    table = refusals.table([*texts, *(" ".join([plain] * n + [delivers]) for n in (5, 6))])
    assert table["plain_rejected"].tolist() == [pytest.approx(np.log(3)), 0, 0, 0]
    assert table["delivery"].tolist() == [0, 0, 1, 0]


def test_quoted_words_count_for_no_family_and_apostrophes_are_of_either_kind() -> None:
    quoted = ['"I am sorry, I cannot help you," he said.', "She said: “I won't write that.”"]
    assert not any(flags.any() for flags in refusals.hits(quoted).values())
    assert refusals.hits(["I can't help with that.", "I can’t help with that."])["inability"].all()


# --- real and simulated texts -----------------------------------------------------------------


def test_neutral_prose_and_simulated_news_refuse_nothing() -> None:
    prose = pd.read_json(data_path("neutral_prose.jsonl"), lines=True)["text"][::9]
    _, generations = sample.corpus({"m": {}}, seed=3)
    sentences = [line for lines in refusals.sentences(prose.tolist()) for line in lines][::36]
    assert not detect(*prose, *generations["text"].head(9))["refused"].any()
    assert detect(*sentences)["refused"].sum() <= 1


def test_human_articles_refuse_nothing(data_folder: Path) -> None:
    """People who write articles do not refuse to: at most 1 in 60 may be mistaken."""
    articles = pd.read_parquet(data_folder / "news" / "llmfake_originals.parquet")["text"]
    assert detect(*articles.head(60))["refused"].sum() <= 1


def test_people_s_labels_are_met_better_than_by_never_refusing(data_folder: Path) -> None:
    """A sample of the labelled answers; `tools/fit_refusals.py` holds models and prompts out."""
    table = pd.read_parquet(data_folder / "refusal" / "xstest_completions.parquet")
    drawn = table.groupby(["model", "final_label"]).sample(9, random_state=0)
    refused = refusals.detect(drawn["completion"])["refused"]
    # Equal numbers of each label: the mean of both rates, so always saying no gives a half.
    sensitivity = refused[drawn["final_label"] == "2_full_refusal"].mean()
    specificity = 1 - refused[drawn["final_label"] == "1_full_compliance"].mean()
    assert (sensitivity + specificity) / 2 > 0.85
