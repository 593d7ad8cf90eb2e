"""The base of every model: frozen, strict about fields, without loss through JSON."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A fact that does not change: equal by value, ``model_validate_json(x.model_dump_json()) == x``."""

    model_config = ConfigDict(frozen=True, extra="forbid")
