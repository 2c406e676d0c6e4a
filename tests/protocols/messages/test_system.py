from __future__ import annotations

from lionagi.protocols.messages import MessageRole, System
from lionagi.protocols.messages.create import create_system


def test_a_system_message_has_a_default_text_and_its_parties():
    system = System()
    assert system.rendered
    assert (system.sender, system.recipient) == (MessageRole.SYSTEM, MessageRole.ASSISTANT)


def test_the_time_stands_above_the_text():
    assert System(content={"system_message": "S", "system_datetime": "noon"}).rendered == "System Time: noon\n\nS"
    assert create_system(system="S", system_datetime=True).rendered.startswith("System Time: 20")
    assert create_system(system="S", system_datetime=False).rendered == "S"


def test_a_ready_message_is_updated():
    system = System(content={"system_message": "S"})
    assert create_system(system=system, system_datetime="noon", sender="ann") is system
    assert system.rendered == "System Time: noon\n\nS"
