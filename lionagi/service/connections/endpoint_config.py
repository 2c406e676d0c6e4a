"""What an endpoint is configured with, and the headers that follow from it."""

import os
from collections.abc import Mapping
from typing import Annotated, Any, Self, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, field_validator, model_validator
from pydantic import ValidationError as SchemaMismatch
from pydantic_core import core_schema

from lionagi._errors import ConfigurationError, short_repr
from lionagi.ln.secrets import Secret, is_credential_header

__all__ = ("EndpointConfig", "HeaderFactory")

MIB = 1024 * 1024


class _PublicOnly:
    """Dumps a mapping of headers without credentials; lighter to import than pydantic's serializer decorators."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        schema = handler(source)
        schema["serialization"] = core_schema.plain_serializer_function_ser_schema(
            _public_headers, return_schema=core_schema.dict_schema(core_schema.str_schema(), core_schema.str_schema())
        )
        return schema


def _public_headers(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if not is_credential_header(name)}


class EndpointConfig(BaseModel):
    """The settings of one endpoint. A keyword that is no field becomes a request default in ``kwargs``.

    Credentials never leave it: ``api_key`` is masked and left out of dumps, so are the values of credential headers.

    Attributes:
        api_key: The key itself, or the name of the environment variable that holds it.
        api_key_env: The environment variable to read where no ``api_key`` is given.
        timeout: Seconds that one request may take in all; waiting for the reader of a stream is not counted.
        connect_timeout: Seconds until the connection stands.
        idle_timeout: Seconds that a stream may go without content; comments and keep-alives are no content.
        max_retries: Requests at most for one call, the first one included.
        max_response_bytes: The largest body, or line of a stream, that is read, after decompression.
        stream_usage: Ask for token counts in a stream (``stream_options.include_usage``).
        client_kwargs: Further arguments of each HTTP request, such as ``proxy`` or ``ssl``.
        kwargs: Request defaults, such as ``model`` and ``temperature``.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", hide_input_in_errors=True, defer_build=True)

    name: str = ""
    provider: str
    base_url: str | None = None
    endpoint: str = "chat/completions"
    endpoint_params: list[str] | None = None
    method: str = "POST"
    params: dict[str, str] = Field(default_factory=dict)
    content_type: str | None = "application/json"
    auth_type: str = "bearer"
    default_headers: Annotated[dict[str, str], _PublicOnly] = Field(default_factory=dict, repr=False)
    request_options: type[BaseModel] | None = Field(default=None, exclude=True)
    api_key: Secret | None = Field(default=None, exclude=True, repr=False)
    api_key_env: str | None = None
    timeout: float = Field(default=600.0, gt=0)
    connect_timeout: float = Field(default=10.0, gt=0)
    idle_timeout: float | None = Field(default=60.0, gt=0)
    max_retries: int = Field(default=3, ge=0)
    max_response_bytes: int = Field(default=32 * MIB, gt=0)
    stream_usage: bool = False
    requires_tokens: bool = False
    context_window: int | None = None
    client_kwargs: dict[str, Any] = Field(default_factory=dict, repr=False, exclude=True)
    kwargs: dict[str, Any] = Field(default_factory=dict)

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        # Which fields were given is of no interest, and a set of their names of its own makes a model a tenth larger.
        object.__setattr__(self, "__pydantic_fields_set__", _NAMES)

    @model_validator(mode="before")
    @classmethod
    def _unknown_to_kwargs(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        given: dict[str, Any] = dict(data)  # pyright: ignore[reportUnknownArgumentType]
        unknown = [key for key in given if key not in cls.model_fields]
        if unknown:
            given["kwargs"] = {**(given.get("kwargs") or {}), **{key: given.pop(key) for key in unknown}}
        return given

    @field_validator("provider", mode="after")
    @classmethod
    def _provider_named(cls, value: str) -> str:
        if not (name := value.strip().lower()):
            raise ValueError("Provider must be specified: pass its registered name, such as 'openai'")
        return name

    @field_validator("base_url", mode="after")
    @classmethod
    def _plain_url(cls, value: str | None) -> str | None:
        # "internal" is the base_url of endpoints that send nothing
        if value is None or "://" not in value:
            return value
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or "@" in parts.netloc:
            raise ValueError("base_url must be http(s)://host/path without a user name: pass credentials as api_key")
        return value

    @field_validator("request_options", mode="before")
    @classmethod
    def _options_class(cls, value: Any) -> type[BaseModel] | None:
        if value is None or (isinstance(value, type) and issubclass(value, BaseModel)):
            return value
        if isinstance(value, BaseModel):
            return type(value)
        raise ValueError("Invalid request options: pass a pydantic model class or an instance of one")

    @property
    def full_url(self) -> str:
        """The address that requests go to: base, endpoint, and ``params`` filled into the endpoint's placeholders."""
        endpoint = self.endpoint.format(**self.params) if self.endpoint_params else self.endpoint
        return f"{(self.base_url or '').rstrip('/')}/{endpoint.lstrip('/')}"

    def resolve_api_key(self) -> str | None:
        """Return the key: as given, from the variable that ``api_key`` names, or from ``api_key_env``; else None."""
        if self.api_key is not None:
            given = self.api_key.get_secret_value()
            return os.environ.get(given, given) or None
        return (os.environ.get(self.api_key_env) or None) if self.api_key_env else None

    def secrets(self) -> list[str]:
        """Return every credential of this configuration, for scrubbing text that comes from outside."""
        key = self.resolve_api_key()
        values = [value for name, value in self.default_headers.items() if is_credential_header(name)]
        return [*values, key] if key else values

    def update(self, **changes: Any) -> Self:
        """Change fields in place, checked as at construction; unknown names become request defaults. Returns self."""
        more = cast("dict[str, Any]", changes.pop("kwargs", None) or {})
        current = {name: getattr(self, name) for name in type(self).model_fields}
        checked = type(self).model_validate({**current, "kwargs": {**self.kwargs, **more}, **changes})
        for name in type(self).model_fields:
            setattr(self, name, getattr(checked, name))
        return self

    def validate_payload(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the same payload; one that ``request_options`` refuses is a ConfigurationError."""
        if self.request_options is not None:
            try:
                self.request_options.model_validate(payload)
            except SchemaMismatch as error:
                faults = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
                raise ConfigurationError(f"Invalid payload for {self.provider}: {faults}") from None
        return payload


_NAMES = set(EndpointConfig.model_fields)


class HeaderFactory:
    """Request headers from an authentication type and a key."""

    @staticmethod
    def get_header(
        auth_type: str,
        content_type: str | None = "application/json",
        api_key: str | Secret | None = None,
        default_headers: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Return the headers; ``default_headers`` win over those made here.

        Args:
            auth_type: "bearer", "x-api-key" or "none".
            content_type: The Content-Type, none is sent for None.
            api_key: The credential; without one, any type but "none" is a ConfigurationError.
            default_headers: Further headers, sent as they are.
        """
        if auth_type not in ("bearer", "x-api-key", "none"):
            raise ConfigurationError(
                f"Unsupported auth type {short_repr(auth_type)}: use 'bearer', 'x-api-key' or 'none'"
            )
        headers = {"Content-Type": content_type} if content_type else {}
        if auth_type != "none":
            key = api_key.get_secret_value() if isinstance(api_key, Secret) else api_key
            if not key:
                raise ConfigurationError(f"API key is required for authentication of type {auth_type!r}: pass api_key")
            headers.update({"Authorization": f"Bearer {key}"} if auth_type == "bearer" else {"x-api-key": key})
        if default_headers:
            headers.update(default_headers)
        return headers
