"""The program `karat`."""

import signal
import sys

from ._native import command


def main() -> None:
    # Python only notes an interrupt, for its own loop; the program runs outside of that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(command(["karat", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
