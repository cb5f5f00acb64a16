"""From texts to numbers: sentences, group words, and the instruments, each with its name."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
