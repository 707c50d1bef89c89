"""Runs a program with a pseudo-terminal as its controlling terminal, and reconstructs the screen from its output."""
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
    """Restores the default action of SIGINT: the process that runs the tests may ignore it, as a shell's background
    job does."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class OnTerminal:
    """Runs `reprise ARGUMENTS` on a terminal of the given size, with the usual environment variables of a
    terminal. A variable whose value is None is removed."""

    def __init__(self, *arguments, columns=80, rows=24, **variables):
        environment = without_proxies(TERM="xterm-256color", LC_ALL="C.UTF-8", NO_COLOR="")
        for name, value in variables.items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value
        self.came = ""
        # The program's end of the terminal stays open here, so that the terminal modes can be read after the program
        # has ended.
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
        """Resizes the terminal. The kernel sends SIGWINCH to the program."""
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def read(self, wait=0.05):
        """Reads all available output."""
        while select.select([self.terminal], [], [], wait)[0]:
            try:
                some = os.read(self.terminal, 65536)
            except OSError:  # EIO: no process has the other end of the terminal open
                return
            self.came += some.decode("utf-8", "replace")
            wait = 0

    def lines(self):
        """Returns the lines of the last complete frame."""
        frames = FRAME.findall(self.came)
        return [] if not frames else [STYLE.sub("", line) for line in frames[-1].split("\r\n")]

    def screen(self):
        return "\n".join(self.lines())

    def until(self, check, what):
        """Waits until the screen meets `check`: a function of the screen that returns true, or a text that the
        screen contains."""
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
        """Waits for the end of the program. Returns its exit code, or the negative number of the signal that ended
        it."""
        self.until(lambda _: self.process.poll() is not None, "it ends")
        self.read()
        return self.process.returncode

    def stopped(self):
        """Waits until the program is stopped."""
        def is_stopped(_):
            with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
                return file.read().rpartition(")")[2].split()[0] == "T"
        self.until(is_stopped, "it is stopped")
        self.read()

    def signal(self, number):
        self.process.send_signal(number)

    def is_given_back(self):
        """Checks that the program has restored terminal modes, screen, cursor and line wrapping."""
        self.read()
        assert termios.tcgetattr(self.other_end) == self.modes_before, "its modes are others than before"
        assert self.came.count(ENTER) == self.came.count(LEAVE) > 0, "the screen is not the shell's"
        assert self.came.rstrip().endswith("\x1b[?7h\x1b[?25h\x1b[?1049l"), self.came[-200:]
        assert not fcntl.fcntl(self.other_end, fcntl.F_GETFL) & os.O_NONBLOCK
