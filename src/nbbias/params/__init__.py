"""Strict parameters: read from YAML, refused with every error at once, described."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
