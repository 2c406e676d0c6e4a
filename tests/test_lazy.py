"""Names that a package loads at their first use."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from lionagi._lazy import lazy_names


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("made_up")
    monkeypatch.setitem(sys.modules, "made_up", made)
    return made


def test_a_name_is_found_once_and_then_kept(package: ModuleType) -> None:
    get, names = lazy_names("made_up", {"sqrt": "math"})
    assert get("sqrt")(9) == 3
    assert "sqrt" in vars(package)
    assert "sqrt" in names()


def test_a_module_can_be_a_name() -> None:
    get, _ = lazy_names("lionagi.ln", modules=("types",))
    assert get("types").__name__ == "lionagi.ln.types"


def test_a_home_may_lie_in_the_package() -> None:
    get, _ = lazy_names("lionagi.ln", {"PerLoop": ".loops"})
    assert get("PerLoop").__module__ == "lionagi.ln.loops"


def test_another_name_is_an_attribute_error(package: ModuleType) -> None:
    get, names = lazy_names("made_up", {"sqrt": "math"})
    with pytest.raises(AttributeError, match="module 'made_up' has no attribute 'cbrt'"):
        get("cbrt")
    assert "cbrt" not in names()
