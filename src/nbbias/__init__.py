"""Measure bias in text written by large language models, with intervals and null values.

Each study is a package with a function `measure`; modules are imported when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"
