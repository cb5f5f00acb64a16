"""What the choices of a curve make of texts, against the study's own tables and lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias import news, stats, text
from nbbias.news import curve
from nbbias.news.params import NewsBias
from nbbias.tables import ParameterError

CLAIM = {"measure": "word", "statistic": "share_difference", "bias": "gender", "group": "female"}
TONE = {**CLAIM, "measure": "sentiment", "statistic": "mean_difference"}


def chosen(**more: Any) -> NewsBias:
    given = {"biases": ["gender"], "focus": {"gender": "female"}, "topic_fits": 2, "draws": 100}
    return NewsBias(**(given | {"n_topics": [6], "residual_threshold": 1.0} | more))


@pytest.fixture(scope="module")
def measured() -> pd.DataFrame:
    """What the study itself says of the sample's words, without a notebook."""
    return news.measure(
        biases=["gender"], focus={"gender": "female"}, levels=["word"], draws=100
    ).estimates


def test_as_the_study_has_it_it_is_the_studys_own(measured: pd.DataFrame) -> None:
    """One model, source and prompt: estimate, interval, p and N of its row of ESTIMATES."""
    rows = measured[(measured["statistic"] == "share_difference") & (measured["group"] == "female")]
    for row in rows.head(3).to_dict("records"):
        cell = {key: row[key] for key in ("source", "model", "prompt")}
        found = stats.curve(curve.values(chosen(), CLAIM | cell, [{}]), confidence=0.95).iloc[0]
        for name in ("estimate", "ci_low", "ci_high", "n", "p_value"):
            assert found[name] == pytest.approx(row[name], abs=1e-12, nan_ok=True), name


def test_tone_is_that_of_the_studys_pairs() -> None:
    own = chosen()
    people, models = news.read("sample", "sample")
    lexicon = news.lexicon(["gender"], paths={}, names_path="sample")
    read = news.annotate(news.pair(people, models), lexicon=lexicon)
    scored = news.tone.score(read, scorers=own.sentiment_scorers, toxicity_scorer="offline")
    pairs = news.tone.pair_scores(read, scored, groups_counted="all")
    pairs = pairs[pairs["reason"].isna()]
    unit = pairs["source"] + " / " + pairs["article_id"].astype(str)
    over = {"statistic": "difference_beyond_neutral", "instrument": "vader"}
    claims = [TONE, TONE, TONE | {"measure": "toxicity"}]
    columns = ["difference_female", "beyond_neutral_female", "difference_female"]
    found = [
        curve.values(chosen(groups_counted="all"), claim, [one])[0]
        for claim, one in zip(claims, [{}, over, {}], strict=True)
    ]
    for values, name, column in zip(
        found, ["TextBlob", "VADER", "profanity"], columns, strict=True
    ):
        one = pairs[pairs["instrument"].str.contains(name)]
        expected = one.groupby([unit, "model"])[column].mean().groupby(level=0).mean().dropna()
        pd.testing.assert_series_equal(
            values.dropna().sort_index(), expected.sort_index(), check_names=False, rtol=1e-12
        )


def test_all_models_are_averaged_by_article(measured: pd.DataFrame) -> None:
    values = curve.values(chosen(), CLAIM, [{}, {"statistic": "share_difference_common"}])
    whole = news.measure(biases=["gender"], focus={"gender": "female"}, levels=["word"], draws=100)
    own = whole.scores[whole.scores["reason"].isna()]
    unit = own["source"] + " / " + own["article_id"].astype(str)
    expected = own.groupby([unit, "model"])["difference_female"].mean().groupby(level=0).mean()
    found = values[0].dropna()
    assert found.sort_index().to_numpy() == pytest.approx(expected.sort_index().to_numpy())
    # On common articles every model has its pair, so the mean of means is the mean of rows.
    common = measured[(measured["statistic"] == "share_difference_common")
                      & (measured["group"] == "female") & (measured["n"] > 0)]  # fmt: skip
    weighted = (common["estimate"] * common["n"]).sum() / common["n"].sum()
    assert values[1].mean() == pytest.approx(weighted, abs=1e-12)


def test_terms_left_out_are_a_list_without_them(tmp_path: Path) -> None:
    """The choice of words equals a run on a list of one's own that has just these."""
    listed = news.lexicon(["gender"], paths={}, names_path="sample")
    kept = listed[~listed["term"].isin(["she", "her", "hers", "herself",
                                        "he", "him", "his", "himself"])]  # fmt: skip
    path = tmp_path / "mine.csv"
    kept[["group", "term"]].to_csv(path, index=False)
    own = curve.values(chosen(lexicon_paths={"gender": str(path)}), CLAIM, [{}])
    found = curve.values(chosen(), CLAIM, [{"words": "no pronouns"}])
    pd.testing.assert_frame_equal(found, own)
    pair = curve.values(chosen(), CLAIM, [{}, {"words": "pronouns alone"}])
    assert not pair[0].equals(pair[1])


