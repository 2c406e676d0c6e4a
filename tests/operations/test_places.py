"""Where the parts of the pipeline are found."""

from __future__ import annotations

import importlib

import pytest

PLACES = {
    "lionagi.session.branch": ["Branch"],
    "lionagi.operations.fields": [
        "ActionRequestModel", "ActionResponseModel", "Instruct", "Reason", "ACTION_REQUESTS_FIELD",
        "ACTION_REQUIRED_FIELD", "ACTION_RESPONSES_FIELD", "INSTRUCT_FIELD", "REASON_FIELD", "get_default_field",
    ],
    "lionagi.operations._defaults": ["make_parse_param"],
    "lionagi.operations.operate.operate": ["prepare_operate_kw", "operate"],
    "lionagi.operations.operate.step": ["Step"],
    "lionagi.operations.operate.operative": ["Operative"],
    "lionagi.operations.schema.structure": ["Structure"],
    "lionagi.operations.act.act": ["act"],
}  # fmt: skip


@pytest.mark.record("0022-C-02")
def test_every_part_is_found_in_its_module() -> None:
    missing = [
        f"{module}.{name}"
        for module, names in PLACES.items()
        for name in names
        if getattr(importlib.import_module(module), name, None) is None
    ]
    assert missing == []
