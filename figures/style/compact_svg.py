"""SVG that is small enough for a page of hundreds of figures. Lines stay where they are, to a hundredth of a point."""

from __future__ import annotations

import base64
import io
import re
from collections import Counter
from functools import lru_cache

from PIL import Image

COLOURS = 64  # of an embedded picture
EMBEDDED = re.compile(r'data:image/png;base64,([^"]*)"')
UNSEEN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
DECIMALS = re.compile(r"scale\([^)]*\)|\d+\.\d{3,}")
NAME, USED = re.compile(r' id="([^"]*)"'), re.compile(r'(["(]#)([^")]*)(?=[")])')
PIECE, KNOWN = re.compile(r"[A-Za-z]|[^\sA-Za-z]+"), re.compile(r"[^A-Za-z]*(?:[MLQCz][^A-Za-z]*)*")
PATH = re.compile(r'(?<= d=")[^"]*')
STYLED, USE = re.compile(r'<path id="(\w+)"[^>]*style="([^"]*)"'), re.compile(r'<use xlink:href="#(\w+)"[^>]*>')
STYLE = re.compile(r' style="([^"]*)"')
GROUP = re.compile(r"<g>|<g/>|<g [^>]*[^/]>|</g>")
GLYPH = re.compile(r'<use xlink:href="#(\w+)" transform="translate\(([\d.-]+)(?: ([\d.-]+))?\)"/>')


def compact(svg: str) -> str:
    """The same drawing in fewer bytes."""
    pictures = [_few_colours(match[1]) for match in EMBEDDED.finditer(svg)]
    pieces = EMBEDDED.sub("\0", svg).split("\0")
    text = _short_names("\0".join(pieces))
    text = DECIMALS.sub(_rounded, UNSEEN.sub("", text))
    text = " ".join(GLYPH.sub(_placed, _once(text)).split()).replace("> <", "><").replace("xlink:href", "href")
    text = _few_groups(PATH.sub(lambda match: relative(match[0]), text)).replace("; ", ";")
    text = _shared_styles(re.sub(r"(?<=[a-z]): (?=[^\"]*\")", ":", text))
    first, *rest = text.split("\0")
    embedded = (f'data:image/png;base64,{picture}"{piece}' for picture, piece in zip(pictures, rest, strict=True))
    return "".join([first, *embedded])


def _short_names(text: str) -> str:
    """Names that nothing refers to go; the others become short."""
    pieces = USED.split(text)  # what stands between two references, how a reference begins, its name, ...
    short = {name: f"n{number}" for number, name in enumerate(dict.fromkeys(pieces[2::3]))}
    pieces[2::3] = [short[name] for name in pieces[2::3]]
    return NAME.sub(lambda m: f' id="{short[m[1]]}"' if m[1] in short else "", "".join(pieces))


def _rounded(match: re.Match[str]) -> str:
    """A number in hundredths; what scales stays as it is."""
    return match[0] if match[0].startswith("scale") else f"{float(match[0]):.2f}"


def placed(name: str, across: float, down: float) -> str:
    """A glyph of a text, whose units are a tenth of the picture's."""
    x, y = (f"{round(value, 2):.1f}".removesuffix(".0") for value in (across, down))
    places = f' x="{x}"' * (x != "0") + f' y="{y}"' * (y != "0")
    return f'<use xlink:href="#{name}"{places}/>'


def _placed(match: re.Match[str]) -> str:
    return placed(match[1], float(match[2]), float(match[3] or 0))


def _once(text: str) -> str:
    """Styles of copies that their original has too: it does not inherit them."""
    styles = dict(STYLED.findall(text))
    return USE.sub(lambda m: m[0].replace(f' style="{styles.get(m[1])}"', ""), text)


def _shared_styles(text: str) -> str:
    """Styles that stand at several places as rules of one sheet."""
    if "</style>" not in text:
        return text
    often = [style for style, count in Counter(STYLE.findall(text)).items() if count > 2]
    names = {style: f"s{number}" for number, style in enumerate(often)}
    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())
    text = STYLE.sub(lambda m: f' class="{names[m[1]]}"' if m[1] in names else m[0], text)
    return text.replace("</style>", f"{rules}</style>", 1)


def _few_groups(text: str) -> str:
    """Without groups that say nothing."""
    kept: list[bool] = []

    def shown(match: re.Match[str]) -> str:
        if match[0] == "<g/>":
            return ""
        if match[0] != "</g>":
            kept.append(match[0] != "<g>")
            return match[0] if kept[-1] else ""
        return match[0] if kept.pop() else ""

    return GROUP.sub(shown, text)


@lru_cache(maxsize=2_000)
def relative(path: str) -> str:
    """A path from point to point, in hundredths that do not add up to a drift; commands M, L, Q, C and z alone."""
    pieces, here, first, last = PIECE.findall(path), (0, 0), (0, 0), ""
    if not pieces or not KNOWN.fullmatch(path):
        return path
    out, at = "", 0
    while at < len(pieces):
        command = pieces[at]
        at += 1
        if command == "z":
            out, last, here = out + "z", "z", first
            continue
        count = {"M": 1, "L": 1, "Q": 2, "C": 3}[command]
        values = [round(100 * float(x)) for x in pieces[at : at + 2 * count]]
        at += 2 * count
        points = list(zip(values[::2], values[1::2], strict=True))
        steps = [part for x, y in points for part in (x - here[0], y - here[1])]
        here = points[-1]
        if command == "M":
            first = here
        word = command.lower()
        if command == "L" and 0 in steps:
            word, steps = ("v", steps[1:]) if steps[0] == 0 else ("h", steps[:1])
        numbers = "".join(_apart(step) for step in steps)
        repeated = word == last and word != "m"
        out += numbers if repeated else word + numbers.removeprefix(" ")
        last = word
    return out


@lru_cache(maxsize=20_000)
def _apart(hundredths: int) -> str:
    """A number with what tells it from the one before."""
    sign, (whole, rest) = "-" if hundredths < 0 else " ", divmod(abs(hundredths), 100)
    decimals = f".{rest:02d}".rstrip("0") if rest else ""
    return f"{sign}{whole or '' if decimals else whole}{decimals}"


def _few_colours(encoded: str) -> str:
    picture = Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA")
    out = io.BytesIO()
    picture.quantize(COLOURS, method=Image.Quantize.FASTOCTREE).save(out, "PNG", optimize=True)
    return base64.b64encode(out.getvalue()).decode()
