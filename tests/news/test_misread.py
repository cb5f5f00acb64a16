"""How often the word lists are wrong, and estimates without that: against planted errors."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import news, stats
from nbbias.news import labels, misread
from nbbias.stats import InferenceSettings

INFERENCE = InferenceSettings(n_permutations=200, seed=7)
GROUPS = ["female", "male"]


# --- a whole corpus, labelled by an oracle ----------------------------------------------------


@cache
def corpus() -> tuple[news.Read, pd.DataFrame]:
    planted = {"fewer": {"female": -0.3}, "colder": {"tone_female": -0.4}}
    people, models = news.sample.corpus(planted, seed=1)
    few = people["article_id"].unique()[:50]
    pairs = news.pair(people[people["article_id"].isin(few)], models)
    lexicon = news.lexicon(["gender", "race"], paths={}, names_path="sample")
    read = news.annotate(pairs, lexicon=lexicon)
    return read, labels.frame(read)


def labelled(label: pd.Series, rows: pd.DataFrame | None = None) -> labels.Labelled:
    read, everything = corpus()
    rows = everything if rows is None else rows
    sheet = rows[["item"]].assign(drawn=labels.drawn_of(read.texts, read.lexicon), label=label)
    return labels.labelled(read, sheet)


def right() -> pd.Series:
    found = corpus()[1]["found"]
    return found.where(found != labels.SEVERAL, labels.NOBODY)


@cache
def levels() -> list[news.Level]:
    read, _ = corpus()
    scored = news.tone.score(read, scorers=["textblob"], toxicity_scorer="offline")
    inference = InferenceSettings(n_permutations=100)
    return [
        news.words.level(read, inference=inference, min_pairs=10),
        news.tone.level(read, scored, inference=inference),
    ]


def test_lists_that_are_right_are_found_right_and_correct_nothing() -> None:
    own = labelled(right())
    found = misread.accuracy(own, inference=INFERENCE)
    assert (found["estimate"] == 1).all()
    assert (found["ci_low"] > 0.8).all()
    table = misread.corrected(own, levels(), inference=INFERENCE, min_pairs=10)
    assert set(table["statistic"]) == {
        *("share_difference", "share_difference_common", "difference_beyond_neutral")
    }
    known = table[table["raw"].notna()]
    assert len(known) > 20
    np.testing.assert_allclose(known["estimate"], known["raw"], atol=1e-12)
    none = table["raw_low"].isna()
    assert (table["ci_low"].isna() == none).all()
    assert table.loc[none, "reason"].notna().all()
    # The interval holds what the labels leave open beside what the articles do.
    words = known[(known["measure"] == "word") & known["raw_low"].notna()]
    wider = (words["ci_high"] - words["ci_low"]) / (words["raw_high"] - words["raw_low"])
    assert (wider > 0.9).all()


def test_a_census_gives_the_plain_shares() -> None:
    _, everything = corpus()
    rng = np.random.default_rng(3)
    choice = rng.choice([*GROUPS, "nobody"], len(everything))
    label = right().where((everything["bias"] == "race") | (rng.random(len(choice)) < 0.8), choice)
    own = labelled(label)
    found = misread.accuracy(own, inference=INFERENCE).set_index(
        ["bias", "of", "group", "statistic", "side"]
    )
    at = everything.assign(label=label)
    at = at[(at["bias"] == "gender") & (at["side"] == "h")]
    words, whole = at[at["ask"] == "word"], at[at["ask"] == "sentence"]
    listed = words[words["found"] == "female"]
    expected = (listed["label"] == "female").mean()
    told = found.loc[("gender", "group words", "female", "precision", "answers")]
    assert told["estimate"] == pytest.approx(expected)
    assert told["n"] == len(listed)
    about = whole[whole["label"] == "female"]
    expected = (about["found"] == "female").mean()
    key = ("gender", "sentence groups", "female", "recall", "answers")
    assert found.loc[key, "estimate"] == pytest.approx(expected)
    own_words = words[words["found"] == "female"][["text_id", "sentence_id"]].drop_duplicates()
    hits = about.merge(own_words, on=["text_id", "sentence_id"])
    key = ("gender", "group words", "female", "recall", "answers")
    assert found.loc[key, "estimate"] == pytest.approx(len(hits) / len(about))
    neutral = whole[whole["found"].isin(["nobody", "several"])]
    key = ("gender", "sentence groups", "neutral", "precision", "answers")
    assert found.loc[key, "estimate"] == pytest.approx((neutral["label"] == "nobody").mean())


def test_a_stratified_sample_comes_near_the_census_with_an_interval() -> None:
    _, everything = corpus()
    rng = np.random.default_rng(3)
    label = right().where(rng.random(len(everything)) < 0.7, "nobody")
    census = misread.accuracy(labelled(label), inference=INFERENCE)
    drawn = labels.draw(everything, words=120, sentences=200)
    label = drawn["item"].map(dict(zip(everything["item"], label, strict=True)))
    found = misread.accuracy(labelled(label, drawn), inference=INFERENCE)
    both = census["side"] == "both"
    held = found["ci_low"].le(census["estimate"]) & found["ci_high"].ge(census["estimate"])
    assert held[both].mean() > 0.8
    assert (found["n"] <= census["n"]).all()


def test_without_labels_nothing_is_told() -> None:
    own = labelled(right().where(corpus()[1]["ask"] == "none", labels.UNSURE))
    found = misread.accuracy(own, inference=INFERENCE)
    assert found["estimate"].isna().all()
    assert (found["reason"] == "no label tells").all()
    table = misread.corrected(own, levels(), inference=INFERENCE, min_pairs=10)
    assert table["estimate"].isna().all()
    assert table["ci_low"].isna().all()
    assert table["reason"].notna().all()
    assert table["raw"].notna().any()


def test_labels_of_one_side_alone_do_not_correct() -> None:
    _, everything = corpus()
    own = labelled(right().where(everything["side"] == "o", labels.UNSURE))
    found = misread.accuracy(own, inference=INFERENCE)
    human = found["side"] == "human"
    assert found.loc[human, "estimate"].eq(1).all()
    assert found.loc[~human, "estimate"].isna().all()
    words = misread.corrected(own, levels()[:1], inference=INFERENCE)
    assert words["estimate"].isna().all()


# --- counts, with errors that are known -------------------------------------------------------


def rates(
    of_words: Any, words: Any, sizes: Any, sentences: Any, *, draws: int = 200, seed: int = 0
) -> misread.Rates:
    """Return rates by labels that are counted already: what `misread.rates` makes of rows."""
    found, kinds = [*GROUPS, labels.SEVERAL, labels.NOBODY], [*GROUPS, *GROUPS, labels.NOBODY]
    rows = []
    there = {}
    for s, side in enumerate("oh"):
        for g, group in enumerate(GROUPS):
            there["b", "word", side, group] = of_words[s][g]
            for label, n in zip([*GROUPS, "nobody"], words[s][g], strict=True):
                rows += [("b", "word", side, group, label, True)] * int(n)
        for f, one in enumerate(found):
            there["b", "sentence", side, one] = sizes[s][f]
            for k, n in enumerate(sentences[s][f]):
                rows += [("b", "sentence", side, one, kinds[k], k < 2)] * int(n)
    table = pd.DataFrame(rows, columns=[*labels.STRATUM, "label", "hit"])
    own = labels.Labelled(table, pd.Series(there), {"b": GROUPS})
    return misread.rates(own, "b", inference=InferenceSettings(n_permutations=draws, seed=seed))


def study(rng: np.random.Generator, *, articles: int, shift: float, errors: Any, n: int) -> Any:
    """Return words of articles as a list finds them, and labels of them: human, then answers.

    Each person's mention is found or not, and beside mentions stand words that name nobody; each
    mention is a sentence of its own, and half as many more name nobody.
    """
    counts, parts = [], []
    for side, (precision, recall) in enumerate(errors):
        share = np.clip(rng.beta(4, 6, articles) + shift * side, 0.02, 0.98)
        mentions = rng.poisson(14, articles) + 1
        women = rng.binomial(mentions, share)
        true = np.stack([women, mentions - women], axis=1)
        found = rng.binomial(true, recall)
        each = np.array([5.6, 8.4]) * recall
        wrong = rng.poisson(each * (1 - np.array(precision)) / precision, (articles, 2))
        counts.append(found + wrong)
        right, off = found.sum(axis=0), wrong.sum(axis=0)
        words, told = np.zeros((2, 3)), np.zeros((4, 5))
        for g in range(2):
            size = min(n, right[g] + off[g])
            words[g, g] = told[g, g] = rng.hypergeometric(right[g], off[g], size)
            words[g, 2] = told[g, 4] = size - words[g, g]
        missed, nobody = (true - found).sum(axis=0), true.sum() // 2
        none = rng.multivariate_hypergeometric([*missed, nobody], 3 * n)
        told[3, 2:4], told[3, 4] = none[:2], none[2]
        sizes = [*(right + off), 0, missed.sum() + nobody]
        parts.append(((right + off), words, sizes, told))
    return counts, list(zip(*parts, strict=True))


ALIKE = [([0.95, 0.8], [0.6, 0.9])] * 2
APART = [([0.95, 0.8], [0.6, 0.9]), ([0.95, 0.95], [0.8, 0.8])]


def covered(
    repeats: int, *, articles: int, shift: float, errors: Any, n: int
) -> tuple[float, float, float, float]:
    """Return the mean corrected and raw estimate, and how often either interval held the truth."""
    shares = np.random.default_rng(0).beta(4, 6, 200_000)
    truth = (np.clip(shares + shift, 0.02, 0.98) - np.clip(shares, 0.02, 0.98)).mean()
    rows = []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, articles, n])
        (o, h), told = study(rng, articles=articles, shift=shift, errors=errors, n=n)
        found = misread.word_weights(rates(*told, seed=seed))
        row = misread.shares_apart(h, o, found, inference=INFERENCE._replace(seed=seed))[0]
        there = (h.sum(axis=1) > 0) & (o.sum(axis=1) > 0)
        shares = h[there, 0] / h[there].sum(axis=1) - o[there, 0] / o[there].sum(axis=1)
        raw = stats.one_sample(pd.Series(shares), confidence=0.95).row()
        rows.append(
            [
                row["estimate"],
                raw["estimate"],
                *(one["ci_low"] <= truth <= one["ci_high"] for one in (row, raw)),
            ]
        )
    corrected, plain, held, plain_held = np.mean(rows, axis=0)
    return corrected - truth, plain - truth, held, plain_held


def test_known_error_rates_come_back_and_the_corrected_interval_covers() -> None:
    off, raw_off, held, raw_held = covered(40, articles=80, shift=-0.15, errors=APART, n=50)
    assert abs(off) < 0.03
    assert raw_off > 0.08  # what lists that err differently on the two sides make up
    assert held >= 0.85
    assert raw_held < 0.3


@pytest.mark.nightly
@pytest.mark.parametrize("errors", [ALIKE, APART], ids=["alike", "apart"])
@pytest.mark.parametrize("shift", [0.0, -0.15])
@pytest.mark.parametrize(("articles", "n"), [(30, 25), (80, 100), (400, 100)])
def test_the_corrected_interval_covers(articles: int, n: int, shift: float, errors: Any) -> None:
    off, _, held, _ = covered(300, articles=articles, shift=shift, errors=errors, n=n)
    assert abs(off) < 0.03
    assert held >= 0.92


def test_error_rates_are_those_that_were_planted() -> None:
    rng = np.random.default_rng(5)
    _, told = study(rng, articles=2000, shift=0.0, errors=APART, n=1500)
    found = rates(*told)
    for side, (precision, recall) in enumerate(APART):
        np.testing.assert_allclose(found.words[0, side].diagonal(), precision, atol=0.03)
        np.testing.assert_allclose(found.recall[0, side], recall, atol=0.05)
    spread = found.recall[1:].std(axis=0)
    assert (spread > 0.002).all()
    assert (spread < 0.05).all()


def test_sides_and_groups_change_places() -> None:
    rng = np.random.default_rng(5)
    (o, h), told = study(rng, articles=60, shift=-0.1, errors=APART, n=60)
    weights = misread.word_weights(rates(*told))
    there = misread.shares_apart(h, o, weights, inference=INFERENCE)
    back = misread.shares_apart(o, h, weights[:, ::-1], inference=INFERENCE)
    assert back[0]["estimate"] == pytest.approx(-there[0]["estimate"])
    assert there[1]["estimate"] == pytest.approx(-there[0]["estimate"])  # two groups mirror
    four = np.hstack([h, h]), np.hstack([o, o])
    whole = np.zeros((len(weights), 2, 4, 4))
    whole[..., :2, :2] = whole[..., 2:, 2:] = weights
    again = misread.shares_apart(*four, whole, inference=INFERENCE)
    assert again[0]["estimate"] == pytest.approx(there[0]["estimate"] / 2)


@pytest.mark.parametrize("articles", [0, 1])
def test_too_few_articles_have_no_interval(articles: int) -> None:
    weights = np.tile(np.eye(2), (50, 2, 1, 1))
    counts = np.ones((articles, 2))
    for row in misread.shares_apart(counts, counts, weights, inference=INFERENCE):
        assert row["n"] == articles
        assert np.isnan(row["estimate"]) == (articles == 0)
        assert np.isnan(row["ci_low"])


def test_shifts_are_solved_for() -> None:
    """Sentences are mixtures; what they are about is known, so that the shift comes back."""
    rng = np.random.default_rng(2)
    about = np.array([[0.85, 0.05, 0.1], [0.1, 0.7, 0.2], [0.05, 0.02, 0.93]])
    true = np.array([-0.3, 0.1, 0.02])
    means = about @ true
    beyond = (means - means[2])[:2]
    values = beyond + rng.normal(0, 0.1, (200, 2))
    values += beyond - values.mean(axis=0)
    mixing = (about - about[2])[:2, :2]
    found = misread.shifts(values, np.tile(mixing, (101, 1, 1)), inference=INFERENCE)
    for row, shift in zip(found, true[:2] - true[2], strict=True):
        assert row["estimate"] == pytest.approx(shift)
        assert row["ci_low"] < shift < row["ci_high"]
    one = values.copy()
    one[:, 1] = np.nan  # a group that nobody writes of
    alone = misread.shifts(one, np.tile(np.eye(2), (101, 1, 1)), inference=INFERENCE)
    assert alone[0]["estimate"] == pytest.approx(values[:, 0].mean())
    assert np.isnan(alone[1]["estimate"])
    assert alone[1]["n"] == 0


# --- what people read -------------------------------------------------------------------------


def leading(*rows: tuple[float, float, float, float]) -> pd.DataFrame:
    """Return rows with raw and corrected intervals of these ends."""
    keys = {
        "source": "s",
        "prompt": "p",
        "measure": "word",
        "bias": "gender",
        "group": "female",
        "statistic": "share_difference_common",
        "instrument": "word list",
    }
    return pd.DataFrame(
        [
            keys
            | {
                "model": f"m{i}",
                "n": 9,
                "reason": None,
                "raw": (a + b) / 2,
                "raw_low": a,
                "raw_high": b,
                "estimate": (c + d) / 2,
                "ci_low": c,
                "ci_high": d,
            }
            for i, (a, b, c, d) in enumerate(rows)
        ]
    )


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "No leading estimate can be corrected by these labels"),
        ([(-1, 1, -1, 1)], "no leading interval lies beside 0, before or after"),
        ([(-2, -1, -2, -0.5), (1, 2, -1, 2)], "1 of 2 leading intervals beside 0 stay there"),
        ([(-2, -1, 1, 2)], "0 of 1 leading intervals beside 0 stay there; 1 on the other side"),
        ([(-2, 1, -2, -1)], "1 leading interval more lies beside 0"),
    ],
)
def test_a_heading_says_what_is_left(rows: list[Any], told: str) -> None:
    found = leading(*rows) if rows else leading((0, 0, 0, 0)).iloc[:0]
    assert news.sentences.corrected_result(found).endswith(told)


def test_raw_and_corrected_stand_beside_each_other() -> None:
    rows = leading((-0.2, -0.1, -0.3, 0.1), (0.0, 0.2, -0.1, 0.3))
    table = news.tables.corrected(rows).rows
    assert table["as counted"].tolist()[0] == "−0.150 [−0.200, −0.100]"
    assert table["corrected"].tolist()[0] == "−0.100 [−0.300, 0.100]"
    gap = rows.assign(estimate=np.nan, ci_low=np.nan, ci_high=np.nan, reason="no label")
    assert set(news.tables.corrected(gap).rows["corrected"]) == {"no label"}
    drawn = news.figures.corrected(rows)
    assert drawn.rows["cell"].tolist() == ["m0", "as counted", "m1", "as counted"]
    assert drawn.rows["estimate"].tolist()[:2] == pytest.approx([-0.1, -0.15])


def test_sentences_say_how_often_the_lists_are_wrong() -> None:
    found = misread.accuracy(labelled(right()), inference=INFERENCE)
    told = news.sentences.misread(found)
    assert told[0].startswith("**Gender.** Of the words listed for women, 1.00 (")
    assert len(told) == 5  # two genders, three races
    assert "in human articles, 1.00 in answers" in told[0]
    none = labelled(right().where(corpus()[1]["ask"] == "none", labels.UNSURE))
    told = news.sentences.misread(misread.accuracy(none, inference=INFERENCE))
    assert told[0] == "**Gender.** No label tells of words for women."


#: How sentences about women, men and nobody are given a group: women, men, nobody.
GIVEN = np.array([[0.75, 0.05, 0.2], [0.03, 0.85, 0.12], [0.06, 0.04, 0.9]])


def toned(repeats: int, *, articles: int, n: int) -> np.ndarray:
    """Return how far off raw and corrected shifts of women's sentences are, and their coverage."""
    tone, shift = np.array([0.1, 0.0, 0.05]), np.array([-0.3, 0.0, 0.05])
    truth = shift[0] - shift[2]
    rows = []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, articles])
        of_article = rng.normal(0, 0.05, articles)
        means, told, sizes = [], np.zeros((2, 4, 5)), np.zeros((2, 4))
        for side in range(2):
            of_text = of_article + rng.normal(0, 0.05, articles)
            true = rng.poisson([5, 8, 20], (articles, 3))
            given = np.stack([rng.multinomial(true[:, t], GIVEN[t]) for t in range(3)], axis=1)
            total = given.sum(axis=1)
            mean = tone + side * shift
            sums = (given * mean[None, :, None]).sum(axis=1) + rng.normal(0, 0.3, total.shape) * (
                np.sqrt(total)
            )
            means.append(
                np.where(total > 0, sums / np.maximum(total, 1), np.nan) + of_text[:, None]
            )
            for place, f in enumerate((0, 1, 3)):
                whole = given.sum(axis=0)[:, place]
                drawn = rng.multivariate_hypergeometric(whole, min(n * (1 + (f == 3)), whole.sum()))
                sizes[side, f] = whole.sum()
                told[side, f, [2, 3, 4] if f == 3 else [0, 1, 4]] = drawn
        change = means[1] - means[0]
        values = change[:, :2] - change[:, 2:]
        mixing = misread.sentence_mixing(
            rates(np.zeros((2, 2)), np.zeros((2, 2, 3)), sizes, told, seed=seed)
        )
        row = misread.shifts(values, mixing, inference=INFERENCE._replace(seed=seed))[0]
        raw = stats.one_sample(pd.Series(values[:, 0]), confidence=0.95).row()
        held = [one["ci_low"] <= truth <= one["ci_high"] for one in (row, raw)]
        rows.append([row["estimate"] - truth, raw["estimate"] - truth, *held])
    found: np.ndarray = np.mean(rows, axis=0)
    return found


def test_a_colder_tone_is_found_through_sentences_that_are_about_others() -> None:
    off, raw_off, held, raw_held = toned(30, articles=80, n=50)
    assert abs(off) < 0.02
    assert raw_off > 0.05  # sentences of others hide a part of it
    assert held >= 0.85
    assert raw_held < 0.5
