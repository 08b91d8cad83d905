from typing import Any

from .basic import Expr

class Number(Expr): ...

class Float(Number):
    def __new__(cls, num: Any, precision: int = ...) -> Float: ...

class Rational(Number):
    p: int
    q: int
    numerator: int
    denominator: int
    def __new__(cls, p: Any, q: Any = ...) -> Rational: ...

class Integer(Rational):
    def __new__(cls, i: Any) -> Integer: ...
    def __index__(self) -> int: ...

class NumberSymbol(Expr): ...
