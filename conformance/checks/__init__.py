"""What a bystander with only the wire can judge: a file per chapter, and the registry of their checks."""

import importlib
import pkgutil

from conformance.checks.registry import CHECKS, READINGS, check, reading

__all__ = ["CHECKS", "READINGS", "check", "reading"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
