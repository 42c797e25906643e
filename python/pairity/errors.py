"""What pairity raises when what it was given cannot be used."""


class PairityError(ValueError):
    """A mistake in what the user gave; the message names it and says what to do."""
