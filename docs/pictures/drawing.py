"""Draws SVG pictures that are legible on light and dark pages. The same picture always gives the same bytes. The
colours for light pages and the fonts are attributes of each element, so that programs that ignore style sheets
(rsvg-convert, ImageMagick, LibreOffice, a sanitizer) show the light version. The style sheet has only the colours for
dark pages."""
import re
from html import escape

# name: (colour on a light page, on a dark page)
COLORS = {
    "page": ("#ffffff", "#0d1117"), "edge": ("#d0d7de", "#30363d"), "plain": ("#f6f8fa", "#161b22"), "grid": ("#e6eaef", "#21262d"),
    "text": ("#1f2328", "#e6edf3"), "dim": ("#59636e", "#9198a1"),
    "blue": ("#0969da", "#58a6ff"), "blue-pale": ("#ddf4ff", "#10253f"),
    "green": ("#1a7f37", "#3fb950"), "green-pale": ("#dafbe1", "#12261a"),
    "amber": ("#9a6700", "#d29922"), "amber-pale": ("#fff4d0", "#2b2111"),
    "red": ("#cf222e", "#f85149"), "red-pale": ("#ffebe9", "#31171a"),
    "violet": ("#8250df", "#bc8cff"), "violet-pale": ("#fbefff", "#251a36"), "teal": ("#1b7c83", "#39c5cf"),
    "pink": ("#bf3989", "#f778ba"), "brown": ("#953800", "#ffa657"),
}
PROSE = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
CODE = "ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', monospace"


def number(value):
    return f"{value:.1f}".removesuffix(".0")


KINDS = {"code": {"font-family": CODE, "font-size": "12"}, "small": {"font-size": "11.5"}, "tick": {"font-size": "10.5"}, "bold": {"font-weight": "600"},
         "dim": {"fill": "var(--dim)"}, "line": {"fill": "none", "stroke-width": "1.5"}}
DEFAULTS = {"text": {"font-family": PROSE, "font-size": "13", "fill": "var(--text)"}, "path": {"fill": "none"}}
TAG = re.compile(r"<(text|tspan|rect|path)((?: [\w:-]+=\"[^\"]*\")+)(/?)>")
ATTRIBUTE = re.compile(r" ([\w:-]+)=\"([^\"]*)\"")
COLOR = re.compile(r"var\(--([\w-]+)\)")


def plain_tag(match):
    """Returns the tag with its class, style and colour names replaced by plain attributes."""
    name, text, end = match.groups()
    given = dict(ATTRIBUTE.findall(text))
    kinds = given.pop("class", "").split()
    style = dict(re.findall(r"([\w-]+): ([^;]+)", given.pop("style", "")))
    meant = dict(DEFAULTS.get(name, {}))
    for kind, attributes in KINDS.items():
        meant.update(attributes if kind in kinds else {})
    found = {**meant, **given, **{key: value.removesuffix("px") for key, value in style.items()}}
    for key, letter in (("fill", "f"), ("stroke", "s")):
        color = COLOR.fullmatch(found.get(key, ""))
        if color:
            kinds.append(f"{letter}-{color.group(1)}")
            found[key] = COLORS[color.group(1)][0]
    named = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<{name}{named}" + "".join(f' {key}="{value}"' for key, value in found.items()) + f"{end}>"


def plain(markup):
    """Returns the same picture with a style sheet for dark pages only."""
    markup = TAG.sub(plain_tag, re.sub(r"<style>.*?</style>", "<style></style>", markup, flags=re.S))
    used = sorted(set(re.findall(r"\b[fs]-[\w-]+", " ".join(re.findall(r'class="([^"]*)"', markup)))))
    rules = " ".join(f".{name} {{ {'fill' if name[0] == 'f' else 'stroke'}: {COLORS[name[2:]][1]}; }}" for name in used)
    return markup.replace("<style></style>", f"<style>\n@media (prefers-color-scheme: dark) {{ {rules} }}\n</style>", 1)


class Drawing:
    """A picture. Coordinates are pixels of `width` by `height`, from the upper left."""

    def __init__(self, width, height, title, says):
        self.width, self.height, self.title, self.says = width, height, title, says
        self.parts, self.heads = [], set()

    def add(self, part):
        self.parts.append(part)

    def box(self, x, y, width, height, color="edge", fill="plain", radius=7, title=None, more=""):
        inside = f"<title>{escape(title)}</title>" if title else ""
        self.add(f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" rx="{radius}" '
                 f'fill="var(--{fill})" stroke="var(--{color})"{more}>{inside}</rect>')

    def text(self, x, y, words, kind="", anchor="start", color=None):
        """Adds a text. `words` is the text, or, for several colours or fonts, a list of pairs (class, text)."""
        if not isinstance(words, str):
            inside = "".join(f'<tspan class="{kind}">{escape(text)}</tspan>' for kind, text in words)
            kind = ""
        else:
            inside = escape(words)
        named = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
        named += f' style="fill: var(--{color})"' if color else ""
        self.add(f'<text x="{number(x)}" y="{number(y)}"{named} xml:space="preserve">{inside}</text>')

    def line(self, path, color="dim", head=True, dashed=False, width=None, opacity=None):
        """Adds a line. `path` is an SVG path; `head` adds an arrowhead at its end."""
        if head:
            self.heads.add(color)
        more = (f' marker-end="url(#to-{color})"' if head else "") + (' stroke-dasharray="4 4"' if dashed else "")
        more += (f' style="stroke-width: {width}"' if width else "") + (f' opacity="{opacity}"' if opacity else "")
        self.add(f'<path class="line" d="{path}" stroke="var(--{color})"{more}/>')

    def svg(self):
        marks = "".join(f'<marker id="to-{color}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                        f'<path d="M0 0.5 L7.5 4 L0 7.5 z" fill="var(--{color})"/></marker>' for color in sorted(self.heads))
        body = "\n".join(self.parts)
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        return plain(
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
            f'role="img" aria-labelledby="title says">\n<title id="title">{escape(self.title)}</title>\n'
            f'<desc id="says">{escape(self.says)}</desc>\n<style></style>\n<defs>{marks}</defs>\n'
            f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{self.height - 1}" rx="10" fill="var(--page)" '
            f'stroke="var(--edge)"/>\n{body}\n</svg>\n')
