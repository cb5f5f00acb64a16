"""Calibration: how often each measure of this package is wrong, and what it can detect."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
