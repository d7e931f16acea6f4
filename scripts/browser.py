"""Find a Chromium to test with, and install one if there is none: python -m scripts.browser"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from functools import cache

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Playwright passes most of the switches for tests itself; these keep Chromium from looking for a
# graphics card, from the network's newer protocols, and from asking its maker anything.
LAUNCH_ARGS = ["--disable-gpu", "--disable-quic", "--disable-domain-reliability", "--no-pings"]
if hasattr(os, "geteuid") and os.geteuid() == 0:
    LAUNCH_ARGS.append("--no-sandbox")  # Chromium's sandbox does not work for root


@cache
def find_chromium() -> str | None:
    """The path of a Chromium that runs: the one on the PATH, else Playwright's own; or None."""
    for name in NAMES:
        if (path := shutil.which(name)) and _runs(path):
            return path
    path = _playwright_chromium()
    return path if _runs(path) else None


def require_chromium() -> str:
    """The path of a Chromium, installed now if need be; ends the program if none can be had."""
    for install in (None, _install_from_debian, _install_from_playwright):
        if install:
            install()
            find_chromium.cache_clear()
        if path := find_chromium():
            return path
    sys.exit(
        "headlight: the tests need Chromium and none could be had; "
        "install Chromium or Chrome so that it is on the PATH, then run this again."
    )


def _runs(path: str) -> bool:
    # Some distributions put a script there that only says how to install the real one.
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _playwright_chromium() -> str:
    # Asked in a process of its own, because a test may have Playwright running in this one.
    program = (
        "from playwright.sync_api import sync_playwright\n"
        "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return done.stdout.strip()


def _install_from_debian() -> None:
    if not _is_debian() or os.geteuid() != 0:
        return
    print("Installing Debian's Chromium (once)", flush=True)
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": sys.stderr}
    subprocess.run(["apt-get", "update", "-qq"], **quiet)
    subprocess.run(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], **quiet
    )


def _is_debian() -> bool:
    # Ubuntu's package of that name is a stub for a snap, which a container cannot run.
    if sys.platform != "linux":
        return False
    try:
        return platform.freedesktop_os_release().get("ID") == "debian"
    except OSError:
        return False


def _install_from_playwright() -> None:
    print("Installing Playwright's Chromium (once)", flush=True)
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], stdout=sys.stderr)


if __name__ == "__main__":
    print("Chromium:", require_chromium())
