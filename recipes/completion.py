"""`webagent --completion`: words that may come next on a command line, for shells.

The script for a shell is a few lines that call `webagent --completion -- WORD...` with the words up
to the cursor; the candidates come from the settings of the command being typed.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args, get_origin

from recipes.commands import COMMANDS, Command, load
from recipes.settings import Option, options_of
from webagent.errors import unknown_name

FILES = "@files"
"""Stands for the files below what was typed, which the shell finds itself."""
_LIST = re.compile(r"`([^`\s]+)`((?:,? (?:or )?|, )`[^`\s]+`)+")
_RUN = re.compile(r"The run\b|Folders? of (a run|the runs?|earlier runs|a measurement|an earlier)")

_BASH = """\
_webagent() {
  local word current="${COMP_WORDS[COMP_CWORD]}"
  [[ "$current" == = ]] && current=
  COMPREPLY=()
  while IFS= read -r word; do
    if [[ "$word" == @files ]]; then COMPREPLY+=($(compgen -f -- "$current"))
    else COMPREPLY+=("$word"); fi
  done < <(webagent --completion -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o filenames -F _webagent webagent"""
_FISH = """\
function __webagent_complete
  for word in (webagent --completion -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
    if test "$word" = @files
      __fish_complete_path (commandline -ct)
    else
      echo $word
    end
  end
end
complete -c webagent -f -a '(__webagent_complete)'"""
SHELLS = {
    "bash": _BASH,
    "zsh": f"autoload -U +X bashcompinit && bashcompinit\n{_BASH}",
    "fish": _FISH,
}


def complete(words: Sequence[str]) -> None:
    """Print the script of the shell that is named, or after `--` the completions of the last word.

    Raises `UsageError` for an unknown shell.
    """
    if list(words[:1]) == ["--"]:
        for word in candidates(words[1:]):
            print(word)
        return
    shell = words[0] if words else "bash"
    if shell not in SHELLS:
        raise unknown_name("shell", shell, SHELLS)
    print(SHELLS[shell])


def candidates(words: Sequence[str]) -> list[str]:
    """Return the completions of the last word, including FILES where a path is accepted."""
    *before, current = [word for word in words if word != "="] + [""] * (words[-1:] in ([], ["="]))
    if not before:
        return _starting(current, [*COMMANDS, "--help", "--version", "--completion", "--json"])
    if before[0] not in COMMANDS:
        return []
    command = COMMANDS[before[0]]
    options = list(options_of(load(command.settings)))
    flags = [flag for option in options for flag in option.flags]
    given = next((place for place in range(len(before) - 1, 0, -1) if before[place][:2] == "--"), 0)
    asking = [option for option in options if before[given] in option.flags]
    if before[given] == "--config" and given == len(before) - 1:
        return [FILES]
    is_open = bool(asking) and asking[0].type is not bool
    is_many = is_open and get_origin(asking[0].type) in (tuple, list)
    values: list[str] = []
    if not current.startswith("-"):
        if is_open and (is_many or given == len(before) - 1):
            values = list(values_of(command, asking[0]))
        else:
            first = [each for each in options if each.is_positional or each.name == command.leads]
            values = [word for option in first for word in values_of(command, option)]
    return _starting(current, [*values, *flags, "--help", "--help-all", "--json", "--config"])


def _starting(current: str, words: Sequence[str]) -> list[str]:
    return [word for word in words if word == FILES or word.startswith(current)]


def values_of(command: Command, option: Option) -> Iterator[str]:
    """Yield the values of a setting: names, run folders, FILES."""
    if option.name == "benchmark":
        yield from load("benchmarks.catalogue:BENCHMARKS")
    elif (command.name, option.name) in (("propose", "site"), ("site", "name")):
        sites = load("benchmarks.catalogue:collect")("SITES")
        yield from (key.partition("@")[0] for key in sites)
    elif option.name == "preset" and command.presets:
        yield from load(command.presets)
    elif get_origin(option.type) is Literal:
        yield from map(str, get_args(option.type))
    elif "Path" in str(option.type):
        if _RUN.match(option.doc):
            yield from (str(path.parent) for path in sorted(Path("runs").glob("*/run.json")))
        yield FILES
    elif listed := _LIST.search(option.doc):
        words = re.findall(r"`([^`\s]+)`", listed[0])
        yield from (word for word in words if re.fullmatch(r"[a-z][a-z0-9_-]*", word))
