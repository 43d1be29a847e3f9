"""From a folder or a hub name to weights, through the Auto classes of transformers."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch

from webagent.errors import SetupError
from webagent.models.local.prompts import ChatWriter, ImageReader, PromptReader
from webagent.models.local.source import ModelSource, check_model
from webagent.models.local.weights import MAKING_MODULES, Endings, LoadedWeights

_ENDLESS = 1 << 30
"""The context of a model that names none."""
_IMAGE_IDS = ("image_token_id", "image_token_index")
"""What configurations call the id that stands for a part of an image."""


def load_weights(source: ModelSource) -> LoadedWeights:
    """Return the weights with their tokenizer and, for an image-text model, its image processor.

    Raises `SetupError` for whatever is missing or does not belong together.
    """
    from transformers import AutoConfig, AutoTokenizer
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    from transformers.utils.logging import disable_progress_bar

    check_model(source.name)
    disable_progress_bar()
    with _explain_failures(source.name):
        config = AutoConfig.from_pretrained(source.name)
        tokenizer = AutoTokenizer.from_pretrained(source.name)
    sees = config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    processor, image_processor = _load_processors(source.name) if sees else (None, None)
    with MAKING_MODULES:
        module = _load_module(source, config, sees)
    image_id = _find_image_id(config, tokenizer) if sees else None
    # torch types every attribute of a module as a tensor or a module.
    known = module.get_input_embeddings().weight.shape[0]  # type: ignore[operator]
    if len(tokenizer) > known:
        raise SetupError(
            f"the tokenizer of {source.name} has {len(tokenizer)} ids and the model knows {known};"
            " they do not belong together"
        )
    chat_writer = _make_chat_writer(source, tokenizer, processor, image_id)
    image_reader = image_id is not None and ImageReader(
        image_processor=image_processor,
        tokenizer=tokenizer,
        processor=processor,
        image_id=image_id,
        write=chat_writer.write,
    )
    reader = PromptReader(module, chat_writer, image_reader or None, _find_context(config))
    endings = _find_endings(source.name, config, tokenizer, module.generation_config, sees=sees)
    return LoadedWeights(source.name, module, tokenizer, reader, endings)


@dataclass(frozen=True, slots=True)
class TextReading:
    """What turns messages into ids and ids into text, as the loaded weights do, without them."""

    tokenizer: Any
    chat_writer: ChatWriter
    endings: Endings
    context: int


def load_text_reading(name: str) -> TextReading:
    """Return how the weights of a folder or a hub name read and write text; none are loaded.

    Raises `SetupError` as `load_weights` does.
    """
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

    check_model(name)
    with _explain_failures(name):
        config = AutoConfig.from_pretrained(name)
        tokenizer = AutoTokenizer.from_pretrained(name)
    try:
        generation = GenerationConfig.from_pretrained(name)
    except OSError:  # the weights have none of their own
        generation = GenerationConfig.from_model_config(config)
    sees = config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    processor = _load_processors(name)[0] if sees else None
    image_id = _find_image_id(config, tokenizer) if sees else None
    return TextReading(
        tokenizer,
        _make_chat_writer(ModelSource(name), tokenizer, processor, image_id),
        _find_endings(name, config, tokenizer, generation, sees=sees),
        _find_context(config),
    )


def _make_chat_writer(
    source: ModelSource, tokenizer: Any, processor: Any | None, image_id: int | None
) -> ChatWriter:
    marks = [getattr(processor, mark, None) or "" for mark in ("image_token", "boi_token")]
    if image_id is not None:
        marks.append(tokenizer.convert_ids_to_tokens(image_id))
    if source.chat_template:
        path = Path(source.chat_template).expanduser()
        if not path.is_file():
            raise SetupError(
                f"no file {source.chat_template!r}; chat_template names a file with a Jinja"
                " template"
            )
        template = path.read_text(encoding="utf-8")
    else:
        given = [getattr(owner, "chat_template", None) for owner in (processor, tokenizer)]
        named = [each.get("default") if isinstance(each, dict) else each for each in given]
        template = str(next(filter(None, named), ""))
        if not template:
            raise SetupError(
                f"{source.name} has no chat template, so its messages cannot be written out; name"
                " a file with a Jinja template in chat_template (a base model's instruct sibling"
                " has one)"
            )
    return ChatWriter(tokenizer, template, typed=image_id is not None, marks=marks)


def _find_context(config: Any) -> int:
    return getattr(config.get_text_config(), "max_position_embeddings", None) or _ENDLESS


@contextlib.contextmanager
def _explain_failures(name: str) -> Iterator[None]:
    """Turn what transformers says of a model it cannot load into our error."""
    from safetensors import SafetensorError

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise SetupError(
            f"{name} does not fit on the device; load it with a smaller dtype, on another device or"
            " behind a server"
        ) from error
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        message = " ".join(str(error).split())[:300]
        eager = "attention implementation" in message
        step = "load it with attention='eager'" if eager else "check the name, files and network"
        raise SetupError(
            f"{name} does not load as a model of transformers: {message}; {step}"
        ) from error


def _load_module(source: ModelSource, config: Any, sees: bool) -> torch.nn.Module:
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
    from transformers.cache_utils import DynamicCache

    device = source.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise SetupError(f"device {device!r} was asked for and there is no GPU; use cpu or auto")
    dtype = source.dtype
    if dtype == "auto" and device == "cpu":
        dtype = "float32"
    kind: Any = AutoModelForImageTextToText if sees else AutoModelForCausalLM
    with _explain_failures(source.name):
        module, report = kind.from_pretrained(
            source.name,
            config=config,
            dtype=dtype,
            attn_implementation=source.attention,
            output_loading_info=True,
        )
        module = module.to(device).eval()
    if missing := sorted(report["missing_keys"]):
        raise SetupError(
            f"{source.name} lacks {len(missing)} tensors of a {type(module).__name__}, such as"
            f" {missing[0]}; these would be random: copy the folder again"
        )
    if any(DynamicCache(config=module.config).is_linear):
        raise SetupError(
            f"{source.name} has recurrent layers, whose state cannot be cut back to a prefix; serve"
            " it (vLLM, SGLang) and use an endpoint"
        )
    return cast(torch.nn.Module, module)


def _load_processors(name: str) -> tuple[Any | None, Any]:
    """Return the processor, where it loads, and the image processor alone."""
    from transformers import AutoProcessor

    refused = ""
    try:
        processor = AutoProcessor.from_pretrained(name)
        if getattr(processor, "image_processor", None) is not None:
            return processor, processor.image_processor
    except (ImportError, OSError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        refused = " ".join(str(error).split())[:200]
    with _explain_failures(name):
        import transformers
        from transformers.image_processing_base import ImageProcessingMixin

        try:
            images = transformers.AutoImageProcessor.from_pretrained(name)
        except ImportError:
            described, _ = ImageProcessingMixin.get_image_processor_dict(name)
            kind = str(described.get("image_processor_type", "")).removesuffix("Fast")
            twin = getattr(transformers, f"{kind.removesuffix('Pil')}Pil", None)
            if twin is None:
                raise
            images = twin.from_pretrained(name)
    if getattr(images, "merge_size", None) is None:
        raise SetupError(
            f"the processor of {name} does not load ({refused or 'it has no image processor'}), and"
            " its image processor does not tell the grid of an image; install what it names, or"
            " use a model such as LLaVA, Idefics3 or Qwen2.5-VL"
        )
    return None, images


def _find_image_id(config: Any, tokenizer: Any) -> int:
    named = (getattr(config, name, None) for name in _IMAGE_IDS)
    found = next((one for one in named if one is not None), -1)
    if not 0 <= found < len(tokenizer) or tokenizer.convert_ids_to_tokens(found) is None:
        raise SetupError(
            f"the tokenizer lacks the token that stands for an image (id {found}, it knows"
            f" {len(tokenizer)}); it belongs to a text model: save its own with it"
        )
    return int(found)


def _find_endings(
    name: str, config: Any, tokenizer: Any, generation: Any, *, sees: bool
) -> Endings:
    configured = getattr(generation, "eos_token_id", None)
    stops = set(configured if isinstance(configured, list) else [configured])
    stops = (stops | {tokenizer.eos_token_id}) - {None}
    if not stops:
        raise SetupError(
            f"neither the tokenizer nor the generation config of {name} names the token that ends a"
            " reply; set eos_token in tokenizer_config.json"
        )
    # Ids that stand for what is not text: a reply that held one could not be read again.
    names = (*_IMAGE_IDS, "video_token_id", "audio_token_id") if sees else ()
    never = {one for each in names if isinstance(one := getattr(config, each, None), int)}
    return Endings(frozenset(stops), tuple(sorted(never)))
