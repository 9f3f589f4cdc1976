"""Formulas over cells, such as "(vista / xp - 1) * 100", evaluated with intervals.

A formula knows + - * / and brackets, numbers, names, and min(...) and max(...). Each name may occur
once: then the interval that comes out is exactly the range of the formula (see `interval`).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache

from pentathlon.literature.interval import Interval
from pentathlon.literature.problems import PublishedError

_OPERATIONS: dict[type[ast.operator], Callable[[Interval, Interval], Interval]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


class Formula:
    """A checked formula.

    Attributes:
        text: as written.
        names: its names, in order of appearance.

    Raises:
        PublishedError: the text is no formula, or a name occurs twice.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise PublishedError(f'"{text}" is no formula: {error.msg}') from error
        _check(self._tree, text)
        calls = {id(node.func) for node in ast.walk(self._tree) if isinstance(node, ast.Call)}
        found = [
            node.id
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Name) and id(node) not in calls
        ]
        twice = [name for name, count in Counter(found).items() if count > 1]
        if twice:
            raise PublishedError(
                f'"{text}" names {twice[0]} twice; write it so that each cell appears once, '
                "as only then the interval is exact"
            )
        self.names = tuple(found)

    def __call__(self, values: Mapping[str, Interval]) -> Interval:
        """The range of the formula over the given intervals.

        Raises:
            PublishedError: a name has no value, or a division has no bounds.
        """
        return _value(self._tree, values)


@cache
def formula(text: str) -> Formula:
    """The formula of a text, checked once.

    Raises:
        PublishedError: the text is no formula.
    """
    return Formula(text)


def _check(node: ast.expr, text: str) -> None:
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            _check(left, text)
            _check(right, text)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, text)
        case ast.Call(func=ast.Name(id="min" | "max"), args=[_, _, *_] as args, keywords=[]):
            for one in args:
                _check(one, text)
        case ast.Name():
            pass
        case ast.Constant(value=(int() | float()) as value) if not isinstance(value, bool):
            pass
        case _:
            raise PublishedError(
                f'"{text}" is no formula; it may hold numbers, names, + - * / ( ), min and max'
            )


def _value(node: ast.expr, values: Mapping[str, Interval]) -> Interval:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATIONS[type(op)](_value(left, values), _value(right, values))
        case ast.UnaryOp(operand=operand):
            return -_value(operand, values)
        case ast.Call(func=ast.Name(id=name), args=args):
            parts = [_value(one, values) for one in args]
            choose = min if name == "min" else max
            return Interval(choose(p.low for p in parts), choose(p.high for p in parts))
        case ast.Constant(value=value):
            # str() of a float literal is the shortest text that gives it: 0.1 stays 1/10.
            return Interval.exact(Fraction(str(value)))
        case ast.Name(id=name):
            if name not in values:
                raise PublishedError(f"{name} has no value; known: {', '.join(values)}")
            return values[name]
    raise AssertionError(ast.dump(node))  # _check lets nothing else through
