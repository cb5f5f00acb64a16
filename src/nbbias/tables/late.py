"""Packages that take long to load, loaded when they are first used rather than when imported."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any


class _Late(ModuleType):
    """A module that runs its source when anything of it is asked for.

    `importlib.util.LazyLoader` would run it at the next import of the same name, too: what an
    import statement asks of a module that is there already is its `__spec__`, and no more.
    """

    def __getattribute__(self, name: str) -> Any:
        spec = super().__getattribute__("__spec__")
        if name == "__spec__":
            return spec
        object.__setattr__(self, "__class__", ModuleType)
        try:
            spec.loader.exec_module(self)
        except BaseException:
            sys.modules.pop(spec.name, None)  # as after any import that fails
            raise
        return getattr(self, name)


def late(*names: str) -> None:
    """Let packages be imported from now on without being loaded before something of them is used.

    Those that are loaded already, or are not installed, stay as they are. It is meant for a
    process that may end without them, before it starts threads.

    Examples
    --------
    >>> late("json")  # is loaded already
    """
    for name in names:
        spec = None if name in sys.modules else find_spec(name)
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            module.__class__ = _Late
            sys.modules[name] = module
