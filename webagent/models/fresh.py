"""A small untrained language model: random weights, and a tokenizer trained on texts."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from webagent.errors import SetupError

if TYPE_CHECKING:
    pass

_END, _PAD = "<|end|>", "<|pad|>"
_ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
_CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@dataclass(frozen=True)
class ModelShape:
    """Shape of a new model; the defaults give about 3.6 million parameters."""

    vocabulary: int = 2_000
    """Vocabulary size, with the 256 bytes and five special tokens; smaller if texts have fewer."""
    width: int = 256
    """Hidden size."""
    layers: int = 4
    """Number of transformer blocks."""
    heads: int = 4
    """Attention heads per layer."""
    context: int = 4_096
    """Maximum tokens of a prompt and its reply together."""


def create_model(
    folder: Path, texts: Iterable[str], shape: ModelShape | None = None, *, seed: int = 0
) -> int:
    """Save a Llama of this shape with its tokenizer, which loads through the Auto classes.

    The tokenizer is a byte-level BPE (Sennrich et al. 2016, arXiv 1508.07909) that spells every
    text; the same texts, shape and seed give the same model. Returns the number of parameters.
    Raises `SetupError` for a folder that holds something, or a shape that cannot be.
    """
    shape = shape or ModelShape()
    if folder.is_dir() and any(folder.iterdir()):
        raise SetupError(f"{folder} is not empty; name a new folder")
    if shape.width % (2 * shape.heads):
        raise SetupError(f"a width of {shape.width} cannot be shared by {shape.heads} heads")
    if shape.vocabulary < 256 + 2 + len(_ROLES):
        raise SetupError(f"a vocabulary of {shape.vocabulary} has no room for the 256 bytes")
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    bytewise = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = Tokenizer(models.BPE())
    # Digits one by one: marks are numbers, and a number is no word of its own.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), bytewise]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=shape.vocabulary,
        special_tokens=[_END, _PAD, *_ROLES],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    words = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=_END, pad_token=_PAD)
    words.chat_template = _CHAT_TEMPLATE
    words.model_max_length = shape.context
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=shape.width,
        intermediate_size=3 * shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        max_position_embeddings=shape.context,
        bos_token_id=None,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
        tie_word_embeddings=True,
        # Not transformers' 0.02, which suits widths of some 2,500: at 96, attention starts so even
        # that a model needs three times the tokens before it looks at a word (decision 062).
        initializer_range=shape.width**-0.5,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = LlamaForCausalLM(config)
    disable_progress_bar()
    network.save_pretrained(folder)
    words.save_pretrained(folder)
    return int(network.num_parameters())
