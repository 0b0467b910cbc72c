"""Failing asserts of the shared checks show their values, as those of the tests do."""

import pytest

pytest.register_assert_rewrite("checking")
