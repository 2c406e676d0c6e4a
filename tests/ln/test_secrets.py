from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionagi.ln.secrets import CREDENTIAL_HEADERS, Secret, is_credential_header, mask_headers, scrub


@pytest.mark.parametrize(
    "name", [*sorted(CREDENTIAL_HEADERS), "Authorization", "X-My-Token", "my_api_key", "X-Client-Secret"]
)
def test_credential_headers_are_masked(name: str):
    assert mask_headers({name: "canary-value"}) == {name: "***"}


@pytest.mark.parametrize(
    "name", ["Content-Type", "x-ratelimit-remaining-tokens", "X-Request-Id", "Accept", "Author", "monkey"]
)
def test_other_headers_are_kept(name: str):
    assert not is_credential_header(name)
    assert mask_headers({name: "v"}) == {name: "v"}


def test_a_secret_shows_in_neither_repr_nor_str():
    assert "canary" not in repr(Secret("canary-1")) + str(Secret("canary-1"))


_NO_STAR = st.text(st.characters(codec="utf-8", exclude_characters="*"), min_size=6)


@given(st.text(), _NO_STAR, st.text(), st.sampled_from(["plain", "percent", "json"]))
def test_no_form_of_a_secret_survives_scrubbing(before: str, secret: str, after: str, form: str):
    written = {"plain": secret, "percent": quote(secret, safe=""), "json": json.dumps(secret)[1:-1]}[form]
    cleaned = scrub(f"{before}{written}{after}", [Secret(secret)])
    assert written not in cleaned or written in f"{before}***{after}"


def test_a_secret_that_is_not_valid_unicode_is_scrubbed_too():
    assert scrub("key=\ud800abcdef!", ["\ud800abcdef"]) == "key=***!"


def test_an_overlapping_longer_secret_goes_first():
    assert scrub("key-123456789", ["key-123456", "key-123456789"]) == "***"


def test_placeholders_and_nothing_leave_the_text_alone():
    assert scrub("the local model has none", ["local", "none", "", None]) == "the local model has none"


def test_a_bearer_token_goes_even_when_it_is_unknown():
    assert scrub("Authorization: Bearer abcdefghijklmnop1234== refused") == "Authorization: Bearer *** refused"


def test_prose_about_bearers_stays():
    assert scrub("a bearer of news, basic training") == "a bearer of news, basic training"
