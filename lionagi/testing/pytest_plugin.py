"""The pytest plugin: put ``pytest_plugins = ["lionagi.testing.pytest_plugin"]`` into the topmost conftest.py.

It brings the fixtures of ``lionagi.testing``, the marker ``lionagi_script`` and the guard against real model calls.
It is registered by this name only, never by an entry point, and exports nothing.
"""

from __future__ import annotations

from ._fixtures import async_helpers as async_helpers
from ._fixtures import lionagi_script as lionagi_script
from ._fixtures import make_mocked_branch as make_mocked_branch
from ._fixtures import mock_factory as mock_factory
from ._fixtures import mocked_branch as mocked_branch
from ._fixtures import mocked_branch_with_custom_response as mocked_branch_with_custom_response
from ._fixtures import mocked_error_branch as mocked_error_branch
from ._fixtures import no_real_models as no_real_models
from ._fixtures import performance_benchmark as performance_benchmark
from ._fixtures import sample_api_responses as sample_api_responses
from ._fixtures import sample_conversation_data as sample_conversation_data
from ._fixtures import sample_error_scenarios as sample_error_scenarios
from ._fixtures import scripted_branch as scripted_branch
from ._fixtures import scripted_branch_factory as scripted_branch_factory
from ._fixtures import scripted_endpoint_for as scripted_endpoint_for
from ._fixtures import test_data_helpers as test_data_helpers
from ._fixtures import test_data_loader as test_data_loader
from ._fixtures import test_messages as test_messages
from ._fixtures import test_payload as test_payload
from ._fixtures import validation_helpers as validation_helpers
from ._pytest_hooks import pytest_addoption as pytest_addoption
from ._pytest_hooks import pytest_configure as pytest_configure
from ._pytest_hooks import pytest_runtest_call as pytest_runtest_call
from ._pytest_hooks import pytest_runtest_protocol as pytest_runtest_protocol

__all__ = ()
