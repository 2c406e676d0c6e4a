from __future__ import annotations

import subprocess
import sys

import pytest

from lionagi import ln


@pytest.mark.parametrize("name", ln.__all__)
def test_every_public_name_is_there(name: str):
    assert getattr(ln, name) is not None
    assert name in dir(ln)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        ln.nothing_of_that_name  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from lionagi.ln import calls, clock, dicts, files, fuzzy, jsons, lists, loops, threads, trace, yamls\n"
        "heavy = {'pydantic', 'yaml', 'tenacity', 'rapidfuzz', 'json_repair', 'aiohttp'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "[]\n"
