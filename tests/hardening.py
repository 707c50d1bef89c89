#!/usr/bin/env python3
"""Reads a built program and fails if one of the protections of cmake/hardening.cmake is not in it.

    python3 tests/hardening.py --bin build/release/reprise
    python3 tests/hardening.py --self-test        small programs, each without one protection: that one must be missed

It looks at the machine code and the tables of the program, not at how it was compiled, so that a flag which the compiler dropped is
missed, too. What is only known of x86-64 is not asked of another machine."""
import argparse
import os
import platform
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENDBR64 = b"\xf3\x0f\x1e\xfa"
PROBE = b"\x48\x83\x0c\x24\x00"   # orq $0, (%rsp): how GCC touches each page of a large frame


class Program:
    """What readelf says of one program, asked once."""

    def __init__(self, path):
        self.path = Path(path)
        self.bytes = self.path.read_bytes()
        self.header = self.readelf("-h")
        self.segments = self.readelf("-l")
        self.sections = {row[0]: row[1:] for row in re.findall(
            r"^ +\[ *\d+\] (\S+) +\S+ +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+) ", self.readelf("-S"), re.M)}
        self.dynamic = self.readelf("-d")
        self.imported = set(re.findall(r" UND (\w+)", self.readelf("--dyn-syms")))
        self.x86_64 = "X86-64" in self.header

    def readelf(self, option):
        return subprocess.run(["readelf", "-W", option, str(self.path)], capture_output=True, text=True, check=True,
                              env={**os.environ, "LC_ALL": "C"}).stdout

    def section(self, name):
        """The bytes of a section."""
        if name not in self.sections:
            return b""
        _, offset, size = (int(number, 16) for number in self.sections[name])
        return self.bytes[offset:offset + size]

    def at(self, address, count):
        """Bytes of the code, by their address."""
        for begin, offset, size in ((int(number, 16) for number in row) for row in self.sections.values()):
            if begin and begin <= address < begin + size:
                return self.bytes[offset + address - begin:offset + address - begin + count]
        return b""

    def segment_flags(self, kind):
        """The flags of every segment of that kind, as `RW` or `R E`."""
        return re.findall(rf"^ +{kind} +(?:0x[0-9a-f]+ +){{5}}([RWE ]{{3}})", self.segments, re.M)

    def starters(self):
        """Addresses of the functions that run before main: the dynamic linker jumps to them through a table."""
        begin, size = int(self.sections[".init_array"][0], 16), int(self.sections[".init_array"][2], 16)
        relative = {int(place, 16): int(target, 16) for place, target in
                    re.findall(r"^([0-9a-f]+) .* R_X86_64_RELATIVE +([0-9a-f]+)$", self.readelf("-r"), re.M)}
        places = range(begin, begin + size, 8)
        in_place = dict(zip(places, struct.unpack(f"<{size // 8}Q", self.section(".init_array"))))
        return [relative.get(place, in_place[place]) for place in places]


def is_pie(program):
    return re.search(r"Type: +DYN", program.header) and re.search(r"FLAGS_1.*\bPIE\b", program.dynamic)


def has_full_relro(program):
    return program.segment_flags("GNU_RELRO") and re.search(r"FLAGS.*\b(BIND_NOW|NOW)\b", program.dynamic)


def has_data_stack(program):
    return program.segment_flags("GNU_STACK") == ["RW "]


def writes_no_code(program):
    return program.segment_flags("LOAD") and not any("W" in flags and "E" in flags for flags in program.segment_flags("LOAD"))


def has_canaries(program):
    return "__stack_chk_fail" in program.imported


def is_fortified(program):
    return any(re.fullmatch(r"__\w+_chk", name) for name in program.imported)


def probes_its_stack(program):
    return not program.x86_64 or PROBE in program.section(".text")


def marks_its_targets(program):
    # The first of them comes from the compiler's own start files.
    return not program.x86_64 or (len(program.starters()) > 1 and
                                  all(program.at(address, 4) == ENDBR64 for address in program.starters()))


def checks_its_containers(program):
    return any("__glibcxx_assert_fail" in name for name in program.imported)


def searches_no_folder(program):
    return not re.search(r"\((RPATH|RUNPATH)\)", program.dynamic)


def debug_file_of(program):
    """The file that the program names; None if it names none, or that is of another build."""
    name = program.section(".gnu_debuglink").split(b"\0")[0].decode()
    file = program.path.parent / name
    if not name or not file.is_file():
        return None
    return file if Program(file).section(".note.gnu.build-id") == program.section(".note.gnu.build-id") != b"" else None


def is_split(program):
    return not {".debug_info", ".symtab"} & set(program.sections) and debug_file_of(program) is not None and \
        {".debug_info", ".symtab"} <= set(Program(debug_file_of(program)).sections)


