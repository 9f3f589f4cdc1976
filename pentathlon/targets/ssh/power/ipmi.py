"""A management controller by IPMI over LAN: ipmitool(1)."""

from __future__ import annotations

import os
import subprocess
import time

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetError
from pentathlon.targets.ssh.power.controller import Supply

ANSWER_S = 60.0
OFF_S = 30.0
PASSWORD = "IPMI_PASSWORD"
"""Variable from which `ipmitool -E` takes the password, so that no list of processes shows it."""


class Ipmi(Supply):
    """Chassis power by IPMI 2.0 (`lanplus`)."""

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
        words = [str(launch.need("ipmitool", "ipmitool")), "-I", "lanplus", "-E"]
        words += ["-H", self.spec.address or ""]
        if self.spec.port is not None:
            words += ["-p", str(self.spec.port)]
        if self.spec.user is not None:
            words += ["-U", self.spec.user]
        environment = os.environ | {PASSWORD: self.password() or ""}
        try:
            done = subprocess.run(
                [*words, "chassis", "power", what],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=ANSWER_S,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise TargetError(
                f"the controller {self.spec.address} did not answer within {ANSWER_S:g} s"
            ) from error
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
            raise TargetError(f"the controller {self.spec.address} refuses: {lines[-1]}")
        return done.stdout.decode(errors="replace").strip()
