"""Make .venv and install into it: python3 scripts/environment.py requirements.txt

Runs before anything is installed, under whatever Python the machine has; so it uses the standard
library alone, and no syntax that an old Python 3 could not read before it can say so.
"""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")


def stop(sentence):
    sys.exit(f"headlight: {sentence}")


def dotted(version):
    return f"{version[0]}.{version[1]}"


def use_a_newer_python():
    """Start again under a newer Python from the PATH if this one is too old."""
    for minor in range(14, OLDEST[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer and subprocess.call([newer, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            os.execv(newer, [newer, *sys.argv])
    stop(
        f"Python {dotted(OLDEST)} or newer is needed, and this is {dotted(sys.version_info)}; "
        "install a newer one, or name it: `make run PYTHON=/path/to/python3`."
    )


def make_venv():
    if venv_works():
        return
    print("Making .venv", flush=True)
    command = [sys.executable, "-m", "venv", "--clear", VENV]
    if subprocess.call(command, stdout=subprocess.DEVNULL) == 0:
        return
    # Debian and Ubuntu ship venv without pip, as a package of its own.
    package = f"python{dotted(sys.version_info)}-venv"
    if shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.call(["apt-get", "update", "-qq"])
        subprocess.call(["apt-get", "install", "-y", "-qq", package])
        if subprocess.call(command) == 0:
            return
    stop(f"Python could not make .venv; on Debian and Ubuntu, `apt install {package}` helps.")


def venv_works():
    """Whether .venv is there, runs, and is new enough."""
    if not os.path.exists(VENV_PYTHON):
        return False
    program = f"import sys; sys.exit(sys.version_info[:2] < {OLDEST})"
    return subprocess.call([VENV_PYTHON, "-c", program], stderr=subprocess.DEVNULL) == 0


def install(requirements):
    print(f"Installing {requirements} (once; a few minutes)", flush=True)
    command = [VENV_PYTHON, "-m", "pip", "--disable-pip-version-check", "install"]
    command += ["-r", os.path.join(ROOT, requirements)]
    if not sys.stdout.isatty():  # a person sees the downloads advance; a log does not need them
        command.append("--quiet")
    if subprocess.call(command) != 0:
        stop(
            f"pip could not install {requirements} (its reason stands above); "
            "it needs a network and a few GB of disk, this once."
        )


def main():
    if sys.version_info < OLDEST:
        use_a_newer_python()
    make_venv()
    install(sys.argv[1])


if __name__ == "__main__":
    main()
