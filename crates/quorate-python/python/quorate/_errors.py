"""The exceptions of the package. A false signature raises none of them: it is a verdict, or ``False``."""


class Error(Exception):
    """The base of all exceptions of this package."""


class DecodeError(Error, ValueError):
    """Bytes that are no key, no signature or no share. The message says which, and what is wrong with them."""


class TableError(Error, ValueError):
    """A table that holds no claims, or cannot be read on."""


class UsageError(Error, ValueError):
    """A call that cannot be answered: a suite that does not exist, a sum of nothing."""


class MemberError(Error, IndexError):
    """A member that is not in a key set."""


class UndecidedError(Error, RuntimeError):
    """An internal error: nothing proved or refuted a claim. Please report it."""
