"""A run is killed at random moments: the last good run or the new one is there, whole."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from nbbias.pages import manifest
from tests.running.build import read_run

pytestmark = pytest.mark.nightly

MOMENTS = 12
MINE = {"my_picks.csv": b"mine"}


def begin(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "nbbias", "run", "own.yaml"]
    unheard = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, cwd=folder, start_new_session=True, **unheard)


@pytest.mark.timeout(3600)
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_killed_at_random_moments_nothing_is_lost(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("study: llmbi\ndraws: 100\n")
    place, started = tmp_path / "runs/llmbi/own", time.monotonic()
    assert begin(tmp_path).wait() == 0
    lasts = time.monotonic() - started
    for name, content in MINE.items():
        (place / name).write_bytes(content)
    whole, ended = read_run(place), {"old": 0, "new": 0}
    dice = random.Random(16)
    for number in range(MOMENTS):
        before = (place / manifest.NAME).read_bytes()
        process = begin(tmp_path)
        # Its last seconds, when page and manifest are written, are met as often as all others.
        after = dice.uniform(0, lasts) if number % 2 else dice.uniform(0.8, 1.05) * lasts
        time.sleep(after)
        family = _children(process.pid)
        if number % 4 < 2:
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _, alive = psutil.wait_procs(family, timeout=60)
        assert alive == [], f"lived on after {after:.1f} s"
        assert read_run(place) == whole
        now = (place / manifest.NAME).read_bytes()
        described = json.loads(now)
        assert described["status"] == "ok" and described["parameters"]["draws"] == 100
        ended["old" if now == before else "new"] += 1
    print(f"{MOMENTS} kills in runs of {lasts:.0f} s: {ended}")
    assert ended["old"] >= MOMENTS // 2
    assert begin(tmp_path).wait() == 0
    assert read_run(place) == whole
    assert [one.name for one in place.parent.iterdir() if one.is_dir()] == ["own"]


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
