"""A Redfish service whose one computer system is the guest that scripts/rebooting-guest makes.

    guest_redfish.py REBOOTING_GUEST DIRECTORY PORT

The service is the emulator of sushy-tools; only the power of its system is the virtual machine's
own, switched by `rebooting-guest power`. HTTPS on the loopback device with the certificate bmc.pem,
Basic authentication with the user bench and the password of bmc.password, all in DIRECTORY.
"""

from __future__ import annotations

import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import bcrypt
from sushy_tools import error
from sushy_tools.emulator import main
from sushy_tools.emulator.resources.systems import fakedriver

ORDERS = {
    "On": "on",
    "ForceOn": "on",
    "ForceOff": "off",
    "ForceRestart": "cycle",
}
"""Reset types of the specification that a plug can do; the others are for an operating system."""

SCRIPT, DIRECTORY, PORT = sys.argv[1:4]
SYSTEM = "70656e74-6174-6800-6775-657374000001"


def power(what: str) -> str:
    """`rebooting-guest power`; what it prints."""
    done = subprocess.run(
        [SCRIPT, "power", what, DIRECTORY], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


class Guest(fakedriver.FakeDriver):  # type: ignore[misc]
    """The virtual machine; what is no power is as the emulator plays it."""

    def get_power_state(self, identity: str) -> str:
        self._get(identity)
        return "On" if power("status") == "on" else "Off"

    def set_power_state(self, identity: str, state: str) -> None:
        self._get(identity)
        if state not in ORDERS:
            raise error.NotSupportedError(f"the guest knows no {state}")
        power(ORDERS[state])


def serve() -> None:
    place = Path(DIRECTORY)
    password = (place / "bmc.password").read_bytes()
    digest = bcrypt.hashpw(password, bcrypt.gensalt(4)).decode()
    (place / "bmc.htpasswd").write_text(f"bench:{digest}\n")
    state = place / "redfish"
    state.mkdir(exist_ok=True)
    fakedriver.FakeDriver = Guest
    one: dict[str, Any] = {"uuid": SYSTEM, "name": "guest", "power_state": "On", "nics": []}
    main.app.configure(
        extra_config={
            "SUSHY_EMULATOR_AUTH_FILE": str(place / "bmc.htpasswd"),
            "SUSHY_EMULATOR_FAKE_DRIVER": True,
            "SUSHY_EMULATOR_FAKE_SYSTEMS": [one],
            "SUSHY_EMULATOR_STATE_DIR": str(state),
            "SUSHY_EMULATOR_FEATURE_SET": "minimum",
        }
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place / "bmc.pem", place / "bmc.key")
    main.app.run(host="127.0.0.1", port=int(PORT), ssl_context=context)


if __name__ == "__main__":
    serve()
