"""What an answer works out when it is asked for, and then keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class kept(Generic[T]):
    """A property that is worked out once for each object.

    As `functools.cached_property`, without the lock that Python 3.11 takes for it: two threads
    that ask at once may both work it out, and both get the same.

    Args:
        function: Of the object.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, one: None, owner: type) -> Self: ...

    @overload
    def __get__(self, one: object, owner: type) -> T: ...

    def __get__(self, one: object | None, owner: type) -> Self | T:
        if one is None:
            return self
        # Python looks here before it asks a property that cannot be set.
        value = one.__dict__[self.name] = self.function(one)
        return value
