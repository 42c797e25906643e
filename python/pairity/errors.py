"""The one exception that a user's mistake raises."""


class PairityError(ValueError):
    """What was given cannot be used; the message names it and says what to do."""