# What must be, how it is seen, and the switches that make it and that leave it out.
PROTECTIONS = [
    ("its addresses are chosen by chance (PIE)", is_pie, ["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]),
    ("no import can be redirected (full RELRO)", has_full_relro, ["-Wl,-z,relro,-z,now"], ["-Wl,-z,relro,-z,lazy"]),
    ("no data is run: the stack", has_data_stack, ["-Wl,-z,noexecstack"], ["-Wl,-z,execstack"]),
    ("no code is written: the segments", writes_no_code, [], []),   # no switch leaves it out: see make_writable
    ("frames end with a canary", has_canaries, ["-fstack-protector-strong"], ["-fno-stack-protector"]),
    ("copies are measured (_FORTIFY_SOURCE)", is_fortified, ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"], ["-U_FORTIFY_SOURCE"]),
    ("large frames touch each page", probes_its_stack, ["-fstack-clash-protection"], ["-fno-stack-clash-protection"]),
    ("targets of jumps are marked (CET)", marks_its_targets, ["-fcf-protection=full"], ["-fcf-protection=none"]),
    ("containers check their bounds", checks_its_containers, ["-D_GLIBCXX_ASSERTIONS"], ["-U_GLIBCXX_ASSERTIONS"]),
    ("libraries come from the system's folders", searches_no_folder, [], ["-Wl,-rpath,/tmp"]),
]
X86_64_ONLY = (probes_its_stack, marks_its_targets)   # as it is looked for here
SPLIT = ("debug information lies beside it", is_split)


def problems(path):
    """What the program lacks."""
    program = Program(path)
    return [name for name, holds in [row[:2] for row in PROTECTIONS] + [SPLIT] if not holds(program)]


SOURCE = """#include <unistd.h>
#include <cstring>
#include <string>
#include <vector>
std::vector<std::string> words(3);
void fill(char*, char*);
int main(int count, char** arguments) {
  char page[20000];
  char name[16];
  fill(page, name);
  std::strcpy(name, arguments[0]);
  return static_cast<int>(words[static_cast<std::size_t>(count)].size()) + page[0] + name[0];
}
void __attribute__((noinline)) fill(char* page, char* name) {
  if (read(0, page, 20000) < 0) name[0] = page[1];
}
"""


def split(program):
    debug = f"{program}.debug"
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", program], check=True)


def make_writable(program):
    """Gives the segment of the code the flag W."""
    text = bytearray(Path(program).read_bytes())
    first, size, count = struct.unpack_from("<Q", text, 32)[0], *struct.unpack_from("<HH", text, 54)
    for place in range(first, first + count * size, size):
        kind, flags = struct.unpack_from("<II", text, place)
        if kind == 1 and flags & 1:
            struct.pack_into("<I", text, place + 4, flags | 2)
    Path(program).write_bytes(text)


def self_test():
    """Builds the program with everything, and once without each; exactly that must be missed."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "program.cpp"
        source.write_text(SOURCE, encoding="utf-8")

        rows = [row for row in PROTECTIONS if row[1] not in X86_64_ONLY or platform.machine() == "x86_64"]

        def built(name, without):
            switches = [switch for row in rows for switch in (row[3] if row[0] == without else row[2])]
            if "-no-pie" in switches:
                switches = [switch for switch in switches if switch not in ("-fPIE", "-pie")]
            program = str(Path(folder) / name)
            subprocess.run([os.environ.get("CXX", "g++"), "-O2", "-g1", "-Wl,--build-id", str(source), *switches, "-o", program], check=True)
            return program

        whole = built("whole", None)
        unsplit = problems(whole)
        assert unsplit == [SPLIT[0]], unsplit
        split(whole)
        assert not problems(whole), problems(whole)
        os.rename(f"{whole}.debug", f"{whole}.away")
        assert problems(whole) == [SPLIT[0]], problems(whole)
        for number, row in enumerate(rows):
            program = built(f"without{number}", row[0])
            split(program)
            if row[1] is writes_no_code:
                make_writable(program)
            assert problems(program) == [row[0]], f"'{row[0]}' was left out; missed: {problems(program)}"
        os.rename(f"{whole}.away", f"{whole}.debug")
        os.replace(f"{folder}/without0.debug", f"{whole}.debug")   # of another build
        assert problems(whole) == [SPLIT[0]], problems(whole)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", default=str(ROOT / "build/release/reprise"))
    arguments.add_argument("--self-test", action="store_true", help="only check the checks")
    given = arguments.parse_args()
    if given.self_test:
        self_test()
        return 0
    missing = problems(given.bin)
    for name in missing:
        print(f"hardening: not so: {name}")
    print(f"hardening: {len(PROTECTIONS) + 1 - len(missing)} of {len(PROTECTIONS) + 1} hold for {given.bin}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
