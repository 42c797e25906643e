"""What a user's mistake raises, and what a user should hear of a result."""


class PairityError(ValueError):
    """What was given cannot be used; the message names it and says what to do."""


class PairityWarning(UserWarning):
    """The result is sound, but not all that was asked for."""
