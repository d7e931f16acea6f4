"""The one kind of refusal."""


class HeadlightError(ValueError):
    """A request that cannot be met; its message is a sentence that says what to do instead."""
