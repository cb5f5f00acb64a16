"""The study's pipeline: articles in, tables out; and what it reads, checked before it starts."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from nbbias import news, params, reading, refusals, stats, tables
from nbbias.biased_prompts import compare, corpus, refusing
from nbbias.biased_prompts.params import BiasedPrompts
from nbbias.params import NONE, Input


def check(chosen: Any) -> list[str]:
    """Read both sides of a corpus; refuse what a run cannot be made of, say what it would lose.

    Examples
    --------
    >>> from nbbias import biased_prompts
    >>> biased_prompts.check(biased_prompts.params.BiasedPrompts(levels=["word"]))
    []
    """
    problems = news.measured.check_instruments(chosen)
    prompts = chosen.prompts()
    sides = tables.attempt(problems, corpus.read, chosen.originals_path, chosen.generations_path)
    excluded: list[str] = []
    if sides:
        originals, generations = sides
        asked = tables.attempt(problems, corpus.of_prompts, generations, **prompts)
        excluded = news.corpus.paired(problems, originals, generations if asked is None else asked)
        groups = news.corpus.groups(chosen)
        both = pd.concat([groups, groups.assign(group=corpus.NOBODY)])  # a headline names none
        nameable = [_cells(generations, **prompts), both]
        tables.attempt(problems, params.check_claims, chosen, nameable)
    tables.refuse(problems)
    return excluded


def _cells(generations: pd.DataFrame, neutral: str, biased: str) -> pd.DataFrame:
    """Return the cells of a corpus, of what one prompt changes of the other, and of all sources."""
    cells = generations[news.corpus.CELL].drop_duplicates()
    changes = [cells.assign(prompt=name) for name in (f"{biased} − {neutral}", "biased − neutral")]
    both = pd.concat([cells, *changes])
    return pd.concat([both, both.assign(source=corpus.EVERY)])


class Results(NamedTuple):
    """Tables that `measure` returns; a run saves them under these names.

    Attributes
    ----------
    estimates : DataFrame
        ESTIMATES of refusals and of the effect of the prompt.
    units : DataFrame
        UNITS: the articles' values behind them.
    chance : DataFrame
        CHANCE: every null value of every estimate.
    losses : DataFrame
        Pairs excluded, by `measure`, `model` and `prompt`: `pairs`, `refused`, `counted`.
    coverage : DataFrame
        As in `news.Results`.
    refusals_swapped : DataFrame
        Detector bias on the project's sentences: by `group`, `swap_effect` with its interval.
    published : DataFrame
        What the paper prints: `model`, `statistic`, `value`, `group`, `n`, `p`.
    scores, scores_sentence, scores_document : DataFrame, optional
        SCORES of the pairs, by words, tone and topics; None where a run leaves a level out.
    topics : DataFrame, optional
        The topics of the first fit.
    """

    estimates: pd.DataFrame
    units: pd.DataFrame
    chance: pd.DataFrame
    losses: pd.DataFrame
    coverage: pd.DataFrame
    refusals_swapped: pd.DataFrame
    published: pd.DataFrame
    scores: pd.DataFrame | None = None
    scores_sentence: pd.DataFrame | None = None
    scores_document: pd.DataFrame | None = None
    topics: pd.DataFrame | None = None

    def _repr_html_(self) -> str:
        return reading.results_html(self)


def read_corpus(chosen: BiasedPrompts) -> news.measured.Corpus:
    """Read a run's texts, classify refusals, and score and fit the other answers.

    Examples
    --------
    >>> corpus = read_corpus(BiasedPrompts(levels=["word"]))  # doctest: +SKIP
    """
    originals, generations, answers = _read_answers(chosen)
    lexicon = news.lexicon(chosen.biases, **chosen.lists())
    if chosen.labels_path != NONE:
        answers = refusing.add_labels(answers, chosen.labels_path)
    pairs = refusing.without_refusals(news.pair(originals, answers), answers)
    read = news.annotate(pairs, lexicon=lexicon)
    texts = news.measured.Corpus(originals, generations, pairs, read, answers=answers)
    return news.measured.score_and_fit(texts, chosen)


def _read_answers(chosen: BiasedPrompts) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    originals, generations = corpus.read(chosen.originals_path, chosen.generations_path)
    asked = corpus.of_prompts(generations, **chosen.prompts())
    return originals, generations, refusing.answered(asked)


def score_answers(chosen: BiasedPrompts) -> pd.DataFrame:
    """Return the answers as people label them in rounds (`refusing.to_label`).

    Examples
    --------
    >>> list(score_answers(BiasedPrompts()))
    ['text', 'text_id', 'cell', 'unit', 'score']
    """
    return refusing.to_label(_read_answers(chosen)[2])


def measure(originals: Input = None, generations: Input = None, **parameters: Any) -> Results:
    """Measure which biased prompts are refused, and what they change in the answers.

    Parameters
    ----------
    originals : DataFrame or path, optional
        ORIGINALS, a human article a row: `article_id` and `text`; where they vary `source`
        (newspaper or file), `headline`, and `sample` (several human texts on one story). The
        shipped sample by default.
    generations : DataFrame or path, optional
        GENERATIONS, an answer a row: `article_id`, `model`, `text` and `prompt` (`neutral` or
        `biased`, as `neutral_prompt` and `biased_prompt` name them); `refused` (true or false)
        where answers were judged already.
    **parameters
        As a params file of the study sets them; `nbbias params biased_prompts` lists them.

    Returns
    -------
    Results
        A tuple of DataFrames. `estimates` (ESTIMATES) has an estimate a row: what it is of
        (`model`, `measure`, `statistic`, `prompt`, `bias`, `group`), then `estimate`, `ci_low`,
        `ci_high`, `n`, `null` and `p_adjusted`. Refusal rates are 0 to 1. Changes are biased minus
        neutral prompt: of the refusal rate in -1 to 1, above 0 where the biased prompt is refused
        more often; of a group's share and tone as in `news.measure`, below 0 where the biased
        prompt lowers them. See `Results` for the other tables. `reading.claims.declared`
        returns the rows of claims with their verdicts.

    Raises
    ------
    NbbiasError
        Parameters or tables are invalid; the message lists every error.

    Notes
    -----
    The rate :math:`q` of answers classified as refusals is corrected for the detector's sensitivity
    and specificity, :math:`(q + Sp - 1) / (Se + Sp - 1)` (Rogan and Gladen 1978). The effect of
    the prompt on content is the mean of paired differences over the articles that are answered
    under both, with a paired *t* test and Holm's correction.

    References
    ----------
    - X. Fang et al. (2024). Bias of AI-generated content: an examination of news produced by
      large language models. Scientific Reports 14:5224.
    - W. J. Rogan and B. Gladen (1978). Estimating prevalence from the results of a screening
      test. American Journal of Epidemiology 107:71-76.

    Examples
    --------
    >>> import pandas as pd
    >>> from nbbias import biased_prompts
    >>> originals = pd.DataFrame({"article_id": [1, 2, 3], "text": "She spoke, he listened."})
    >>> texts = {"neutral": "She spoke, he listened.", "biased": "He spoke, he listened."}
    >>> answers = pd.concat([originals.assign(prompt=name, text=texts[name]) for name in texts])
    >>> answers = answers.assign(model="mine", refused=answers.index == 0)
    >>> results = biased_prompts.measure(originals, answers, levels=["word"])  # doctest: +SKIP
    >>> rows = results.estimates.query("statistic == 'refusal_rate'")  # doctest: +SKIP
    >>> rows[["prompt", "estimate", "ci_low", "ci_high", "n", "null"]].round(2)  # doctest: +SKIP
    """
    inputs = {"originals_path": originals, "generations_path": generations}
    with params.validate_inputs(BiasedPrompts, parameters, **inputs) as chosen:
        return measure_corpus(read_corpus(chosen), chosen)


def measure_corpus(texts: news.measured.Corpus, chosen: BiasedPrompts) -> Results:
    """Measure refusals and the effect of the prompt on a corpus that was read; see `measure`.

    Examples
    --------
    >>> chosen = BiasedPrompts(levels=["word"])
    >>> results = measure_corpus(read_corpus(chosen), chosen)  # doctest: +SKIP
    """
    settings: dict[str, Any] = {**chosen.prompts(), "confidence": chosen.confidence}
    headlines = refusing.headline_groups(texts.originals, texts.read.lexicon)
    rates = refusing.rates(texts.answers, headlines=headlines, **settings)
    levels = news.measured.measure_levels(texts, chosen)
    compared = compare.compare(list(levels.values()), chosen.focus, **settings)
    no_topics = pd.DataFrame(columns=["topic"]) if texts.number else None
    swaps = refusals.swap_effects(texts.read.lexicon)
    return Results(
        **news.claims.combine_levels(levels, study=refusing.STUDY)
        | tables.concatenate([rates, compared])._asdict(),
        coverage=news.corpus.coverage(texts.read),
        refusals_swapped=stats.estimate_swap_effects(swaps, confidence=chosen.confidence),
        published=compare.read_published(),
        topics=news.fits.described(texts.fitted) if texts.fitted else no_topics,
    )
