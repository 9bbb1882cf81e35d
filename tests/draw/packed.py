"""What an exported page carries packed, as base64 of its gzip."""

import base64
import gzip
import re


def unpacked(page: str, name: str) -> str:
    """Return the text of the packed script element of that id."""
    ((text,),) = [re.findall(rf'<script type="application/gzip" id="{name}">(.*?)</script>', page)]
    return gzip.decompress(base64.b64decode(text)).decode()
