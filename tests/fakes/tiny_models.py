"""Models with random weights, made in a moment: whatever a model of real size does, they do."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import LlavaProcessor, PreTrainedTokenizerFast

CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>"
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}"
    "{% if part.type == 'image' %}<image>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endif %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ("<|end|>", "<|pad|>", "<image>", "<|system|>", "<|user|>", "<|assistant|>")
_LINES = (
    "Thought: the button is there, so I press it.\nAction: click(12)",
    'Action: fill(3, "some text")\nAction: answer("done")\nAction: scroll(0, "down")',
    '[12] button "Send"\n[3] textbox "Name"\n[4] link "Home"\nheading "Contact us"',
    "The task: press the button that is called OK, then write a name into the field.",
)


@cache
def _tokenizer_file(vocabulary: int, lines: tuple[str, ...]) -> str:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer.to_str()


def tokenizer(vocabulary=400, lines=_LINES, chat=CHAT_TEMPLATE):
    """A byte-level BPE that knows every text, with the chat template above."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    made = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(_tokenizer_file(vocabulary, tuple(lines))),
        eos_token="<|end|>",
        pad_token="<|pad|>",
        extra_special_tokens={"image_token": "<image>"},
    )
    made.chat_template = chat or None
    return made


def causal(folder: Path, *, seed: int = 0, hidden: int = 64, layers: int = 2) -> Path:
    """A Llama of about 0.15 million parameters with its tokenizer, saved in the folder."""
    import torch
    from transformers import LlamaForCausalLM

    words = tokenizer()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        LlamaForCausalLM(_llama(len(words), hidden, layers, words)).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def llava(folder: Path, *, seed: int = 0, image_size: int = 56) -> Path:
    """A LLaVA with a CLIP tower of 14-pixel patches that sees the whole picture, uncropped."""
    import torch
    from transformers import CLIPVisionConfig, LlavaConfig, LlavaForConditionalGeneration

    words = tokenizer()
    vision = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=image_size,
        patch_size=14,
        projection_dim=32,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=_llama(len(words), 64, 2, words),
        image_token_index=words.convert_tokens_to_ids("<image>"),
        pad_token_id=words.pad_token_id,
        eos_token_id=words.eos_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        LlavaForConditionalGeneration(config).save_pretrained(folder)
    _llava_processor(words, image_size).save_pretrained(folder)
    return folder


def _llama(vocabulary, hidden, layers, words):
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        bos_token_id=None,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
        tie_word_embeddings=True,
    )


def _llava_processor(words: "PreTrainedTokenizerFast", image_size: int) -> "LlavaProcessor":
    from transformers import LlavaProcessor
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    size = {"height": image_size, "width": image_size}
    images = CLIPImageProcessorPil(size=size, do_center_crop=False)
    return LlavaProcessor(
        images,
        words,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT_TEMPLATE,
    )
