"""A program on a pseudo-terminal that controls it, and the screen that its bytes come to."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from harness import PATIENCE, options, without_proxies

FRAME = re.compile(r"\x1b\[H(.*?)\x1b\[\?2026l", re.S)
STYLE = re.compile(r"\x1b\[[0-9;]*[mKJ]")
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


def as_from_a_shell():
    """Whoever runs the tests may have ignored the interrupt, as a shell does for what it runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class OnTerminal:
    """`reprise ARGUMENTS` on a terminal of that size. Its variables are those of a terminal; None takes one away."""

    def __init__(self, *arguments, columns=80, rows=24, **variables):
        environment = without_proxies(TERM="xterm-256color", LC_ALL="C.UTF-8", NO_COLOR="")
        for name, value in variables.items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value
        self.came = ""
        # Its end is held here, too, so that its modes can be seen when nobody else is left.
        self.terminal, self.other_end = pty.openpty()
        self.modes_before = termios.tcgetattr(self.other_end)
        self.resize(columns, rows)
        self.process = subprocess.Popen([options.binary, *arguments], env=environment, stdin=self.other_end, stdout=self.other_end,
                                        stderr=self.other_end, start_new_session=True, preexec_fn=as_from_a_shell)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.kill()
        self.process.wait()
        if kind is not None:
            print(f"--- the screen\n{self.screen()}\n--- the last bytes\n{self.came[-500:]!r}")
        os.close(self.other_end)
        os.close(self.terminal)

    def resize(self, columns, rows):
        """The kernel tells the program with SIGWINCH."""
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def read(self, wait=0.05):
        """Whatever has come."""
        while select.select([self.terminal], [], [], wait)[0]:
            try:
                some = os.read(self.terminal, 65536)
            except OSError:  # nobody has the other end any more
                return
            self.came += some.decode("utf-8", "replace")
            wait = 0

    def lines(self):
        """Of the last whole frame."""
        frames = FRAME.findall(self.came)
        return [] if not frames else [STYLE.sub("", line) for line in frames[-1].split("\r\n")]

    def screen(self):
        return "\n".join(self.lines())

    def until(self, check, what):
        """Waits until `check(screen)`, or that the text `check` is on it."""
        shown = (lambda screen: check in screen) if isinstance(check, str) else check
        limit = time.monotonic() + PATIENCE
        while not shown(self.screen()):
            if time.monotonic() > limit:
                raise AssertionError(f"not within {PATIENCE} s: {what}")
            self.read()
        return self.screen()

    def sees(self, text):
        return self.until(text, f"the screen has {text!r}")

    def ended(self):
        """Exit code, or minus the signal that ended it."""
        self.until(lambda _: self.process.poll() is not None, "it ends")
        self.read()
        return self.process.returncode

    def stopped(self):
        """Waits until it is stopped."""
        def is_stopped(_):
            with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
                return file.read().rpartition(")")[2].split()[0] == "T"
        self.until(is_stopped, "it is stopped")
        self.read()

    def signal(self, number):
        self.process.send_signal(number)

    def is_given_back(self):
        """Modes, screen, cursor and line breaks are the shell's."""
        self.read()
        assert termios.tcgetattr(self.other_end) == self.modes_before, "its modes are others than before"
        assert self.came.count(ENTER) == self.came.count(LEAVE) > 0, "the screen is not the shell's"
        assert self.came.rstrip().endswith("\x1b[?7h\x1b[?25h\x1b[?1049l"), self.came[-200:]
        assert not fcntl.fcntl(self.other_end, fcntl.F_GETFL) & os.O_NONBLOCK
