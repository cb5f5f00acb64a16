"""Does an answer refuse? Told offline, with the instrument's own error rates beside it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
