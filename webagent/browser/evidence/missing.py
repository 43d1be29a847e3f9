"""Why a piece of evidence is not there."""


class Uncaptured(Exception):
    """What was to be captured could not be; the text says why. Ends in the evidence, not above."""
