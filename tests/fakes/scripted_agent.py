"""An agent for the tests of targets: it does what the first workload's id says.

It speaks the protocol as far as a session looks at it. Every behaviour is a function; the session
must find out by itself what went wrong.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def say(event, **fields):
    print(json.dumps({"event": event, "t_ns": time.monotonic_ns(), **fields}), flush=True)


def sample(iteration):
    say(
        "sample",
        workload="good",
        index=0,
        process=0,
        metric="time",
        case={},
        unit="ns",
        direction="lower",
        phase="measure",
        iteration=iteration,
        value=1.0,
        batch=1,
        elapsed_ns=1,
        counters={},
    )


def good(request):
    for iteration in range(5):
        sample(iteration)
    say("done", samples=5, errors=0)


def many(request):
    for iteration in range(20000):
        sample(iteration)
    say("done", samples=20000, errors=0)


def echo(request):
    say("log", level="info", message="request", request=request)
    say("done", samples=0, errors=0)


def place(request):
    """Where the agent runs, as the kernel states."""
    autogroup = Path("/proc/self/autogroup")
    say(
        "log",
        level="info",
        message="place",
        cgroup=Path("/proc/self/cgroup").read_text(),
        huge=Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text(),
        autogroup=autogroup.read_text() if autogroup.exists() else None,
        net=str(Path("/proc/self/ns/net").readlink()),
        devices=sorted(path.name for path in Path("/sys/class/net").iterdir()),
        loopback=int(Path("/sys/class/net/lo/flags").read_text(), 16),
        scratch=request["scratch"],
        scratch_exists=Path(request["scratch"]).is_dir(),
        pid=os.getpid(),
    )
    say("done", samples=0, errors=0)


def hang(request):
    sample(0)
    time.sleep(600)


def stubborn(request):
    """Ignores SIGTERM, and has a child in a session of its own that does too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    code = "import signal,time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    stripped = subprocess.Popen([sys.executable, "-c", code], env={})
    say("log", level="info", message="pids", pids=[os.getpid(), child.pid, stripped.pid])
    time.sleep(600)


def endless(request):
    iteration = 0
    while True:
        sample(iteration)
        iteration += 1
        time.sleep(0.01)


def dies(request):
    sample(0)
    print("the disk is on fire", file=sys.stderr, flush=True)
    sys.exit(3)


def leaves(request):
    """Ends, and leaves a child that holds its standard output."""
    sample(0)
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    sys.exit(5)


def killed(request):
    sample(0)
    os.kill(os.getpid(), signal.SIGSEGV)


def torn(request):
    sample(0)
    sys.stdout.write('{"event":"sample","t_ns":1,"val{"event":"sample","t_ns":2,"value":1.0}\n')
    sys.stdout.flush()
    good(request)


def cut(request):
    sample(0)
    sys.stdout.write('{"event":"sample","t_ns":1,"val')
    sys.stdout.flush()
    sys.exit(0)


def lost(request):
    for iteration in range(4):
        sample(iteration)
    say("done", samples=5, errors=0)


def chatty(request):
    """More on standard error than a pipe holds, before and between events."""
    for iteration in range(5):
        sys.stderr.write("noise " * 40000 + "\n")
        sample(iteration)
    say("done", samples=5, errors=0)


def lingers(request):
    good(request)
    time.sleep(600)


def main():
    if "deaf" in os.environ.get("SCRIPTED_AGENT", ""):
        time.sleep(600)
    request = json.loads(sys.stdin.buffer.readline())
    globals()[request["workloads"][0]["id"]](request)


if __name__ == "__main__":
    main()
