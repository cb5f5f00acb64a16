"""What a notebook's cells call: open a study, then save and show its tables and figures.

>>> from nbbias import llmbi, notebook
>>> nb = notebook.open("llmbi", globals())  # doctest: +SKIP
>>> results = nb.save_all(llmbi.measure())  # doctest: +SKIP
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd
from IPython.display import HTML, Markdown, display

from nbbias import reading, stats, studies, tables
from nbbias.params import Parameters, Study, Texts, analysis_sha256, name_differences
from nbbias.reading import claims, figures, tipping

#: A study's results: a NamedTuple of tables.
Results = TypeVar("Results", bound=tuple[Any, ...])


class Notebook(NamedTuple):
    """An open notebook: its parameters, its folder, and functions to save and show results.

    `inference` holds the level of intervals, the number of permutations, and the seed. All that
    is shown is saved, too, under a name: tables as ``tables/<name>.csv`` and ``.parquet``, figures
    as ``figures/<name>.svg``, ``.png`` and ``.pdf`` with the table that they draw.
    `analysis_sha256` is the hash of all parameters and input files, taken before data are read.
    """

    study: Study
    parameters: Parameters
    out: Path
    analysis_sha256: str
    #: Parts that the data leave out, each with why.
    reasons: dict[str, list[str]]

    @property
    def inference(self) -> stats.InferenceSettings:
        """Confidence level, permutations (parameter `draws`) and seed of the run."""
        level, seed = self.parameters.confidence, self.parameters.seed
        settings = stats.InferenceSettings(confidence=level, seed=seed)
        draws = getattr(self.parameters, "draws", settings.n_permutations)
        return settings._replace(n_permutations=draws)

    def runs(self, *tags: str) -> bool:
        """Tell whether the parameters ask for these parts; where not, a line says what decides.

        A cell that belongs to a part asks this first, so that a notebook runs to its end by
        whatever executes it. `nbbias run` leaves such cells out by their tags, which are the same.

        Examples
        --------
        >>> open("biasalert", {}).runs("part:answers")
        True
        """
        if any(tag in self.reasons for tag in tags):
            return False
        left_out = self.parameters.left_out()
        reasons = [left_out[tag] for tag in tags if tag in left_out]
        if reasons:
            self.say(f"*Not part of this run: the parameter* `{reasons[0]}` *leaves it out.*")
        return not reasons

    def skip(self, tag: str, why: list[str]) -> None:
        """Leave a part out from here on, if there is a reason why; `skipped` tells it."""
        if why:
            self.reasons[tag] = why

    def skipped(self, tag: str) -> list[str]:
        """Return why the data leave a part out, in sentences; nothing where they do not."""
        return self.reasons.get(tag, [])

    def save(self, table: pd.DataFrame, name: str) -> pd.DataFrame:
        """Save a table and return it."""
        return tables.save_table(table, name, out=self.out)

    def save_all(self, results: Results) -> Results:
        """Save every table of a study's results under its name, and return them."""
        for name, table in results._asdict().items():  # type: ignore[attr-defined]
            if table is not None:
                self.save(table, name)
        return results

    def table(
        self,
        table: reading.Table | pd.DataFrame,
        title: str | None = None,
        *,
        caption: str | None = None,
        save: str | None = None,
        **shown: Any,
    ) -> None:
        """Show a table; `save` keeps its rows under a name.

        One without rows is saved, and not shown.

        Parameters
        ----------
        table
            Rows, or a `reading.Table`, which brings its title and note along.
        title
            What the table says, in place of what it brings along.
        caption
            The name under which the study has a title and a note (`reading.caption`).
        save
            The file's name without an ending.
        **shown
            As in `reading.show`: `note`, `labels`, `decimals`, `gap`.
        """
        whole = table if isinstance(table, reading.Table) else reading.Table(table, title or "")
        if caption is not None:
            whole = reading.caption(whole.rows, study=self.study.stem, name=caption)
        whole = whole._replace(title=title or whole.title, **shown)
        if save:
            self.save(whole.rows, save)
        if len(whole.rows):
            display(reading.show(whole))

    def figure(self, drawn: reading.Drawn, name: str, *, show: bool = True) -> None:
        """Save a figure with the table that it draws and its words, and show it.

        A figure that leads the page (`lead`) need not be shown again; one without rows is not.
        """
        words = {"title": drawn.title, "caption": drawn.caption, "alt": drawn.alt}
        shown = tables.save_figure(drawn.figure, name, data=drawn.rows, out=self.out, words=words)
        if show and len(drawn.rows):
            display(shown)

    def result(self, sentence: str) -> None:
        """Say what a section found: on the page it is the section's heading; nothing if empty."""
        if sentence:
            display(Markdown(f"**{sentence}**"), metadata={"nbbias": "result"})

    def say(self, sentences: str | Iterable[str], *, most: int | None = 5) -> None:
        """Show sentences; several become a list, of which what is beyond `most` folds."""
        listed = sentences if isinstance(sentences, str) else list(sentences)
        if listed:
            display(reading.say(listed, most=most))

    def declared(self, estimates: pd.DataFrame, **further: pd.DataFrame | None) -> pd.DataFrame:
        """Show what the parameters declared, and save it as `claims`; all else is exploratory.

        Below stands how wrong a scorer would have to be for the findings to vanish; it is saved as
        `tipping_points` (`reading.tipping`), and read from the `further` tables, too.

        Returns
        -------
        DataFrame
            The declared rows (see `reading.claims.declared`), of which a lead speaks; all
            estimates where nothing was declared that the run measures.
        """
        confidence = self.inference.confidence
        rows = claims.declared(estimates, self.parameters.claims, confidence=confidence)
        pre_specified = self.parameters.pre_specified(dict(self.parameters))
        # Default claims that the run has no rows for are left out.
        here = pre_specified | ~rows["reason"].str.startswith(claims.NOT_HERE, na=False)
        if not here.any():
            self.say(claims.NOTHING_DECLARED)
            return estimates
        effects = reading.significance.minimum_detectable_effect(rows)
        self.save(rows.assign(minimum_detectable_effect=effects), "claims")
        shown = rows[here]
        display(reading.show(claims.tabulate(shown, pre_specified=pre_specified)))
        points = tipping.tipping_points(rows, estimates, **further)
        if errors := tipping.sentences(self.save(points, "tipping_points"), rows):
            display(reading.say(errors, most=0, summary=tipping.SUMMARY))
        self.say(claims.EXPLORATORY)
        return rows

    def texts(self) -> Texts:
        """Say where the texts of this run are from."""
        return studies.texts(self.study, self.parameters)

    def lead(self, lead: reading.Lead) -> None:
        """Save and show what leads the page; where nothing was declared, it is exploratory."""
        if not self.parameters.claims:
            lead = lead._replace(
                plain=tuple(dict.fromkeys([*lead.plain, claims.ALL_EXPLORATORY])),
                technical=f"Exploratory, no test was pre-specified: {lead.technical}",
            )
        content = reading.lead.to_dict(lead)
        tables.save_finding(content, out=self.out)
        figure = tables.figure_html(self.out, lead.figure)
        display(HTML(reading.lead.render(content, figure=figure)), metadata={"nbbias": "lead"})

    def provenance(self) -> None:
        """Show the study's measurement card, and how its methods did in simulated studies."""
        self.table(reading.cards.card(self.study.stem))
        self.table(reading.cards.calibrated(self.study.stem))


def open(stem: str, namespace: Mapping[str, Any]) -> Notebook:
    """Open a study's notebook: check its parameters, set the figures' style, name its folder.

    Parameters
    ----------
    stem
        The study, such as ``"cogs"``.
    namespace
        The notebook's ``globals()``, in which its parameters stand.

    Raises
    ------
    ParameterError
        All parameters that are not as the study's model has them, at once.

    Examples
    --------
    >>> from nbbias import notebook
    >>> nb = notebook.open("llmbi", {"seed": 200})
    >>> nb.inference.seed, nb.parameters.lambda_factor
    (200, 1.5)
    """
    # A kernel that is shut down while it writes would log a traceback to the terminal.
    logging.getLogger("tornado.general").setLevel(logging.CRITICAL)
    parameters = studies.check(stem, namespace)
    figures.use_style()
    out = tables.folder(stem, name_differences(parameters))
    return Notebook(studies.study(stem), parameters, out, analysis_sha256(parameters), {})
