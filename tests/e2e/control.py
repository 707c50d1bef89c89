"""A running reprise with a control socket and a configuration file that a case can change."""
import os
import socket
import subprocess
import tempfile

from harness import PATIENCE, Reprise, eventually, merge, options, yaml_flow


def as_yaml(configuration):
    return "".join(f"{key}: {yaml_flow(value)}\n" for key, value in configuration.items())


class Controlled(Reprise):
    """A reprise with a control socket. `change` merges keys into the initial configuration and rewrites the
    configuration file in place; `write` writes the given text to that file."""

    def __init__(self, **configuration):
        # The folder of the control socket has a short name, because the path of a Unix socket has a small
        # maximum length.
        self.control_folder = tempfile.mkdtemp(prefix="rp-")
        self.control_path = os.path.join(self.control_folder, "c.sock")
        super().__init__(**merge({"admin": {"control": self.control_path}}, configuration))
        self.configuration = merge(self.base(configuration), {})

    def base(self, configuration):
        """Returns the configuration with which the harness starts reprise."""
        return merge({
            "version": 1,
            "listeners": [{"mode": "forward", "bind": "127.0.0.1:0"}],
            "admin": {"bind": "127.0.0.1:0", "control": self.control_path},
            "defaults": {"retry": {"backoff": {"initial": "5ms", "maximum": "20ms"}}},
            "shutdown": {"grace": "5s"},
            "threads": options.threads,
        }, configuration)

    def __exit__(self, *error):
        try:
            super().__exit__(*error)
        finally:
            for name in os.listdir(self.control_folder):
                os.unlink(os.path.join(self.control_folder, name))
            os.rmdir(self.control_folder)

    def text_with(self, **keys):
        self.configuration = merge(self.configuration, keys)
        return as_yaml(self.configuration)

    def write(self, text):
        with open(self.config_file, "w", encoding="utf-8") as file:
            file.write(text)

    def change(self, **keys):
        self.write(self.text_with(**keys))

    def tell(self, *words, control=None):
        """Runs `reprise WORDS`. Returns (exit code, standard output, standard error)."""
        command = [options.binary, *words, "--control", control or self.control_path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.returncode, done.stdout, done.stderr

    def raw(self, data, finish=True):
        """Sends these bytes to the control socket and returns the response."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(PATIENCE)
            line.connect(self.control_path)
            line.sendall(data)
            if finish:
                line.shutdown(socket.SHUT_WR)
            response = b""
            while piece := line.recv(4096):
                response += piece
            return response

    def reloads(self, outcome):
        return self.metric("reprise_config_reloads_total", outcome=outcome)

    def expect_reload(self, outcome, count=1):
        eventually(lambda: self.reloads(outcome) >= count, f"{count} reloads that are a {outcome}")
