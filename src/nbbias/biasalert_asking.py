"""How a judge is asked: by the transport of `nbbias generate`, each prompt once and for good."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from tqdm.auto import tqdm

from nbbias import biasalert_prompt, generate, generate_params, outputs, recorded
from nbbias.asking_loop import Tally


class Reply(NamedTuple):
    """What came back for one prompt; `text` is None where nothing did, and `error` says why."""

    text: str | None
    refusal: str = ""
    error: str | None = None


def reply(text: object, refusal: object = None, error: object = None) -> Reply:
    """Return a reply from a table's cells, in which a gap may be NaN."""
    said, refused, told = (one if isinstance(one, str) else None for one in (text, refusal, error))
    return Reply(said, refused or "", told)


#: Takes distinct prompts and returns as many replies; None where there was none.
Ask = Callable[[list[str]], Sequence[Reply | str | None]]


def asker(
    model: str,
    *,
    store_path: str | Path,
    structured: bool = False,
    again: bool = False,
    **asking: Any,
) -> Ask:
    """Return a function that asks a model by the transport of `nbbias generate`; see `judge`."""
    settings: dict[str, Any] = {"temperature": 0.0, "max_tokens": 400} | asking
    if structured:
        settings.setdefault("response_schema", biasalert_prompt.schema())
    if model.startswith("hf/") and settings["temperature"] == 0:  # it samples unless told not to
        settings |= {"temperature": None}
        settings["model_args"] = {"do_sample": False} | settings.get("model_args", {})

    def ask(prompts: list[str]) -> list[Reply]:
        ids = [f"{number:07d}" for number in range(len(prompts))]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "prompts.parquet"
            outputs.write_parquet(pd.DataFrame({"prompt_id": ids, "prompt": prompts}), path)
            block = {
                "models": [model], "prompts": "table", "prompts_path": str(path),
                "store_path": str(store_path), **settings,
            }  # fmt: skip
            plan = generate.plan(generate_params.block(block, where="judge"), where="judge")
        tally = _asked(plan, again=again)
        answers = recorded.table(plan).set_index("prompt_id").loc[ids]
        stopped = f"not asked, since asking stopped: {tally.stopped or 'no reason told'}"
        return [
            reply(row.text, row.refusal, stopped if row.error == "not asked yet" else row.error)
            for row in answers.itertuples()
        ]

    return ask


def _asked(plan: generate.Plan, *, again: bool) -> Tally:
    """Ask a plan, with a bar; in a thread of its own where a notebook's loop runs in this one."""
    ended = threading.Event()
    with tqdm(desc="judging", leave=False, disable="NBBIAS_OUT" in os.environ or None) as bar:

        def listen(tally: Tally) -> None:
            bar.total, bar.n = tally.total, tally.done
            bar.refresh()
            if ended.is_set():
                raise InterruptedError("stopped by the user; answers so far are recorded")

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return generate.ask(plan, again=again, listen=listen)
        with ThreadPoolExecutor(max_workers=1) as thread:
            try:
                return thread.submit(generate.ask, plan, again=again, listen=listen).result()
            except KeyboardInterrupt:
                ended.set()
                raise
