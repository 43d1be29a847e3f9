"""How a language policy is asked, kept beside its weights so that acting asks as training did."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from webagent.action import ESSENTIAL
from webagent.errors import SetupError, unknown_name
from webagent.files import describe_invalid
from webagent.models.model import Model
from webagent.models.prompt import Prompt, load_prompt
from webagent.observation.variants import ObservationVariant, variant_named
from webagent.policy.knowledge import Knowledge
from webagent.policy.language import PROMPT, LanguagePolicy
from webagent.policy.prompting import Prompting, Switch, switch_on
from webagent.store import Store
from webagent.store.database import ImageStore

FILE = "asking.json"
_STATE = "asking"
MAX_TOKENS = 2000
"""Of a page's text in a prompt, at most; estimated."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The prompt, the actions, the switches and the form in which pages are shown."""

    prompt: str = "act"
    actions: tuple[str, ...] = ESSENTIAL
    prompting: Prompting = field(default_factory=Prompting)
    observation: str = "text"

    @property
    def variant(self) -> ObservationVariant:
        """Return the form in which pages are shown."""
        return variant_named(self.observation)

    def policy(
        self,
        model: Model,
        images: ImageStore | None = None,
        knowledge: tuple[Knowledge, ...] = (),
        *,
        temperature: float = 0.0,
        max_tokens: int = 1024,
    ) -> LanguagePolicy:
        """Return a policy that asks the model so; `images` holds the screenshots it is to look at.

        Raises `SetupError` for what the model cannot do.
        """
        return LanguagePolicy(
            model,
            lambda page: self.variant.write(page, MAX_TOKENS),
            images=images.get if images else None,
            variant=self.variant,
            temperature=temperature,
            max_tokens=max_tokens,
            actions=self.actions,
            prompt=prompt_named(self.prompt),
            prompting=self.prompting,
            knowledge=knowledge,
            add_image=images.add if images else None,
        )

    def switched(self, words: tuple[Switch, ...]) -> "Asking":
        """Return the same prompted as the words name; unchanged for none."""
        if not words:
            return self
        prompt = "brief" if "brief" in words else self.prompt
        prompting = switch_on(words) if set(words) != {"brief"} else self.prompting
        return replace(self, prompt=prompt, prompting=prompting)

    def note(self, store: Store) -> None:
        """Keep it with a run."""
        store.put_state(_STATE, json.loads(json.dumps(asdict(self))))

    @classmethod
    def of(cls, store: Store) -> "Asking":
        """Return how a run's policy was asked; as always where nothing was noted."""
        noted = store.get_state(_STATE)
        return _read(json.dumps(noted), str(store.folder)) if noted else cls()

    def save(self, folder: Path) -> None:
        """Write it into the folder of the weights."""
        text = json.dumps(asdict(self), indent=1)
        (folder / FILE).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> "Asking | None":
        """Return what `save` wrote; None where there is no file. Raises `SetupError`."""
        file = folder / FILE
        if not file.is_file():
            return None
        return _read(file.read_bytes(), str(file))


def _read(text: str | bytes, where: str) -> Asking:
    from pydantic import TypeAdapter, ValidationError

    prompting = json.loads(text).get("prompting", {})
    gone = [name for name in ("plan", "critique") if prompting.get(name)]
    if gone or prompting.get("thoughts") == "notes":
        raise SetupError(
            f"{where}: these weights were prompted with {', '.join(gone) or 'notes'}, which this"
            " version no longer has; use the version that trained them, or delete the setting"
        )
    try:
        return TypeAdapter(Asking).validate_json(text)
    except ValidationError as error:
        raise SetupError(f"{where}: {describe_invalid(error)}; mend it or delete it") from error


def prompt_named(name: str) -> Prompt:
    """Return one of the policy's prompts. Raises `SetupError` when there is none of this name."""
    known = {"act": PROMPT, "brief": PROMPT.parent / "brief.md"}
    if name not in known:
        raise unknown_name("prompt", name, known)
    return load_prompt(known[name])
