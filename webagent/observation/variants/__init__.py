"""The forms in which the same page can be shown to a model, chosen by one setting."""

from webagent.observation.variants.registry import VARIANTS, Variant, variant_named
from webagent.observation.variants.source import (
    PAGE_FUNCTIONS,
    AccessibilityTree,
    Source,
    variant_script,
)

__all__ = [
    "PAGE_FUNCTIONS",
    "VARIANTS",
    "AccessibilityTree",
    "Source",
    "Variant",
    "variant_named",
    "variant_script",
]
