"""Pictures that stand for screenshots."""

import io


def picture(
    *boxes: tuple[int, int, int, int], size: tuple[int, int] = (280, 140), colour: str = "white"
) -> bytes:
    """A PNG of one colour with black boxes."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", size, colour)
    for box in boxes:
        ImageDraw.Draw(image).rectangle(box, fill="black")
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
