"""What a table is, how it is read, checked, kept and written; knows no text and no study."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
