"""What a process may do: root passes by the modes of folders, unless it gives that up."""

import ctypes
import os


def unprivileged() -> None:
    """Let root obey what a folder's mode says, as all others must."""
    if os.geteuid() == 0:
        drop, overrides, searches = 24, 1, 2
        for capability in (overrides, searches):
            assert ctypes.CDLL(None).prctl(drop, capability, 0, 0, 0) == 0
