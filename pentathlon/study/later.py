"""Models that got keys after the first version: without these they are written as before."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer


class Later(BaseModel):
    """A model that is written without those of its later keys that have their default.

    What does not use such a key is written as before there was any: plans keep their hash.
    """

    LATER: ClassVar[tuple[str, ...]] = ()
    """Names of the fields."""

    @model_serializer(mode="wrap")
    def _without_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        for name in self.LATER:
            field = type(self).model_fields[name]
            if getattr(self, name) == field.get_default(call_default_factory=True):
                written.pop(name, None)
                written.pop(field.alias or name, None)
        return written
