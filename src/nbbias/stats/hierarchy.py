"""Models on one scale: crossed effects of models, outlets and prompts, over articles.

Plain means of models are compared as if each stood alone: the model with the fewest or noisiest
texts lands at an end of the ranking, first or last. Here models are taken as drawn from one
population, prompts and outlets likewise, and the articles, which all models share, are taken out;
means are pulled together as far as they cannot be told apart, and a rank has a probability.

    y = μ + model + prompt + outlet + model × prompt + model × outlet
          + article + model × article + e

Every term is normal with a variance of its own (half-Cauchy on its standard deviation, half that
of the values wide). The posterior is drawn by a blocked Gibbs sampler, exactly but for the number
of draws: of crossed effects statsmodels gives neither draws nor, for thousands of values, a fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.stats.sure import Sure

#: What must be equal for values to be compared, where a table has it.
KEYS = ("measure", "bias", "group", "instrument")

#: Draws that are kept, and those before them that are not.
_KEPT, _BURNT = 2000, 300

#: Ratio of variances of two halves of the draws, and between them, above which they are not told.
_SETTLED = 1.1

_COLUMNS = [
    "model", "plain", "estimate", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "worst",
    "n", "articles", "reason",
]  # fmt: skip


class Hierarchy(NamedTuple):
    """`ranks`: a row a model; `spreads`: what share of the variance is whose; see `hierarchy`."""

    ranks: pd.DataFrame
    spreads: pd.DataFrame


def hierarchy(
    units: pd.DataFrame, *, value: str, sure: Sure, worst: str = "apart",
    crossed: Sequence[str] = ("prompt", "source"),
) -> Hierarchy:  # fmt: skip
    """Rank models by a crossed hierarchical model, beside their plain means.

    Parameters
    ----------
    units
        One row per model and article (and `crossed`): `model`, `article_id`, the value; repeats of
        a row are averaged first. Articles of two outlets (`source`) with one id are two.
    value
        The column; NaN are left out.
    sure
        Level of the intervals, and the start of the draws.
    worst
        ``"apart"``: the worst mean is the one furthest from 0; ``"higher"``: the highest.
    crossed
        Further columns whose levels are effects, and interact with models; those with one level
        have none.

    Returns
    -------
    ranks : DataFrame
        By `KEYS`, a row per model: `plain`, its mean over all its values; `estimate`, its mean over
        the same prompts and outlets for all (the levels that there are, those that it lacks drawn
        from what models differ by there), with its posterior interval; `rank`, expected (1: worst)
        with `rank_low`, `rank_high`; `worst`, the probability that no model is worse; `n` values,
        `articles`; `reason`, why there is none.
    spreads : DataFrame
        By `KEYS`, a row per term: `term`, `levels`, `sd` (posterior median), `sd_low`, `sd_high`
        and `share` of the variance of one value (mean). Few levels say little of a spread.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> rows = [{"model": m, "article_id": a, "value": d + rng.normal(0, 0.3)}
    ...         for m, d in (("far", 0.5), ("near", 0.1), ("even", 0.0)) for a in range(40)]
    >>> found = hierarchy(pd.DataFrame(rows), value="value", sure=Sure(seed=1), crossed=[])
    >>> found.ranks.set_index("model")["worst"].idxmax(), float(found.ranks["worst"].sum())
    ('far', 1.0)
    """
    tables.need(units, ["model", "article_id", value], where="units")
    keys = [key for key in KEYS if key in units]
    groups = units.groupby(keys, sort=False, dropna=False) if keys else [((), units)]
    ranks, spreads = [], []
    for number, (key, own) in enumerate(groups):
        named = dict(zip(keys, key, strict=True))
        rng = np.random.default_rng([sure.seed, number])
        one = _one(own, value, [name for name in crossed if name in own], rng, sure, worst)
        ranks.append(one.ranks.assign(**named))
        spreads.append(one.spreads.assign(**named))
    return Hierarchy(_joined(ranks, [*keys, *_COLUMNS]), _joined(spreads, [*keys, *_SPREAD]))


_SPREAD = ["term", "levels", "sd", "sd_low", "sd_high", "share"]


def _joined(parts: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    if not parts:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(parts, ignore_index=True)[list(columns)]


def _one(
    own: pd.DataFrame, value: str, crossed: list[str], rng: np.random.Generator, sure: Sure,
    worst: str,
) -> Hierarchy:  # fmt: skip
    article = ["source", "article_id"] if "source" in own else ["article_id"]
    by = list(dict.fromkeys(["model", *article, *crossed]))
    kept = own[own[value].notna()].groupby(by, sort=False, observed=True)[value].mean()
    table = kept.reset_index()
    models = sorted(own["model"].astype(str).unique())
    plain = table.groupby("model")[value].agg(["mean", "size"]).reindex(models)
    base = pd.DataFrame({"model": models, "plain": plain["mean"].to_numpy(),
                         "n": plain["size"].fillna(0).to_numpy(int)})  # fmt: skip
    base["articles"] = [
        len(table.loc[table["model"].astype(str) == name, article].drop_duplicates())
        for name in models
    ]
    reason = _why_not(table, value, article)
    if reason is None:
        terms = _Terms(table, value, crossed, article)
        draws = terms.draw(rng, worst=worst)
        if draws.settled > _SETTLED:
            reason = "the draws did not settle"
    if reason is not None:
        return Hierarchy(base.assign(reason=reason).reindex(columns=_COLUMNS),
                         pd.DataFrame(columns=_SPREAD))  # fmt: skip
    ends = [(1 - sure.confidence) / 2, (1 + sure.confidence) / 2]
    means, rank = draws.means, draws.ranks
    low, high = np.quantile(means, ends, axis=0)
    rank_low, rank_high = np.quantile(rank, ends, axis=0)
    told = pd.DataFrame({
        "model": terms.levels["model"], "estimate": means.mean(axis=0), "ci_low": low,
        "ci_high": high, "rank": rank.mean(axis=0), "rank_low": rank_low, "rank_high": rank_high,
        "worst": (rank == 1).mean(axis=0),
    })  # fmt: skip
    ranks = base.merge(told, on="model", how="left")
    ranks["reason"] = ["no value was measured" if gap else None for gap in ranks["estimate"].isna()]
    squares = draws.sds**2
    sd_low, sd_high = np.quantile(draws.sds, ends, axis=0)
    spreads = pd.DataFrame({
        "term": draws.names, "levels": draws.levels, "sd": np.median(draws.sds, axis=0),
        "sd_low": sd_low, "sd_high": sd_high,
        "share": (squares / squares.sum(axis=1, keepdims=True)).mean(axis=0),
    })  # fmt: skip
    return Hierarchy(ranks[_COLUMNS], spreads)


def _why_not(table: pd.DataFrame, value: str, article: list[str]) -> str | None:
    if table["model"].nunique() < 2:
        return "fewer than two models have a value"
    if len(table[article].drop_duplicates()) < 5:
        return "needs five articles"
    spread = table[value].to_numpy(float)
    if np.ptp(spread) <= 1e-12 * max(1.0, np.abs(spread).max()):
        return "all values are alike"
    return None


class _Draws(NamedTuple):
    """Draws by models (`means`, `ranks`) and by terms (`sds`), and how well they settled."""

    means: np.ndarray
    ranks: np.ndarray
    sds: np.ndarray
    names: list[str]
    levels: list[int]
    settled: float


class _Terms:
    """The design: small crossed terms as columns, articles and models' articles as blocks."""

    def __init__(
        self, table: pd.DataFrame, value: str, crossed: list[str], article: list[str]
    ) -> None:
        known = {name: table[name].astype(str) for name in ("model", *crossed)}
        crossed = [name for name in crossed if known[name].nunique() > 1]
        self.levels: dict[str, list[str]] = {
            name: sorted(known[name].unique()) for name in ("model", *crossed)
        }
        code = {name: pd.Index(of).get_indexer(known[name]) for name, of in self.levels.items()}
        self.models = len(self.levels["model"])
        columns: list[tuple[str, np.ndarray, int]] = [("model", code["model"], self.models)]
        for name in crossed:
            columns.append((name, code[name], len(self.levels[name])))
        for name in crossed:
            size = len(self.levels[name])
            columns.append((f"model × {name}", code["model"] * size + code[name],
                            self.models * size))  # fmt: skip
        self.names = [name for name, _, _ in columns]
        self.sizes = [size for _, _, size in columns]
        self.y = table[value].to_numpy(float)
        self.centre, self.scale = self.y.mean(), self.y.std()
        whole = [np.ones((len(table), 1))]
        whole += [np.eye(size)[at] for _, at, size in columns]
        self.x = np.hstack(whole)
        unit = pd.factorize(pd.MultiIndex.from_frame(table[article].astype(str)))[0]
        cell = unit * self.models + code["model"]
        self.cell, cells = pd.factorize(cell, sort=True)
        self.of_cell = cells // self.models  # the article of every cell, in order
        self.cells, self.articles = len(cells), int(unit.max()) + 1
        # A model's own articles can be told from its residuals where it has several values of one.
        self.nested = self.cells < len(table)
        self.n = np.bincount(self.cell, minlength=self.cells).astype(float)
        self.first = np.flatnonzero(np.diff(self.of_cell, prepend=-1))  # of each article's cells
        self.sums = np.zeros((self.cells, self.x.shape[1]))
        np.add.at(self.sums, self.cell, self.x)
        self.gram = self.x.T @ self.x
        z = (self.y - self.centre) / self.scale
        self.z, self.xz, self.zsum = z, self.x.T @ z, np.bincount(self.cell, z, self.cells)
        self.contrast = self._contrasts()

    def _contrasts(self) -> np.ndarray:
        """Return what a model's mean is of the terms: over all levels of prompt and outlet."""
        rows = np.zeros((self.models, self.x.shape[1]))
        rows[:, 0] = 1
        at = 1
        for name, size in zip(self.names, self.sizes, strict=True):
            if name == "model":
                rows[:, at : at + size] = np.eye(self.models)
            elif name.startswith("model × "):
                each = size // self.models
                for model in range(self.models):
                    rows[model, at + model * each : at + (model + 1) * each] = 1 / each
            else:
                rows[:, at : at + size] = 1 / size
            at += size
        return rows

    def draw(self, rng: np.random.Generator, *, worst: str) -> _Draws:
        """Draw from the posterior: all crossed effects at once, articles integrated out."""
        names = [*self.names, "article", *(["model × article"] if self.nested else []), "residual"]
        variance = dict.fromkeys(names, 0.1) | {"residual": 0.7}
        apart = dict.fromkeys(names, 1.0)
        kept, sds = np.empty((_KEPT, self.models)), np.empty((_KEPT, len(names)))
        where = np.repeat(np.arange(len(self.sizes)), self.sizes)
        for step in range(-_BURNT, _KEPT):
            noise = variance["residual"]
            own = variance.get("model × article", 0.0)
            k = own / (noise + own * self.n)  # what a cell's own effect takes of its sums
            left = (1 - k * self.n) / noise
            prior = np.array([1e-6, *(1 / variance[self.names[i]] for i in where)])
            weight = np.bincount(self.of_cell, self.n * left, self.articles)
            pull = 1 / (1 / variance["article"] + weight)
            by_article = np.add.reduceat(self.sums * left[:, None], self.first)
            of_z = np.bincount(self.of_cell, self.zsum * left, self.articles)
            precision = (
                self.gram / noise - (self.sums.T * (k / noise)) @ self.sums
                - (by_article.T * pull) @ by_article + np.diag(prior)
            )  # fmt: skip
            right = (
                self.xz / noise - self.sums.T @ (k / noise * self.zsum)
                - by_article.T @ (pull * of_z)
            )  # fmt: skip
            root = np.linalg.cholesky(precision)
            mean = np.linalg.solve(precision, right)
            beta = mean + np.linalg.solve(root.T, rng.standard_normal(len(mean)))
            rest = self.zsum - self.sums @ beta
            toward = np.bincount(self.of_cell, rest * left, self.articles)
            article = pull * toward + np.sqrt(pull) * rng.standard_normal(self.articles)
            cell = np.zeros(self.cells)
            if self.nested:
                after = rest - self.n * article[self.of_cell]
                firm = 1 / (1 / own + self.n / noise)
                cell = firm * after / noise + np.sqrt(firm) * rng.standard_normal(self.cells)
            error = self.z - self.x @ beta - (article[self.of_cell] + cell)[self.cell]
            effects = dict(zip(self.names, np.split(beta[1:], np.cumsum(self.sizes)[:-1]),
                               strict=True))  # fmt: skip
            effects |= {"article": article, "residual": error}
            effects |= {"model × article": cell} if self.nested else {}
            for name, values in effects.items():
                half = (len(values) + 1) / 2
                rate = values @ values / 2 + 1 / apart[name]
                variance[name] = max(rate / rng.standard_gamma(half), 1e-10)
                # Half-Cauchy of scale 1/2 on the standard deviation, as a mixture.
                apart[name] = (1 / variance[name] + 4.0) / rng.standard_gamma(1.0)
            if step >= 0:
                kept[step] = self.contrast @ beta
                sds[step] = [np.sqrt(variance[name]) for name in names]
        means = self.centre + self.scale * kept
        bad = np.abs(means) if worst == "apart" else means
        ranks = (-bad).argsort(axis=1).argsort(axis=1) + 1
        counts = dict(zip(self.names, self.sizes, strict=True))
        counts |= {"article": self.articles, "model × article": self.cells}
        counts |= {"residual": len(self.y)}
        return _Draws(means, ranks, self.scale * sds, names, [counts[n] for n in names],
                      _settled(means))  # fmt: skip


def _settled(draws: np.ndarray) -> float:
    """Return the largest split R-hat over models: 1 where both halves tell one posterior."""
    halves = np.stack(np.array_split(draws[: len(draws) // 4 * 4], 4))
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    return float(np.sqrt((1 + between / within).max()))
