"""Oscar's models of shipping, unchanged."""

from oscar.apps.shipping.models import *  # noqa: F403 - how Oscar's applications are replaced
