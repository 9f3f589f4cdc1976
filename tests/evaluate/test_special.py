"""SciPy's functions are loaded without what NumPy loads on demand, which stays usable."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pentathlon.evaluate.special import ON_DEMAND

LOADED = """
import json, sys
import pentathlon.evaluate.results.history
import numpy as np
from scipy import special
before = [name for name in sys.modules if name.startswith(("numpy.f2py.", "numpy.ma."))]
masked = np.ma.masked_equal([1.0, 2.0], 2.0)
np.testing.assert_allclose(special.stdtrit(4.0, 0.975), 2.7764451051977987, rtol=1e-12)
print(json.dumps([before, float(masked.sum()), bool(np.f2py.__doc__), np.ctypeslib.__name__]))
"""


def test_parts_of_numpy_are_loaded_when_they_are_used() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[], 1.0, True, "numpy.ctypeslib"]


@pytest.mark.parametrize("name", ON_DEMAND)
def test_such_a_part_can_be_imported_beforehand(name: str) -> None:
    text = f"import numpy.{name} as one; import numpy, pentathlon.evaluate.special; "
    done = subprocess.run(
        [sys.executable, "-c", text + f"assert numpy.{name} is one"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_scipy_describes_its_other_functions_as_ever() -> None:
    text = (
        "import pentathlon.evaluate.special, scipy._lib._array_api as module; "
        "from scipy import stats; assert module.xp_capabilities.__name__ == 'xp_capabilities'; "
        "assert 'Array API' in stats.gmean.__doc__"
    )
    done = subprocess.run([sys.executable, "-c", text], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
