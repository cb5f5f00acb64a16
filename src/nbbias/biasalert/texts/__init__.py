"""The texts of a run: labelled ones and answers, the sample, and counterfactual texts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
