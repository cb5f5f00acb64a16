"""Bias as a test: a study is run once a session, and must not be worse than an accepted run.

pytest loads this module where nbbias is installed. `nbbias_run` is a fixture: a function that takes
the arguments of `nbbias run` and returns the run's folder.

Examples
--------
>>> def test_bias(nbbias_run):
...     assert_not_worse(nbbias_run("bias.yaml"), "accepted/llmbi/bias", margin=0.15)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from nbbias.pages.gate import Gate

__all__ = ["assert_not_worse", "nbbias_run"]


def assert_not_worse(
    current: str | Path,
    baseline: str | Path,
    *,
    margin: float | None = None,
    claims: list[int] | None = None,
    look: int | None = None,
) -> Gate:
    """Fail unless every claim of a run is shown to be not worse than in an accepted run.

    Parameters
    ----------
    current, baseline
        The folders of two finished runs.
    margin, claims, look
        As of `nbbias gate`. Without a margin the assertion fails, and says whether a claim is
        worse at all.

    Returns
    -------
    Gate
        `rows`, a row for each claim, `headline` and `remarks`.

    Raises
    ------
    AssertionError
        A claim is worse, or the result is inconclusive: the message says which, with the number
        of units that would suffice.
    NbbiasError
        The runs cannot be compared.

    Examples
    --------
    >>> assert_not_worse("runs/llmbi/new", "accepted/llmbi/new", margin=0.15)
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.NbbiasError: accepted/llmbi/new: holds no finished run...
    """
    __tracebackhide__ = True
    from nbbias.pages import gate

    result = gate.gate(Path(current), Path(baseline), margin=margin, claims=claims, look=look)
    if result.status:
        raise AssertionError(gate.plain(result))
    return result


@pytest.fixture(scope="session")
def nbbias_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that runs a study once a session, and returns the run's folder.

    Its arguments are those of `nbbias run`: a params file, or a study and its files; a grid is
    refused. Answers that a params file has to query are queried.
    """
    out = tmp_path_factory.mktemp("nbbias")

    @cache
    def run_study(*targets: str | Path, overrides: tuple[str, ...] = ()) -> Path:
        from nbbias import asking, reading, running, tables

        outcomes: list[running.run.Outcome] = []
        try:
            paths, stem, files = running.user_files.parse_targets([str(one) for one in targets])
            if stem:
                files = [str(Path(file).absolute()) for file in files]
                plan = running.user_files.plan_files
                runs = plan(stem, files, overrides=overrides, out=out, folder=out).runs
            else:
                runs = running.plan.plan(paths, overrides=overrides, out=out)
            calls = [run.calls for run in runs if run.calls]
            if any(asking.view.complete(one, reading.Terminal(stderr=True)) for one in calls):
                pytest.fail("answers are missing", pytrace=False)
            running.run.run(runs, out=out, jobs=1, report=lambda _, one: outcomes.append(one))
        except tables.NbbiasError as error:
            pytest.fail(str(error), pytrace=False)
        if any(one["status"] != "ok" for one in outcomes) or len(runs) > 1:
            said = [f"{one['status']}: {one.get('message', '')}" for one in outcomes]
            pytest.fail(f"{len(runs)} runs, of which one must end well: {said}", pytrace=False)
        return runs[0].folder

    return run_study
