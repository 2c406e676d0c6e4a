"""Copies of a branch: clones, data and back."""

from __future__ import annotations

import json

import pytest

from lionagi import testing
from lionagi.session.branch import Branch


async def talked() -> Branch:
    branch = testing.TestBranch.from_text(["one", "two"], system="Be brief.", name="talk")
    await branch.communicate("first")
    return branch


async def test_a_clone_has_the_messages_under_its_own_identity_and_walks_its_own_script() -> None:
    branch = await talked()
    twin = branch.clone()
    assert twin.id != branch.id
    assert [m.role for m in twin.messages] == [m.role for m in branch.messages]
    assert not {m.id for m in twin.messages} & {m.id for m in branch.messages}
    assert await twin.communicate("again") == "one"
    assert await branch.communicate("second") == "two"


async def test_a_clone_keeps_one_model_for_chat_and_parse() -> None:
    twin = (await talked()).clone()
    assert twin.chat_model is twin.parse_model


async def test_a_clone_for_what_is_no_id_is_refused() -> None:
    branch = await talked()
    with pytest.raises(ValueError, match="is not a valid sender ID"):
        branch.clone(sender=5)


async def test_a_branch_comes_back_from_its_data_without_changing_them() -> None:
    branch = await talked()
    data = json.loads(json.dumps(branch.to_dict("json")))
    data["chat_model"]["endpoint"]["config"]["provider"] = "openai"
    before = json.dumps(data)
    again = Branch.from_dict(data)
    assert json.dumps(data) == before
    assert again.id == branch.id
    assert [m.rendered for m in again.messages] == [m.rendered for m in branch.messages]
    assert again.system is not None
    assert len(again.messages) == 3


async def test_a_snapshot_between_turns_is_the_branch_as_data() -> None:
    branch = await talked()
    branch.metadata["under_way"] = {"of": ["another life"]}
    expected = branch.to_dict("json")
    del expected["metadata"]["under_way"]
    assert branch.snapshot() == expected
