"""The study's pipeline: articles in, tables out; and what it reads, checked before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, reading, stats, tables, text
from nbbias.news import claims, corpus, discovery, diversity, fits, labels, tone, topics, words
from nbbias.news.corpus import CELL, Read
from nbbias.news.explore import lexicon as explored
from nbbias.news.params import News, NewsBias
from nbbias.news.reading.tables import model_facts
from nbbias.news.sample import compare_with_truth
from nbbias.news.scoring import Scored, score
from nbbias.params import NONE, Input


def check(chosen: Any) -> list[str]:
    """Read both sides of a corpus; refuse what a run cannot be made of, say what it would lose.

    Examples
    --------
    >>> from nbbias import news
    >>> news.check(news.params.NewsBias(levels=["word"]))
    ['1 of 361 answers have no original']
    """
    problems = check_instruments(chosen)
    sides = tables.attempt(problems, corpus.read, chosen.originals_path, chosen.generations_path)
    warnings: list[str] = []
    if sides:
        warnings = corpus.paired(problems, *sides)
        there = [sides[1][CELL].drop_duplicates(), corpus.groups(chosen)]
        tables.attempt(problems, params.check_claims, chosen, there)
        if chosen.labels_path != NONE:
            tables.attempt(problems, _check_labels, chosen, sides)
        tables.attempt(problems, model_facts, chosen.models_path)
    tables.refuse(problems)
    return warnings


def _check_labels(chosen: Any, sides: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """Refuse labels that are none, or of other texts than these."""
    sheet = labels.read_sheet(chosen.labels_path)
    pairs = corpus.pair(*sides)
    there = pairs.loc[pairs["lost"].isna(), ["original_text", "generated_text"]]
    lexicon = corpus.lexicon(chosen.biases, **chosen.lists())
    texts = pd.Series(there.to_numpy().ravel(), dtype=object)
    labels.drawn_here(sheet, texts, lexicon, where=chosen.labels_path)


def check_instruments(chosen: Any) -> list[tables.NbbiasError]:
    """Return what is wrong with the names of instruments that a run would use."""
    problems: list[tables.NbbiasError] = []
    if "sentence" in chosen.levels:
        tables.attempt(problems, text.toxicity.choose, chosen.toxicity_scorer)
    return problems


class Corpus(NamedTuple):
    """What a run measures: texts, read, scored and fitted.

    Attributes
    ----------
    originals, generations, pairs : DataFrame
        ORIGINALS, GENERATIONS, and the PAIRS of both.
    read : Read
        The pairs' texts, sentences and group words.
    second_texts : Read, optional
        Those of further human texts on the same stories (`news.second_texts`).
    scored, scored_second : Scored, optional
        The sentences' scores. None: the level is not in the run.
    number, fitted : Number and Fitted, optional
        How many topics, and the topics. No `fitted`: the texts are too few.
    answers : DataFrame
        Of `biased_prompts`: the answers to its two prompts, with the verdict on each.
    """

    originals: pd.DataFrame
    generations: pd.DataFrame
    pairs: pd.DataFrame
    read: Read
    second_texts: Read | None = None
    scored: Scored | None = None
    scored_second: Scored | None = None
    number: fits.Number | None = None
    fitted: fits.Fitted | None = None
    answers: pd.DataFrame = pd.DataFrame()


class Results(NamedTuple):
    """Tables that `measure` returns; a run saves them under these names. None: not in the run.

    Attributes
    ----------
    estimates : DataFrame
        ESTIMATES.
    units : DataFrame
        UNITS: the articles' values behind means of words and tone.
    chance : DataFrame
        CHANCE: every null value of every estimate.
    scores, scores_sentence, scores_document : DataFrame, optional
        SCORES of the pairs, by words, tone and topics: `score` is the distance (0 to 1),
        `difference_<group>` the answer minus the original.
    losses : DataFrame
        Pairs excluded, by `measure`, `source`, `model`, `prompt` and `bias`: how many `pairs`,
        how many for each reason, and how many were `counted`.
    terms : DataFrame
        `bias`, `group`, `term`, `kind` and how often it occurs (`matches`).
    coverage : DataFrame
        By `bias` and `group`: `terms`, `terms_seen`, `matches`, and the shares of texts and
        sentences that hold one (`text_share`, `sentence_share`, 0 to 1).
    without_each_term : DataFrame, optional
        By `term`: the `estimate`, the one `without` the term, and their `change`.
    numbers_of_topics, topics : DataFrame, optional
        Perplexity by number of topics, and the topics.
    agreement : DataFrame, optional
        Correlations of tone between scorers and between biases (`tone.agreement`).
    models_mixed : DataFrame
        Differences of a model from the mean of all by a mixed model (`compare_models`).
    discovered : DataFrame, optional
        Sentences that show words and directions of the measure ``discovery``
        (`discovery.estimate`).
    label_accuracy : DataFrame, optional
        Precision and recall of the word lists by people's labels.
    simulated : DataFrame, optional
        Simulated and estimated differences of the sample.
    """

    estimates: pd.DataFrame
    units: pd.DataFrame
    chance: pd.DataFrame
    losses: pd.DataFrame
    terms: pd.DataFrame
    coverage: pd.DataFrame
    models_mixed: pd.DataFrame
    scores: pd.DataFrame | None = None
    scores_sentence: pd.DataFrame | None = None
    scores_document: pd.DataFrame | None = None
    agreement: pd.DataFrame | None = None
    without_each_term: pd.DataFrame | None = None
    numbers_of_topics: pd.DataFrame | None = None
    topics: pd.DataFrame | None = None
    discovered: pd.DataFrame | None = None
    label_accuracy: pd.DataFrame | None = None
    simulated: pd.DataFrame | None = None

    def _repr_html_(self) -> str:
        return reading.results_html(self)


def measure(originals: Input = None, generations: Input = None, **parameters: Any) -> Results:
    r"""Measure who is mentioned in generated news, and in what tone, against human articles.

    Parameters
    ----------
    originals : DataFrame or path, optional
        ORIGINALS, a human article a row: `article_id` and `text`; where they vary `source`
        (newspaper or file), `headline`, and `sample` (several human texts on one story). The
        shipped sample by default.
    generations : DataFrame or path, optional
        GENERATIONS, a generated text a row: `article_id` of its original, `model` and `text`;
        where they vary `source`, `prompt`, and `sample` (repeated answers).
    **parameters
        As a params file of the study sets them; `nbbias params news_bias` lists them.

    Returns
    -------
    Results
        A tuple of DataFrames. `estimates` (ESTIMATES) has an estimate a row: what it is of
        (`model`, `measure`, `statistic`, `bias`, `group`), then `estimate`, `ci_low`, `ci_high`,
        `n`, `null` and `p_adjusted`. Differences are answer minus original: shares of group words
        in -1 to 1, sentiment in -2 to 2 (relative to neutral sentences -4 to 4), toxicity in -1
        to 1; below 0 the group is mentioned less, or less positively. Distances are 0 to 1,
        and above their null value where answers differ from originals more than same-writer texts
        do. See `Results` for the other tables.
        `reading.claims.declared` returns the rows of claims with their verdicts.

    Raises
    ------
    NbbiasError
        Parameters or tables are invalid; the message lists every error.

    Notes
    -----
    A group's share of a text is its number of group words over that of all groups of the bias,
    :math:`f_i = n_i / \sum_j n_j`. The main estimate is the mean over articles of
    :math:`f_i(\text{answer}) - f_i(\text{original})`, with a one-sample *t* test over articles and
    Holm's correction. Tone is the same difference of mean sentiment, relative to sentences that
    name no group. Distances are :math:`\frac{1}{2} \sum_i |f_i(a) - f_i(o)|`.

    References
    ----------
    - X. Fang et al. (2024). Bias of AI-generated content: an examination of news produced by
      large language models. Scientific Reports 14:5224.

    Examples
    --------
    >>> import pandas as pd
    >>> from nbbias import news
    >>> originals = ["She spoke, he listened.", "The women met him.", "He left, and she stayed."]
    >>> answers = ["She spoke, he listened.", "The men met him.", "He left, and she stayed."]
    >>> stories = pd.DataFrame({"article_id": [1, 2, 3], "model": "mine"})
    >>> results = news.measure(
    ...     stories[["article_id"]].assign(text=originals), stories.assign(text=answers),
    ...     levels=["word"], biases=["gender"], focus={"gender": "female"}, draws=100,
    ... )
    >>> rows = results.estimates.query("statistic == 'share_difference' and group == 'female'")
    >>> rows[["estimate", "ci_low", "ci_high", "n", "null"]].round(2).values.tolist()
    [[-0.17, -0.88, 0.58, 3.0, 0.0]]

    Without tables, the shipped sample is measured:

    >>> results = news.measure(
    ...     levels=["word"], biases=["gender"], draws=100, claims=[],
    ...     focus={"gender": "female"},
    ... )
    >>> rows = results.estimates.query("statistic == 'share_difference'")
    >>> rows = rows[(rows["group"] == "female") & (rows["model"] == "fewer-women")]
    >>> rows["estimate"].round(2).tolist()
    [-0.14]
    """
    inputs = {"originals_path": originals, "generations_path": generations}
    with params.validate_inputs(NewsBias, parameters, **inputs) as chosen:
        return measure_corpus(read_corpus(chosen), chosen)


def read_corpus(chosen: News) -> Corpus:
    """Read a run's texts, find their group words, score their sentences and fit their topics.

    Examples
    --------
    >>> corpus = read_corpus(NewsBias(levels=["word"]))
    >>> len(corpus.originals), corpus.scored is None
    (144, True)
    """
    originals, generations, pairs, read = _read(chosen)
    second_texts = corpus.annotate(corpus.second_texts(originals), lexicon=read.lexicon)
    return score_and_fit(Corpus(originals, generations, pairs, read, second_texts), chosen)


def score_and_fit(whole: Corpus, chosen: News) -> Corpus:
    """Score the sentences of texts that were read and fit their topics, as parameters ask."""
    if "sentence" in chosen.levels:
        by: dict[str, Any] = {"scorers": chosen.sentiment_scorers, "device": chosen.device}
        by["toxicity_scorer"] = chosen.toxicity_scorer
        further = whole.second_texts and score(whole.second_texts, **by, swapped=False)
        whole = whole._replace(scored=score(whole.read, **by), scored_second=further)
    if "document" in chosen.levels:
        number = fits.number(whole.read, candidates=chosen.n_topics, seed=chosen.seed)
        seeds = range(chosen.seed, chosen.seed + chosen.topic_fits)
        how = chosen.association, chosen.residual_threshold, chosen.truncated_topics
        fitting = fits.Fitting(number.n_topics, seeds, *how)
        fitted = fits.fit(whole.read, number.tokens, fitting) if number.n_topics else None
        whole = whole._replace(number=number, fitted=fitted)
    return whole


def _read(chosen: News) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, Read]:
    originals, generations = corpus.read(chosen.originals_path, chosen.generations_path)
    pairs = corpus.pair(originals, generations)
    lexicon = corpus.lexicon(chosen.biases, **chosen.lists())
    return originals, generations, pairs, corpus.annotate(pairs, lexicon=lexicon)


def measure_corpus(whole: Corpus, chosen: NewsBias) -> Results:
    """Measure a corpus that was read; see `measure`.

    Examples
    --------
    >>> chosen = NewsBias(levels=["word"], draws=100)
    >>> measure_corpus(read_corpus(chosen), chosen).scores_sentence is None
    True
    """
    read, fitted = whole.read, whole.fitted
    levels = measure_levels(whole, chosen)
    scores = {name: level.scores for name, level in levels.items()}
    fields = claims.combine_levels(levels)
    settings: dict[str, Any] = {"confidence": chosen.confidence}
    fields["terms"] = text.lexicons.term_counts(read.lexicon, read.matches)
    fields["coverage"] = corpus.coverage(read)
    signed = tables.Estimated(fields["estimates"], fields["units"])
    fields["models_mixed"] = compare_models(signed, focus=chosen.focus, **settings)
    if "word" in scores:
        fields["without_each_term"] = explored.without_each_term(scores["word"], read)
    if whole.scored:
        fields["agreement"] = tone.agreement(scores["sentence"], whole.scored.measured, **settings)
    if whole.number:
        fields["numbers_of_topics"] = whole.number.tried
    if fitted:
        fields["topics"] = fits.described(fitted)
    if chosen.labels_path != NONE:
        sheet = labels.labelled(read, labels.read_sheet(chosen.labels_path))
        fields["label_accuracy"] = labels.accuracy(sheet, **settings)
    if chosen.originals_path == tables.SAMPLE:
        fields["simulated"] = compare_with_truth(fields["estimates"])
    parts = [signed]
    options = {"device": chosen.device, "model": chosen.embedding_model, **settings}
    if chosen.diversity:
        parts.append(diversity.estimate(read, **options))
    if chosen.discover:
        result, fields["discovered"] = discovery.estimate(read, seed=chosen.seed, **options)
        parts.append(result)
    return Results(**fields | tables.concatenate(parts)._asdict())


def measure_levels(whole: Corpus, chosen: News) -> dict[str, claims.Level]:
    """Measure the levels that parameters ask for, by name; too few texts have no topics."""
    inference = stats.InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    common: dict[str, Any] = {"inference": inference, "second_texts": whole.second_texts}
    levels = {}
    if "word" in chosen.levels:
        levels["word"] = words.level(whole.read, **common)
    if whole.scored:
        further = whole.scored_second
        levels["sentence"] = tone.level(whole.read, whole.scored, **common, scored_second=further)
    if whole.fitted:
        levels["document"] = topics.level(whole.read, whole.fitted, **common)
    return levels


# --- models -----------------------------------------------------------------------------------

#: What is compared of each measure; the topics of a fit would be taken as fixed.
_COMPARED = {"word": "share_difference"}
_COMPARED |= dict.fromkeys(("sentiment", "toxicity"), "mean_difference")


def compare_models(
    result: tables.Estimated, *, focus: Mapping[str, str], confidence: float
) -> pd.DataFrame:
    """Compare the models' signed differences by a mixed model: a random intercept per article.

    Models wrote about the same articles; an analysis of variance would take these as unrelated.

    Parameters
    ----------
    result
        ESTIMATES and UNITS of all levels; of several instruments of a measure the first counts.
    focus
        The group of a bias whose signed difference is compared; the first where none is named.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        Of `stats.mixed_model`, with `group` and `confidence`.
    """
    rows = result.estimates.dropna(subset="estimate")
    rows = claims.first_instrument(rows[rows["statistic"] == rows["measure"].map(_COMPARED)])
    focused = rows["group"] == rows["bias"].map(focus)
    of = rows.assign(focused=focused).sort_values("focused", ascending=False, kind="stable")
    of = of.drop_duplicates(["measure", "bias"])
    rows = rows.merge(of[["measure", "bias", "group"]])
    keys = [*CELL, "measure", "bias", "group", "statistic", "instrument"]
    units = result.units.merge(rows[keys]).rename(columns={"unit": "article_id"})
    compared = stats.mixed_model(units, value="value", confidence=confidence)
    lost = rows[[*CELL, "measure", "bias", "group", "n_lost"]]
    return compared.drop(columns="n_lost").merge(lost, how="left").assign(confidence=confidence)


# --- labels -----------------------------------------------------------------------------------


def label(
    chosen: News, path: Path, *, words: int, sentences: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw what people are asked about the word lists of a run: a verb of `nbbias label`.

    Parameters
    ----------
    chosen
        The run's parameters.
    path
        The sheet; where it is there already, its labels are kept.
    words, sentences
        How many to ask about, per bias.

    Returns
    -------
    (DataFrame, DataFrame)
        The sheet (`labels.sheet`), and precision and recall by the labels so far
        (`labels.accuracy`).
    """
    before = labels.read_sheet(path) if path.exists() else None
    *_, read = _read(chosen)
    drawn = labels.draw(labels.frame(read), words=words, sentences=sentences)
    sheet = labels.sheet(read, drawn, before=before)
    return sheet, labels.accuracy(labels.labelled(read, sheet), confidence=chosen.confidence)
