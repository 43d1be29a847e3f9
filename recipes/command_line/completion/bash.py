"""The script for bash, which zsh takes through bashcompinit."""

import shlex
from collections.abc import Iterator, Sequence

from recipes.command_line.completion.words import FILES, Completed, recipes, values
from recipes.command_line.registry import RECIPES

_EVERYWHERE = ("--help", "--json", "--config")


def bash(*, zsh: bool = False) -> str:
    """Functions for bash's `complete`; zsh takes them through bashcompinit."""
    every = list(recipes())
    after = [line for recipe in every for line in _after(recipe)]
    of = [
        f"    {each.name}) flags={quoted(_flags(each))} values={quoted(each.positional)} ;;"
        for each in every
    ]
    parts = {"AFTER": "\n".join(after), "OF": "\n".join(of), "RECIPES": " ".join(RECIPES)}
    script = _BASH
    for name, text in parts.items():
        script = script.replace(f"@{name}@", text)
    return "autoload -U +X bashcompinit && bashcompinit\n" * zsh + script


def _flags(recipe: Completed) -> list[str]:
    switches = [f"--no-{field.name}" for field in recipe.flags if field.is_switch]
    return [*(f"--{field.name}" for field in recipe.flags), *switches, *_EVERYWHERE]


def _after(recipe: Completed) -> Iterator[str]:
    """What may follow each flag that takes a value."""
    yield f"    {recipe.name}:--config) values={FILES} ;;"
    for field in recipe.flags:
        if not field.is_switch:
            told = quoted(values(recipe.name, field))
            many = " many=yes" * field.type.startswith("tuple")
            yield f"    {recipe.name}:--{field.name}) values={told}{many} ;;"


def quoted(words: Sequence[str]) -> str:
    return shlex.quote(" ".join(words))


_BASH = """\
_webagent_runs() {
  local found
  for found in runs/*/run.json; do
    [ -e "$found" ] && printf '%s\\n' "${found%/run.json}"
  done
}
_webagent_after() {
  case "$1" in
@AFTER@
    *) return 1 ;;
  esac
}
_webagent_of() {
  case "$1" in
@OF@
  esac
}
_webagent() {
  local current="${COMP_WORDS[COMP_CWORD]}" at=$((COMP_CWORD - 1)) near=$((COMP_CWORD - 1))
  local flags= values= many= word
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '@RECIPES@ --help --version --json' -- "$current"))
    return
  fi
  [[ "$current" == = ]] && current=
  [[ "${COMP_WORDS[near]}" == = ]] && ((near--))
  while ((at > 1)) && [[ "${COMP_WORDS[at]}" != --* ]]; do ((at--)); done
  if [[ "$current" == -* ]] || ! _webagent_after "${COMP_WORDS[1]}:${COMP_WORDS[at]}" ||
    [[ -z "$many" && "$at" -ne "$near" ]]; then
    values=
    _webagent_of "${COMP_WORDS[1]}"
  fi
  [[ "$current" == -* ]] && values=
  for word in $values; do
    case "$word" in
      @runs) COMPREPLY+=($(compgen -W "$(_webagent_runs)" -- "$current")) ;&
      @files) COMPREPLY+=($(compgen -f -- "$current")) ;;
      *) COMPREPLY+=($(compgen -W "$word" -- "$current")) ;;
    esac
  done
  COMPREPLY+=($(compgen -W "$flags" -- "$current"))
}
complete -o filenames -F _webagent webagent"""
