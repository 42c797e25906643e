"""The one error class for mistakes a user can repair."""


class PairityError(ValueError):
    """Something in the input or the settings is wrong; the message says what it is and what to do."""
