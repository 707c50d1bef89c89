"""Starts a command as a container runtime would: python3 contain.py ROOT UID:GID COMMAND...

The command runs as user UID and group GID with ROOT as its root folder. It has no further groups, no environment and no
capabilities, and cannot gain capabilities."""
import ctypes
import os
import sys

PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24


def main():
    root, user, *command = sys.argv[1:]
    uid, gid = map(int, user.split(":"))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    os.chroot(root)
    os.chdir("/")
    capability = 0
    while prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:  # drops one capability after another, until the kernel knows no further one
        capability += 1
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    os.execve(command[0], command, {"PATH": "/usr/bin", "HOME": "/"})


if __name__ == "__main__":
    main()
