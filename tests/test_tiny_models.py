"""The tiny models load through the very classes that real ones do."""

from pathlib import Path

from PIL import Image

from tests.fakes import tiny_models


def test_a_tiny_causal_model_writes(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny_models.causal(tmp_path)
    words = AutoTokenizer.from_pretrained(folder)
    prompt = words.apply_chat_template(
        [{"role": "user", "content": "hello"}], add_generation_prompt=True, return_tensors="pt"
    )
    model = AutoModelForCausalLM.from_pretrained(folder)
    written = model.generate(**prompt, max_new_tokens=3, do_sample=False)
    assert written.shape[1] <= prompt["input_ids"].shape[1] + 3
    assert words.decode(words.encode("Grüße ☃\n", add_special_tokens=False)) == "Grüße ☃\n"


def test_a_tiny_llava_sees_the_sides_of_a_wide_picture(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    folder = tiny_models.llava(tmp_path)
    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder)
    prompt = "<|user|><image>hello<|end|><|assistant|>"

    def logits(colour: str) -> "torch.Tensor":
        picture = Image.new("RGB", (640, 360))
        picture.paste(colour, (0, 0, 60, 360))
        inputs = processor(images=picture, text=prompt, return_tensors="pt")
        with torch.no_grad():
            return model(**inputs).logits[0, -1]

    assert not torch.allclose(logits("red"), logits("blue"), atol=1e-4)
