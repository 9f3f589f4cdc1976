"""Why a JSON object is no event of its kind, as the end of a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pentathlon.protocol.messages.base import Expected
from pentathlon.safeio.clipping import described

OUT_OF_RANGE: Final = frozenset({"greater_than_equal", "less_than_equal", "finite_number"})

KINDS: Final = {
    "bool_type": "true or false",
    "bytes_type": "bytes",
    "dict_type": "an object",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a text",
    "tuple_type": "a list",
}
"""Pydantic's name of an error -> what would be right."""


class WrongEvent(ValueError):
    """A JSON object that is no event of its kind; the text is the end of a sentence.

    Attributes:
        event: the name of the event.
    """

    def __init__(self, reason: str, event: str = "") -> None:
        super().__init__(reason)
        self.event = event


def clause(error: ValidationError, model: type[BaseModel], tagged: bool = False) -> str:
    """What is wrong, where, and what would be right.

    Args:
        model: what the object should have been.
        tagged: the error is that of a union, whose places begin with the event's name.
    """
    first = error.errors(include_url=False)[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    place = first["loc"][1:] if tagged else first["loc"]
    name, value = str(place[0]) if place else "it", first["input"]
    if first["type"] == "missing":
        value = None
    if len(place) > 1 or name == "buckets":
        return _inside(name, place, first, value)
    if first["type"] == "string_too_long":
        most = first["ctx"]["max_length"]
        return f"{name} has {len(value)} characters, at most {most} are taken"
    words = _words(_annotation(model, name), _out_of_range(first))
    if words is None:
        words = KINDS.get(first["type"])
    return f"{name} is {described(value)}" + (f", expected {words}" if words else "")


def _inside(name: str, place: tuple[int | str, ...], first: ErrorDetails, value: Any) -> str:
    """The clause for what a field holds."""
    kind = first["type"]
    if name == "case" and isinstance(value, dict | list):
        return f"{name} is an object, expected factors and their values"
    if name == "case":
        return f"the factor {place[1]} is {described(value)}, expected a number or a text"
    if name == "counters":
        return f"the counter {described(place[1])} is {described(value)}, expected a count"
    if name == "buckets":
        return _bucket(place, kind)
    words = f", expected {KINDS[kind]}" if kind in KINDS else ""
    return f"{'.'.join(map(str, place))} is {described(value)}{words}"


def _bucket(place: tuple[int | str, ...], kind: str) -> str:
    if len(place) == 1:
        return "buckets are missing"
    if kind in OUT_OF_RANGE or kind == "int_type":
        return "a bucket holds something else than whole numbers"
    return "a bucket is no pair of a value and a count"


def _out_of_range(first: ErrorDetails) -> bool:
    # An integer that no double can hold is of the right kind.
    huge = first["type"] == "float_type" and type(first["input"]) is int
    return huge or first["type"] in OUT_OF_RANGE


def _annotation(model: type[BaseModel], name: str) -> Any:
    field = model.model_fields.get(name)
    if field is None:
        return None
    return Annotated[field.annotation, None, *field.metadata]


def _words(annotation: Any, out_of_range: bool) -> str | None:
    """What a field of that type holds."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        for one in inner[1:]:
            if isinstance(one, Expected):
                return one.range if out_of_range else one.words
        return _words(inner[0], out_of_range)
    if origin in (Union, UnionType):
        return _words(inner[0], out_of_range)
    if origin is Literal:
        *rest, last = (f'"{word}"' for word in inner)
        if len(inner) > 3:
            return f"one of {', '.join(map(str, inner))}"
        return f"{', '.join(rest)} or {last}" if rest else last
    named: Mapping[Any, str] = {str: "a text", dict: "an object", tuple: "a list"}
    return named.get(origin or annotation)
