"""Checks of what lets somebody in: sign-in, tokens, account security and the secure channel."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
