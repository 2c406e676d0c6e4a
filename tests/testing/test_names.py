from __future__ import annotations

import subprocess
import sys

from lionagi import testing


def test_every_name_can_be_imported_and_the_list_is_sorted() -> None:
    assert [name for name in testing.__all__ if not hasattr(testing, name)] == []
    assert sorted(testing.__all__) == sorted(set(testing.__all__))


def test_importing_the_package_loads_none_of_its_modules() -> None:
    code = "import sys, lionagi.testing; print([n for n in sys.modules if n.startswith('lionagi.testing.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(testing, "Unheard")
    assert "TestBranch" in dir(testing)
