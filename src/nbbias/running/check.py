"""One model checked: its prompts, its calls and its study in a params file, from a single line."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from nbbias import counterfactual, studies, tables
from nbbias.asking import prompts as prompt_files
from nbbias.params import Study
from nbbias.running.plan import Run
from nbbias.running.user_files import plan_values
from nbbias.tables import SAMPLE, NbbiasError, ParameterError, notes, sniff

#: The study of prompts whose groups are exchanged, and the answers to each version by default.
_SWAPPED, _REPEATS = "counterfactual", 5

#: The columns of prompts that human texts have, by the names that articles have for them.
_ARTICLE = {"text": "reference", "article_id": "prompt_id", "source": "group"}


def plan_check(
    model: str,
    prompts: str = "",
    stem: str = "",
    *,
    swap: Collection[str] = (),
    repeats: int = 0,
    base_url: str = "",
    out: Path = Path("runs"),
) -> tuple[Path, list[Run]]:
    """Write the params file that asks a model and measures its answers, and plan its run.

    Parameters
    ----------
    model
        As inspect_ai names it.
    prompts
        A table with `prompt` and, if there are any, `id`, `group` and `reference` (a human text).
        By default those that the study brings.
    stem
        The study; by default llmbi, and news_bias where there are references.
    swap
        Biases whose groups are exchanged in the prompts: the study is counterfactual.
    repeats
        Answers to each prompt; 0: 5 with `swap`, else 1.
    base_url
        Of a compatible server.
    out
        The folder of all runs; the params file is written to the current one.

    Raises
    ------
    NbbiasError
        Everything that makes the run impossible; nothing was asked.
    """
    if model.endswith((".yaml", ".yml")):
        hint = "is not a model; `nbbias run` runs params files, and checks them before it starts"
        raise ParameterError(model, hint)
    tables.require_packages("inspect_ai", where=f"asking {model}")
    path, columns, table = SAMPLE, dict[str, str](), pd.DataFrame()
    if swap and not (prompts and stem in ("", _SWAPPED)):
        raise ParameterError("--swap", f"is of --study {_SWAPPED}, and needs --prompts")
    if prompts:
        path = sniff.detect(prompts)
        with tables.record_reads() as readings:
            table = tables.read_table(path, prompt_files.SUITE)
        columns = readings[-1].columns
    stem = _SWAPPED if swap else stem or ("news_bias" if "reference" in columns else "llmbi")
    study = studies.study(stem, where="--study")
    if stem == _SWAPPED and not swap:
        raise ParameterError("--study", f"{stem} needs --swap, such as --swap gender,race")
    parts = [model, *[Path(prompts).stem] * bool(prompts), *swap]
    base = "+".join(re.sub(r"[^\w.-]+", "-", part) for part in parts)
    export = f"answers/{base}.parquet"
    note, is_new = "", False
    if study.stem == _SWAPPED:
        paths, path = {"answers_path": export}, f"answers/{base}.csv"
        is_new = not Path(path).exists()
        note = _write_versions(table, swap, where=prompts, path=Path(path))
    else:
        paths = _name_inputs(study, path, columns, export)
    block = {
        "models": [model],
        "prompts": "table" if prompts else next(iter(study.prompts)),
        "prompts_path": path,
        "base_url": base_url,
        "export_path": export,
        **({"replicates": repeats or _REPEATS} if repeats or swap else {}),
    }
    try:
        written, runs = plan_values(
            {"study": study.stem, **paths, "generate": block},
            study.choose_settings(dict.fromkeys(paths, 0)),
            head=f"# nbbias check {model}",
            path=Path(f"{base}.yaml"),
            out=out,
        )
    except NbbiasError:
        if is_new:  # the file of versions
            Path(path).unlink()
        raise
    for run in runs if note else ():
        run.calls = run.calls and run.calls._replace(notes=(*run.calls.notes, note))
    return written, runs


def _write_versions(prompts: pd.DataFrame, swap: Collection[str], *, where: str, path: Path) -> str:
    """Write the versions of prompts to a file, which can be read before they are asked."""
    prompts = prompt_files.check_prompts(prompts, where=where)
    table = counterfactual.swap_prompts(prompts, swap, where=where)
    tables.write(path, table.to_csv(index=False))
    n_prompts, groups = table["unit"].nunique(), f"a group of {', '.join(swap)}"
    counted = f"{n_prompts} of {len(prompts)} prompts name {groups}, with {len(table)} versions"
    return f"{path}: {counted}; the others are not asked"


def _name_inputs(study: Study, path: str, columns: dict[str, str], export: str) -> dict[str, str]:
    """Return the parameters that name what a study reads: the answers, and human texts."""
    group = "group" in columns
    if "originals_path" in study.inputs:
        if "reference" not in columns:
            message = f"{study.stem} compares answers with human texts: "
            raise ParameterError("--prompts", message + "name a table with a column reference")
        originals = {name: columns[of] for name, of in _ARTICLE.items() if of in columns}
        answers = {"prompt": "", **({"source": "group"} if group else {})}
        generations = notes.add(export, answers)
        return {"originals_path": notes.add(path, originals), "generations_path": generations}
    if "answers_path" not in study.inputs:
        raise ParameterError("--study", f"{study.stem} measures no answers")
    if not (columns or study.prompts):
        raise ParameterError("--prompts", f"{study.stem} brings no prompts; name yours")
    dimension = {"dimension": "group" if group else "source"} if study.stem == "llmbi" else {}
    return {"answers_path": notes.add(export, dimension if columns else {})}
