"""Manages the benchmark's processes. Starts each process in its own session, measures the process with kernel clocks,
and ends only the processes of that session."""
import os
import signal
import socket
import struct
import subprocess
import time

import chance

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def table():
    """Returns the parent, the user ticks and the system ticks of every process."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            found[int(name)] = (int(fields[1]), int(fields[11]), int(fields[12]))
        except (OSError, ValueError, IndexError):
            pass  # the process has ended
    return found


def tree(root):
    """Returns a process and all its descendants."""
    every = table()
    found = [root] if root in every else []
    grew = True
    while grew:
        new = [pid for pid, (parent, _, _) in every.items() if parent in found and pid not in found]
        found += new
        grew = bool(new)
    return found


def session_of(pid):
    """Returns the session of a living process, or -1 if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return -1 if fields[0] == "Z" else int(fields[3])
    except (OSError, ValueError, IndexError):
        return -1


def start(argv, **options):
    """Starts a process in its own session, so that stop() can find all its processes."""
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True, **options)


def stop(process, known=(), patience=2):
    """Ends all processes of the session that start() created: SIGTERM first, then SIGKILL. Never signals a process of
    another session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        mine = {pid for pid in [*known, *tree(process.pid)] if session_of(pid) == process.pid}
        for pid in mine:
            try:
                os.kill(pid, number)
            except OSError:
                pass
        due = time.monotonic() + patience
        while time.monotonic() < due:
            if process.poll() is not None and all(session_of(pid) != process.pid for pid in mine):
                return
            time.sleep(0.02)


def cpu_nanoseconds(pids):
    """Returns the sum of the processes' CPU times in nanoseconds, including threads that have ended."""
    total = 0
    for pid in pids:
        try:
            total += time.clock_gettime_ns((~pid << 3) | 2)  # the process's CPU clock id, computed as clock_getcpuclockid does
        except OSError:
            pass
    return total


def user_and_system(pids):
    """Returns the CPU ticks of these processes in user mode, and in system mode."""
    every = table()
    return sum(every[pid][1] for pid in pids if pid in every), sum(every[pid][2] for pid in pids if pid in every)


def memory(pids):
    """Returns the resident and the proportional memory (RSS and PSS) of these processes in KiB."""
    sums = {"Rss:": 0, "Pss:": 0}
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
                for line in file:
                    name, *rest = line.split()
                    if name in sums:
                        sums[name] += int(rest[0])
        except OSError:
            pass
    return sums["Rss:"], sums["Pss:"]


def machine_ticks():
    """Returns the ticks that the host of this virtual machine took away (steal), all ticks, and the busy ticks. Each
    number is the sum over all cores."""
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, idle, waiting, irq, softirq, stolen = (int(number) for number in file.readline().split()[1:9])
    busy = user + nice + system + irq + softirq
    return stolen, busy + idle + waiting + stolen, busy


def free_port(taken):
    """Returns a free port that is below the range from which the kernel takes ports for outgoing connections."""
    for port in chance.dice("ports", len(taken)).sample(range(20000, 31000), 11000):
        if port in taken:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        taken.add(port)
        return port
    raise RuntimeError("no port is free")


def listens(port, process, patience=20):
    """Waits until the port accepts connections. Returns false if the process ended or was too slow."""
    due = time.monotonic() + patience
    while time.monotonic() < due and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.0005)
    return False


class IdlePolling:
    """Context manager that makes idle cores poll instead of halt. In a virtual machine, a halted core takes tens of
    microseconds to wake up, and part of that time counts as CPU time of the process that wakes the core."""

    def __init__(self, wanted):
        self.file = -1
        if wanted:
            try:
                self.file = os.open("/dev/cpu_dma_latency", os.O_RDWR)
                os.write(self.file, struct.pack("i", 0))
            except OSError:
                self.file = -1

    def held(self):
        return self.file >= 0
