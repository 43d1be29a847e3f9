"""What a person brings to these pages: words that mean the same, digits, colours, icons."""

_GROUPS = (
    "big large huge enormous gigantic",
    "small tiny little mini petite",
    "red scarlet crimson vermillion",
    "happy cheerful joyful gleeful delighted",
    "sad unhappy sorrowful miserable tragic",
    "angry mad furious irritated",
    "evil wicked immoral sinful corrupt depraved",
    "wrong incorrect mistaken erroneous",
    "real genuine actual",
    "strange odd peculiar unusual weird",
    "stop cease halt end finish",
    "scared terrified panicked fearful frightened afraid",
    "quiet calm peaceful serene mild",
    "old aged archaic",
    "love like adore favor",
    "kill murder assassinate",
    "keep retain preserve sustain maintain",
    "hide conceal camouflage",
    "hate despise loathe detest dislike",
    "funny humorous amusing comical laughable",
    "fat fleshy plump chubby",
    "stupid dumb dull unwise",
    "delicious savory delectable appetizing",
    "cut slice carve chop",
    "brave courageous fearless",
    "begin start initiate launch",
    "answer reply response",
    "television televisions TV TVs",
    "house home houses homes",
    "fire flame fires flames",
    "pig pork swine",
    "rabbit rabbits bunny bunnies",
    "car cars automobile automobiles vehicle vehicles",
    "water",
)

SYNONYMS = tuple(frozenset(group.split()) for group in _GROUPS)
"""Words that mean nearly the same: a small thesaurus."""

DIGITS = (
    ".##. #..# #..# #..# #..# #..# .##.",
    "..#. .##. ..#. ..#. ..#. ..#. ..#.",
    ".##. #..# #..# ..#. .#.. #... ####",
    ".##. #..# ...# .##. ...# #..# .##.",
    "#... #.#. #.#. #### ..#. ..#. ..#.",
    "#### #... #... ###. ...# #..# .##.",
    ".##. #..# #... ###. #..# #..# .##.",
    "#### #..# ...# ..#. ..#. .#.. .#..",
    ".##. #..# #..# .##. #..# #..# .##.",
    ".##. #..# #..# .### ...# #..# .##.",
)
"""The digits 0 to 9 as the page's example picture draws them, row by row."""

HEX = {
    "black": "000000",
    "white": "FFFFFF",
    "aqua": "00FFFF",
    "blue": "0000FF",
    "gray": "808080",
    "green": "008000",
    "lime": "00FF00",
    "maroon": "800000",
    "navy": "000080",
    "olive": "808000",
    "purple": "800080",
    "red": "FF0000",
    "silver": "C0C0C0",
    "teal": "008080",
    "yellow": "FFFF00",
    "pink": "FFC0CB",
    "magenta": "FF00FF",
    "gold": "FFD700",
    "orange": "FFA500",
}
"""CSS colour names (CSS Color Module, level 4) as colour pickers write them."""

ICONS = {
    "disk": "Save",
    "seek-start": "Prev",
    "stop": "Stop",
    "play": "Play",
    "seek-end": "Next",
    "zoomin": "Zoom In",
    "zoomout": "Zoom Out",
}
"""What the icons of media players and editors stand for."""

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)

SAME_COLOR = {"aqua": "cyan", "grey": "gray", "fuchsia": "magenta"}
"""Second names of colours."""
