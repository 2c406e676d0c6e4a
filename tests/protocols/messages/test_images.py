from __future__ import annotations

import pytest

from lionagi.protocols.messages.images import image_part, image_url


@pytest.mark.parametrize(
    "image",
    ["https://example.org/a.png", "http://8.8.8.8/a", "data:image/png;base64,aGk=", "data:image/WEBP;base64,aGk="],
)
def test_legal_addresses_pass_as_they_are(image: str):
    assert image_url(image) == image


def test_base64_is_taken_for_a_jpeg():
    assert image_part("aGk=") == {
        "type": "image_url",
        "image_url": {"url": "data:image/jpeg;base64,aGk=", "detail": "auto"},
    }


@pytest.mark.record("DEC-41-2")
@pytest.mark.parametrize("image", ["data:text/html;base64,aGk=", "data:image/svg+xml;base64,aGk=", "data:image/png,x"])
def test_other_data_is_rejected(image: str):
    with pytest.raises(ValueError, match="Rejected data: URI"):
        image_url(image)


@pytest.mark.parametrize(
    "image",
    [
        "",
        "ftp://example.org/a",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https://exa\0mple.org",
        "http://localhost/a",
        "http://127.0.0.1/a",
        "http://2130706433/a",
        "http://[::1]/a",
        "http://10.0.0.8/a",
        "http://169.254.169.254/latest",
        "http://[half",
    ],
)
def test_other_addresses_are_refused_without_a_look_at_the_network(image: str):
    with pytest.raises(ValueError, match="image"):
        image_url(image)
