from typing import Any

from .basic import Expr

class UndefinedFunction(type):
    name: str
    is_positive: bool | None
    is_nonnegative: bool | None
    is_negative: bool | None
    is_real: bool | None
    is_integer: bool | None
    def __call__(cls, *args: Any) -> AppliedUndef: ...

class AppliedUndef(Expr):
    name: str
    @property
    def args(self) -> tuple[Expr, ...]: ...
    @property
    def func(self) -> Any: ...

class Lambda(Expr):
    def __new__(cls, signature: Any, expr: Any) -> Lambda: ...
    def __call__(self, *args: Any) -> Any: ...