def test_swapped_sides_turn_every_value(tmp_path: Path) -> None:
    """Answers in place of originals and the other way round: what the joint test swaps."""
    people, models = news.read("sample", "sample")
    model = models["model"].iloc[0]
    pairs = models[models["model"] == model].merge(people, on=["source", "article_id"])
    pairs = pairs.drop_duplicates(["source", "article_id"])
    found = []
    for first, second in (("text_x", "text_y"), ("text_y", "text_x")):
        keys = ["source", "article_id"]
        one, other = (pairs[[*keys, name]].rename(columns={name: "text"}) for name in
                      (second, first))  # fmt: skip
        paths = [tmp_path / f"{first}{name}.csv" for name in ("o", "g")]
        one.to_csv(paths[0], index=False)
        other.assign(model="m").to_csv(paths[1], index=False)
        own = chosen(originals_path=str(paths[0]), generations_path=str(paths[1]))
        every = []
        for claim in (CLAIM, TONE):
            names = curve.choices(own, claim)
            over = [{name: of[-1]} for name, of in names.items() if name in curve.OWN]
            every.append(curve.values(own, claim, [{}, *over]))
        found.append(every)
    for one, other in zip(*found, strict=True):
        aligned = other.reindex(one.index)
        assert one.notna().any().any()
        assert (one.isna() == aligned.isna()).all(axis=None)
        assert (one + aligned).abs().max().max() < 1e-12


def test_swapped_sides_turn_topics_of_one_fit() -> None:
    people, models = news.read("sample", "sample")
    lexicon = news.lexicon(["gender"], paths={}, names_path="sample")
    read = news.annotate(news.pair(people, models.head(150)), lexicon=lexicon)
    how = news.fits.Fitting(n_topics=5, seeds=[1], threshold=0.5)
    fitted = news.fits.fit(read, text.topics.tokens(read.texts), how)
    turned = {"original_id": "generated_id", "generated_id": "original_id"}
    other = read._replace(pairs=read.pairs.rename(columns=turned))
    one, two = (news.topics.pair_scores(r, fitted)["difference_female"] for r in (read, other))
    assert one.notna().any() and (one + two).abs().max() < 1e-12


@pytest.mark.slow
def test_topics_are_fitted_once_for_all_choices_of_groups() -> None:
    """The choices of thresholds and ties use fits that are the study's own."""
    claim = CLAIM | {"measure": "document"}
    own = chosen(residual_threshold=0.5)
    found = curve.values(
        chosen(), claim,
        [{"fit": 2, "residual_threshold": 0.5}, {"fit": 2, "truncated_topics": True}],
    )  # fmt: skip
    assert not found[0].equals(found[1])
    whole = news.measure(**own.model_dump(exclude={"levels"}), levels=["document"])
    pairs = whole.scores[whole.scores["reason"].isna() & (whole.scores["seed"] == own.seed + 1)]
    unit = pairs["source"] + " / " + pairs["article_id"].astype(str)
    expected = pairs.groupby([unit, "model"])["difference_female"].mean().groupby(level=0).mean()
    values = found[0].dropna().sort_index()
    assert values.to_numpy() == pytest.approx(expected.dropna().sort_index().to_numpy(), abs=1e-12)


def test_ties_go_to_the_group_named_first() -> None:
    people = pd.DataFrame({"source": "s", "article_id": ["1"], "text": ["It rained. He sang."]})
    texts = ["She met him happily. He sang."]
    models = people.assign(model="m", prompt="p", sample=1, text=texts)
    lexicon = news.lexicon(["gender"], paths={}, names_path="sample")
    read = news.annotate(news.pair(people, models), lexicon=lexicon)
    before, after = read.sentences, curve._tied(read).sentences
    assert before["group"].astype(str).tolist() == ["neutral", "male", "neutral", "male"]
    assert after["group"].astype(str).tolist() == ["neutral", "male", "female", "male"]


def test_what_cannot_be_asked_is_told() -> None:
    over = {"fit": [1], "fewest": [0], "ties": ["coin"]}
    told = curve.breaches(chosen(), TONE, over)
    assert [one.partition(":")[0] for one in told] == ["fit", "fewest", "ties"]
    distance = {"measure": "word", "statistic": "bias", "bias": "gender", "group": "female"}
    assert "has no side that swaps" in curve.breaches(chosen(), distance, {})[0]
    assert len(curve.breaches(chosen(), {"statistic": "x"}, {})) == 3
    topics = CLAIM | {"measure": "document"}
    for given, over in ((chosen(association="own"), {}), (chosen(), {"association": ["own"]})):
        assert "own has no side that swaps" in curve.breaches(given, topics, over)[0]
    with pytest.raises(ParameterError, match="no model 'evne'"):
        curve.values(chosen(), CLAIM | {"model": "evne"}, [{}])


def test_race_has_choices_of_names_and_masks() -> None:
    own = NewsBias(biases=["race", "gender"])
    race = {"measure": "sentiment", "statistic": "mean_difference", "bias": "race",
            "group": "Black"}  # fmt: skip
    found = curve.choices(own, race)
    assert found["words"] == ["all", "no names", "names alone"]
    assert found["instrument"] == ["textblob", "vader", "textblob_masked"]
    assert not curve.breaches(own, race, found)
    shape = curve.values(own, race, [{}, {"instrument": "textblob_masked"}]).shape
    assert shape[1] == 2
