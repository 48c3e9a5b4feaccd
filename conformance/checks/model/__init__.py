"""One portal behind all its answers: checks that compare what several answers say of the same thing."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
