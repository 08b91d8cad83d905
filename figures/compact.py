"""SVG that is small enough for a page of hundreds of figures. Lines stay where they are, to a hundredth of a point."""

from __future__ import annotations

import base64
import io
import re

from PIL import Image

COLOURS = 64  # of an embedded picture
EMBEDDED = re.compile(r'data:image/png;base64,([^"]*)"')
UNSEEN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
DECIMALS = re.compile(r"(?<!scale\()(?<![\d.])(\d+\.\d{3,})")
NAME, USED = re.compile(r' id="([^"]*)"'), re.compile(r'(?<=["(])#([^")]*)(?=[")])')
GLYPH = re.compile(r'<use xlink:href="(#\w+)" transform="translate\(([\d.-]+)(?: ([\d.-]+))?\)"/>')


def compact(svg: str) -> str:
    """The same drawing in fewer bytes."""
    pictures = [_few_colours(match[1]) for match in EMBEDDED.finditer(svg)]
    pieces = EMBEDDED.sub("\0", svg).split("\0")
    text = _short_names("\0".join(pieces))
    text = DECIMALS.sub(lambda match: f"{float(match[1]):.2f}", UNSEEN.sub("", text))
    text = re.sub(r"\s+", " ", GLYPH.sub(_placed, text)).replace("> <", "><").replace("xlink:href", "href")
    first, *rest = text.split("\0")
    embedded = (f'data:image/png;base64,{picture}"{piece}' for picture, piece in zip(pictures, rest, strict=True))
    return "".join([first, *embedded])


def _short_names(text: str) -> str:
    """Names that nothing refers to go; the others become short."""
    short = {name: f"n{number}" for number, name in enumerate(dict.fromkeys(USED.findall(text)))}
    text = NAME.sub(lambda m: f' id="{short[m[1]]}"' if m[1] in short else "", text)
    return USED.sub(lambda m: f"#{short[m[1]]}", text)


def _placed(match: re.Match[str]) -> str:
    across, down = match[2], match[3]
    return (
        f'<use xlink:href="{match[1]}"' + f' x="{across}"' * (across != "0") + (f' y="{down}"' if down else "") + "/>"
    )


def _few_colours(encoded: str) -> str:
    picture = Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA")
    out = io.BytesIO()
    picture.quantize(COLOURS, method=Image.Quantize.FASTOCTREE).save(out, "PNG", optimize=True)
    return base64.b64encode(out.getvalue()).decode()
