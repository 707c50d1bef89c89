"""Finds parts of an SVG picture that programs without style sheets cannot show."""
import re
from xml.etree import ElementTree

SHAPES = ("text", "rect", "path", "circle", "line", "polygon", "polyline", "ellipse")
COLOR = re.compile(r"#[0-9a-f]{6}|none")


def problems(text):
    """Returns a sentence for each fault. A fault is an element without colour attributes, or a style rule that is
    needed on a light page too."""
    found = [f"{name} outside a style sheet" for name in ("var(", "currentColor") if name in re.sub(r"<style>.*?</style>", "", text, flags=re.S)]
    for sheet in re.findall(r"<style>(.*?)</style>", text, flags=re.S):
        if not re.fullmatch(r"\s*@media \(prefers-color-scheme: ?dark\) ?\{([^{}]*\{[^{}]*\})*\s*\}\s*", sheet):
            found.append(f"a rule for a light page: {sheet.strip()[:80]}")
    for element in ElementTree.fromstring(text).iter():
        name = element.tag.rpartition("}")[2]
        paints = [element.get(key) for key in ("fill", "stroke") if element.get(key)]
        if name in SHAPES and (not paints or not all(map(COLOR.fullmatch, paints)) or set(paints) == {"none"}):
            found.append(f"<{name}> is painted {paints or 'by default'}: {ElementTree.tostring(element, encoding='unicode')[:120]}")
        if name == "text" and not (element.get("font-family") and element.get("font-size")):
            found.append(f"<text> has no font of its own: {(element.text or '')[:40]}")
        if name == "path" and not element.get("fill"):
            found.append(f"<path> is filled black: {element.get('d')[:40]}")
    return found
