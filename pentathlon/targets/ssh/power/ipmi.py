"""A management controller by IPMI over LAN: ipmitool(1)."""

from __future__ import annotations

import os
import subprocess
import time

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetError
from pentathlon.machine.tools import last_line, run
from pentathlon.targets.ssh.power.controller import PowerSpec, Supply

ANSWER_S = 60.0
OFF_S = 30.0
PASSWORD = "IPMI_PASSWORD"
"""Variable from which `ipmitool -E` takes the password, so that no list of processes shows it."""


OLD_SUITE = "3"
"""The cipher suite that every controller of IPMI 2.0 has. ipmitool asks each time for the list of
suites, and waits ten seconds for a controller that does not know the question."""


class Ipmi(Supply):
    """Chassis power by IPMI 2.0 (`lanplus`)."""

    def __init__(self, spec: PowerSpec, host: str) -> None:
        super().__init__(spec, host)
        self._suite: str | None = None

    def check(self) -> str:
        return "on" if self._ask("status").lower().endswith("is on") else "off"

    def cycle(self) -> None:
        if self.check() == "off":
            self._ask("on")
            return
        # "power cycle" is optional in the specification, and some controllers lack it.
        self._ask("off")
        deadline = time.monotonic() + OFF_S
        while self.check() != "off":
            if time.monotonic() > deadline:
                raise TargetError(f"the controller of {self.host} did not switch it off")
            time.sleep(0.5)
        self._ask("on")

    def _ask(self, what: str) -> str:
        done = self._call(what)
        errors = done.stderr.decode(errors="replace")
        if self._suite is None and "cipher suite" in errors.lower():
            self._suite = OLD_SUITE
            if done.returncode:
                done = self._call(what)
        if done.returncode:
            why = last_line(done.stderr)
            raise TargetError(f"the controller {self.spec.address} refuses: {why}")
        return done.stdout.decode(errors="replace").strip()

    def _call(self, what: str) -> subprocess.CompletedProcess[bytes]:
        words = [str(launch.need("ipmitool", "ipmitool")), "-I", "lanplus", "-E"]
        words += ["-H", self.spec.address or ""]
        if self.spec.port is not None:
            words += ["-p", str(self.spec.port)]
        if self.spec.user is not None:
            words += ["-U", self.spec.user]
        words += ["-C", self._suite] if self._suite is not None else []
        environment = os.environ | {PASSWORD: self.password() or ""}
        try:
            return run([*words, "chassis", "power", what], ANSWER_S, env=environment)
        except subprocess.TimeoutExpired as error:
            raise TargetError(
                f"the controller {self.spec.address} did not answer within {ANSWER_S:g} s"
            ) from error
