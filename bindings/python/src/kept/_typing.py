"""What `typing` must give at run time: importing it takes longer than opening a store and reading a value.

A type checker sees `typing` itself. At run time no annotation is evaluated, so decorators and base classes suffice.
Modules that are imported at their first use import `typing`.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Generic as Generic
    from typing import TypeVar as TypeVar
    from typing import final as final
    from typing import overload as overload
else:
    from types import GenericAlias

    class Generic:
        """A base for classes with type parameters: `Key[int]` makes the same as `Key`."""

        __class_getitem__ = classmethod(GenericAlias)

    def TypeVar(name):
        """Fills the brackets of a base class."""
        return name

    def final(kind):
        """Marks the class as `typing.final` does."""
        kind.__final__ = True
        return kind

    def overload(function):
        """The implementation that follows takes the function's place."""
        return function
