"""A management controller by Redfish (DMTF DSP0266): a few requests of JSON over HTTPS.

The service is walked as the specification wants it, by its links and never by paths that are known
beforehand: the service root names the systems, a system names its reset action and what that takes.
"""

from __future__ import annotations

import base64
import json
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import Any

from pentathlon.machine.errors import TargetError
from pentathlon.targets.ssh.power.controller import Supply

ANSWER_S = 30.0
CHANGE_S = 60.0
"""Longest time until the reported state follows a reset action, in seconds."""
MOST_BYTES = 4 << 20

RESET = "#ComputerSystem.Reset"


class _SameHost(urllib.request.HTTPRedirectHandler):
    """The password goes to the controller that was named, and to no other host."""

    def redirect_request(  # noqa: PLR0917  the signature of the library
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        if urllib.parse.urlsplit(newurl)[:2] != urllib.parse.urlsplit(req.full_url)[:2]:
            raise TargetError(f"the controller leads to another host ({newurl})")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Redfish(Supply):
    """Power by the reset action of a computer system."""

    def check(self) -> str:
        return str(self._system().get("PowerState", "unknown")).lower()

    def cycle(self) -> None:
        system = self._system()
        allowed = self._allowed(system)
        if system.get("PowerState") == "Off":
            self._reset(system, "On")
            return
        # Off and on again, as a hand at the plug: a restart may leave devices as they are.
        if allowed is None or {"ForceOff", "On"} <= allowed:
            self._reset(system, "ForceOff")
            self._wait("Off")
            self._reset(system, "On")
            return
        for kind in ("PowerCycle", "ForceRestart"):
            if kind in allowed:
                self._reset(system, kind)
                return
        raise TargetError(
            f"the controller {self.spec.address} can reset {self.host} only by "
            f"{', '.join(sorted(allowed))}, and none of these switches it off and on"
        )

    def _wait(self, state: str) -> None:
        deadline = time.monotonic() + CHANGE_S
        while (now := self._system().get("PowerState")) != state:
            if time.monotonic() > deadline:
                raise TargetError(
                    f"the controller {self.spec.address} still reports the power of {self.host} as "
                    f"{now}, {CHANGE_S:g} s after it was to be {state}"
                )
            time.sleep(0.5)

    @staticmethod
    def _allowed(system: dict[str, Any]) -> set[str] | None:
        """What the reset action takes, or None if the controller does not say."""
        listed = _action(system).get("ResetType@Redfish.AllowableValues")
        return set(map(str, listed)) if isinstance(listed, list) else None

    def _reset(self, system: dict[str, Any], kind: str) -> None:
        target = _action(system).get("target")
        if not isinstance(target, str):
            raise TargetError(f"the controller {self.spec.address} offers no reset of {self.host}")
        self._request(target, {"ResetType": kind})

    def _system(self) -> dict[str, Any]:
        root = self._request("/redfish/v1/")
        members = self._request(_link(root.get("Systems"))).get("Members")
        links = [_link(one) for one in members] if isinstance(members, list) else []
        if self.spec.system is not None:
            links = [one for one in links if one.rstrip("/").rpartition("/")[2] == self.spec.system]
        if len(links) != 1:
            what = "no such system" if not links else f"{len(links)} systems"
            raise TargetError(
                f"the controller {self.spec.address} has {what}; name one in system = "
                '"ID", as /redfish/v1/Systems lists them'
            )
        return self._request(links[0])

    def _request(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        address = (self.spec.address or "").rstrip("/")
        url = urllib.parse.urljoin(f"{address}/", path)
        if urllib.parse.urlsplit(url)[:2] != urllib.parse.urlsplit(address)[:2]:
            raise TargetError(f"the controller {address} leads to another host ({url})")
        headers = {"Accept": "application/json", "OData-Version": "4.0"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self.spec.user is not None:
            pair = f"{self.spec.user}:{self.password() or ''}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers)
        handlers = [urllib.request.HTTPSHandler(context=self._context()), _SameHost()]
        try:
            opener = urllib.request.build_opener(*handlers)
            with opener.open(request, timeout=ANSWER_S) as answer:
                text = answer.read(MOST_BYTES)
        except urllib.error.HTTPError as error:
            raise TargetError(
                f"the controller {address} answers {error.code} ({error.reason}) to {path}"
            ) from error
        except (OSError, HTTPException) as error:
            why = getattr(error, "reason", None) or error
            raise TargetError(f"the controller {address} cannot be reached: {why}") from error
        if not text:
            return {}
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise TargetError(f"the controller {address} answers no JSON to {path}") from error
        return found if isinstance(found, dict) else {}

    def _context(self) -> ssl.SSLContext:
        verify = self.spec.verify
        if isinstance(verify, str):
            return ssl.create_default_context(cafile=verify)
        context = ssl.create_default_context()
        if not verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


def _link(value: Any) -> str:
    """The path that a link leads to; "" if it is none."""
    path = value.get("@odata.id") if isinstance(value, dict) else None
    return path if isinstance(path, str) else ""


def _action(system: dict[str, Any]) -> dict[str, Any]:
    actions = system.get("Actions")
    action = actions.get(RESET) if isinstance(actions, dict) else None
    return action if isinstance(action, dict) else {}
