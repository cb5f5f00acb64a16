"""What `nbbias lab` shows, and that nothing of it is left when it is ended, however that is."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import psutil
import pytest

from nbbias.pages import share

pytestmark = pytest.mark.slow

_OPTIONS = {
    "IdentityProvider.token": "",
    "ServerApp.allow_root": True,
    "ServerApp.ip": "127.0.0.1",
    "ServerApp.disable_check_xsrf": True,
    "ServerApp.port_retries": 0,
}


def asked(address: str, body: dict[str, Any] | None = None) -> Any:
    """What JupyterLab answers; None where nobody does."""
    data = None if body is None else json.dumps(body).encode()
    try:
        return json.load(urllib.request.urlopen(urllib.request.Request(address, data), timeout=10))
    except ConnectionError:
        return None
    except urllib.error.URLError as error:
        if isinstance(error, urllib.error.HTTPError):
            raise
        return None


def _all_signals() -> None:
    """Hear every signal: a process of `nohup`, or in the background, hears some no more."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("ending", ["SIGTERM", "SIGKILL"])
def test_what_ends_lab_ends_jupyterlab_and_its_kernels(ending: str, tmp_path: Path) -> None:
    share.new(tmp_path / "mine")
    (tmp_path / "mine" / "runs").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--{name}={value}" for name, value in _OPTIONS.items()]
    lab = subprocess.Popen(
        [*(sys.executable, "-m", "nbbias", "lab", "--no-browser", f"--port={port}"), *options],
        cwd=tmp_path / "mine",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_all_signals,
    )
    address = f"http://127.0.0.1:{port}/api"
    began: list[psutil.Process] = []
    try:
        for _ in range(240):
            if asked(address) or lab.poll() is not None:
                break
            time.sleep(0.5)
        shown = {one["name"] for one in asked(f"{address}/contents")["content"]}
        assert {"notebooks", "params", "runs"} <= shown
        asked(f"{address}/kernels", {"name": "nbbias"})
        while not began:
            began = psutil.Process(lab.pid).children(recursive=True)
        lab.send_signal(getattr(signal, ending))
        lab.wait(timeout=60)
        assert psutil.wait_procs(began, timeout=30)[1] == []
        assert asked(address) is None
    finally:
        lab.kill()
        for one in began:
            if one.is_running():
                one.kill()
