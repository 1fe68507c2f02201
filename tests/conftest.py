"""Settings every test shares: the `office` marker's rule, and hypothesis without a deadline."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import settings

# A first example pays for imports, so a deadline measures the machine, not the code. The parent keeps what
# hypothesis sets by itself on a CI machine: the same examples every time.
settings.register_profile("capgraph", parent=settings(), deadline=None)
settings.load_profile("capgraph")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip an office test where LibreOffice is missing; fail it where CAPGRAPH_REQUIRE_OFFICE is set."""
    if item.get_closest_marker("office") is None or shutil.which("soffice"):
        return
    if os.environ.get("CAPGRAPH_REQUIRE_OFFICE"):
        pytest.fail("CAPGRAPH_REQUIRE_OFFICE is set and `soffice` is not on the PATH", pytrace=False)
    pytest.skip("needs LibreOffice: `soffice` is not on the PATH")
