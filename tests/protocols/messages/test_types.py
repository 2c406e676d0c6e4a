from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from lionagi.protocols.graph.node import Node
from lionagi.protocols.messages.types import MessageRole, validate_sender_recipient


@pytest.mark.record("DEC-41-2")
@pytest.mark.parametrize("value", [5, 2.5, [], {}])
def test_another_type_is_no_party(value: object):
    with pytest.raises(ValueError, match="Invalid sender or recipient"):
        validate_sender_recipient(value)


def test_parties_are_read():
    node, one = Node(), uuid4()
    assert validate_sender_recipient(None) is MessageRole.UNSET
    assert validate_sender_recipient("user") is MessageRole.USER
    assert validate_sender_recipient(node) == node.id
    assert validate_sender_recipient(str(one)) == one
    assert isinstance(validate_sender_recipient(one.hex), UUID)
    assert validate_sender_recipient("ann") == "ann"
    assert validate_sender_recipient("n" * 36) == "n" * 36
