"""The power controller by IPMI: the real ipmitool(1) and a real simulator of a controller."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.machine.errors import TargetError
from pentathlon.study.boot import Power
from pentathlon.targets.ssh.power.controller import controller
from tests.targets.sshd import free_port

pytestmark = pytest.mark.system

# What the simulator does to a machine: here to a file.
CHASSIS = """#!/bin/sh
case "$1 $2" in
    "get power") echo "power:$(cat '{0}/is')" ;;
    "set power") echo "$3" >'{0}/is'; echo "$3" >>'{0}/log' ;;
    *) exit 1 ;;
esac
"""

CONFIGURATION = """name "test"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 {port}
    priv_limit admin
    allowed_auths_admin none md2 md5 straight
    guid 70656e74617468006775657374000002
  endlan
  chassis_control "'{directory}/chassis'"
  user 2 true "bench" "secret" admin 10 none md2 md5 straight
"""

START = "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02\nmc_enable 0x20\n"


@pytest.fixture
def bmc(tmp_path: Path) -> Iterator[Power]:
    if shutil.which("ipmi_sim") is None or shutil.which("ipmitool") is None:
        pytest.skip("openipmi and ipmitool are not installed")
    port = free_port()
    (tmp_path / "chassis").write_text(CHASSIS.format(tmp_path))
    (tmp_path / "chassis").chmod(0o755)
    (tmp_path / "is").write_text("1\n")
    (tmp_path / "lan.conf").write_text(CONFIGURATION.format(port=port, directory=tmp_path))
    (tmp_path / "start").write_text(START)
    (tmp_path / "password").write_text("secret\n")
    command = ["ipmi_sim", "-n", "-c", str(tmp_path / "lan.conf"), "-f", str(tmp_path / "start"),
               "-s", str(tmp_path)]  # fmt: skip
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    yield Power(
        controller="ipmi", address="127.0.0.1", port=port, user="bench",
        password_file=str(tmp_path / "password"),
    )  # fmt: skip
    running.kill()
    running.wait()


def test_a_machine_is_switched_off_and_on(bmc: Power, tmp_path: Path) -> None:
    """The simulator has no list of cipher suites, as older controllers; it is waited for once."""
    supply = controller(bmc, "bench")
    assert supply.check() == "on"
    supply.cycle()
    assert (tmp_path / "log").read_text().split() == ["0", "1"]
    (tmp_path / "is").write_text("0\n")
    supply.cycle()
    assert (tmp_path / "log").read_text().split() == ["0", "1", "1"], "it was off already"
    (tmp_path / "password").write_text("wrong\n")
    with pytest.raises(TargetError, match=r"^the controller 127.0.0.1 refuses: [^\n]+$"):
        supply.check()
