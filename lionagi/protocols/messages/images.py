"""Image parts of a message: addresses are checked here by their text alone, nothing is fetched or resolved."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from lionagi._errors import ValidationError, short_repr
from lionagi.ln.patterns import late_pattern

__all__ = ("image_part", "image_url")

_DATA_URI = late_pattern(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+", re.IGNORECASE)
_SCHEME = late_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:")


def image_part(image: str, detail: str | None = None) -> dict[str, Any]:
    """Return ``{"type": "image_url", "image_url": {"url", "detail"}}`` for an address, a data URI or base64 text."""
    return {"type": "image_url", "image_url": {"url": image_url(image), "detail": detail or "auto"}}


def image_url(image: str) -> str:
    """Return the address that goes to the model.

    http and https addresses must name a public host; data URIs must be base64 of a png, jpeg, gif or webp image;
    text without a scheme is taken for the base64 of a jpeg image.

    Raises:
        ValidationError: It is none of these. The message names the reason.
    """
    if not isinstance(image, str) or not image:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValidationError(f"image {short_repr(image)} is not text: give an address, a data URI or base64")
    if "\0" in image:
        raise ValidationError(f"image address {short_repr(image)} has a null byte; remove it")
    head = image[:8].lower()
    if head.startswith("data:"):
        if not _DATA_URI.fullmatch(image):
            raise ValidationError(
                f"Rejected data: URI {short_repr(image[:80])}: use data:image/<png|jpeg|gif|webp>;base64,<data>"
            )
        return image
    if head.startswith(("http://", "https://")):
        _check_host(image)
        return image
    if _SCHEME.match(image):
        raise ValidationError(f"image address {short_repr(image)} is not http, https or data; use one of these")
    return f"data:image/jpeg;base64,{image}"


def _check_host(address: str) -> None:
    import ipaddress

    try:
        host = (urlsplit(address).hostname or "").rstrip(".")
    except ValueError as error:
        raise ValidationError(f"image address {short_repr(address)} cannot be read: {error}") from error
    if not host:
        raise ValidationError(f"image address {short_repr(address)} names no host")
    try:
        public = ipaddress.ip_address(int(host) if host.isdecimal() else host).is_global
    except ValueError:
        public = host != "localhost" and not host.endswith((".localhost", ".local", ".internal"))
    if not public:
        raise ValidationError(
            f"image address {short_repr(address)} names a private host; use a public one or a data URI"
        )
