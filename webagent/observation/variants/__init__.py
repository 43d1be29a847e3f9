"""The forms in which the same page can be shown to a model, chosen by one setting."""

from webagent.observation.variants.registry import (
    PAGE_FUNCTIONS,
    VARIANTS,
    AccessibilityTree,
    CaptureSource,
    ObservationVariant,
    variant_named,
    variant_script,
)

__all__ = [
    "PAGE_FUNCTIONS",
    "VARIANTS",
    "AccessibilityTree",
    "CaptureSource",
    "ObservationVariant",
    "variant_named",
    "variant_script",
]
