"""The judges of bias, each a function from texts and evidence to JUDGEMENTS."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
