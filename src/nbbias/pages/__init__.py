"""Finished runs as people see them: manifest, page, gallery, comparisons, archives."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
