from __future__ import annotations

import dataclasses

import pytest

from lionagi.protocols.control import HookPoint, ToolInvocation


def test_an_invocation_cannot_be_changed():
    invocation = ToolInvocation("f")
    assert (invocation.arguments, invocation.branch_id) == ({}, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        invocation.function = "g"  # pyright: ignore[reportAttributeAccessIssue]


def test_hook_points_are_their_words():
    assert HookPoint("tool.pre") is HookPoint.TOOL_PRE
    assert len(HookPoint) == 13
