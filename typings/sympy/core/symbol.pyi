from .basic import Expr

class Symbol(Expr):
    name: str
    def __new__(cls, name: str, **assumptions: bool | None) -> Symbol: ...

class Dummy(Symbol):
    def __new__(cls, name: str = ..., **assumptions: bool | None) -> Dummy: ...
