"""From prompts to recorded answers: nothing lost, nothing paid twice."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
