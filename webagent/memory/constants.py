"""The numbers of memory that are not learned, each with its reason and what it is worth.

Weights and thresholds come first, as few and as flat as the tasks allow; bounds follow.

What varying a number costs is noted where it was measured: episodes right along the demonstrators'
way, of 58 on a project's tickets, 64 on a shop and 116 of small pages. All others are as they
were chosen in development on these sites; none of them is known to be the best.
"""

# -- weights ----------------------------------------------------------------------------------

OVERALL = 1.0
"""What a feature of a candidate counts before anything was learned, whichever it is: agreement of
the cases, evidence, a repetition (negative). The scorer learns one weight for each from there."""
BY_GOAL = 2.0
"""The same for families of descriptors that go by what the goal says; all others count 0. Texts,
names and places can be read off any demonstrated element; that a value of the goal leads to it is
a coincidence unless it is meant."""
LIKENESS = 2.0
"""The same for what a scene and a case have in common, negative for what sets them apart. With 3:
-1, 0 and -2 episodes; with 4: -1, 0 and -1."""
CONTRADICTED = 2.5
"""Nats that each episode takes from a descriptor which it does not bear out: one in twelve
demonstrations goes another way."""
FLATTENING = 0.35
"""Power of the shares of the recall when descriptors are weighed: which operation is next the
nearest case says best, what it is done to the cases say together."""
DOUBTED = 0.3
"""Trust in a constant that stands in the words of the demonstrated goal and not of this one."""
FEWER_VALUES = 0.3
"""What a case counts whose goal has fewer values in common with this one than another's."""
SAME_NAME = 20.0
"""How much more a case counts for what is written where its field has the same name."""
LIKE_GOAL = 0.5
"""Likeness of goals from which the steps of the one say something of those of the other."""
FAR_GOAL = 0.3
"""How much less close than the nearest goal is one of which nothing is taken."""
VALUES_APART = 0.1
"""Closeness that each value takes which only one of two goals has. With half and one and a half of
it the right task is first for 475 and 462 in place of 471 of 732 goals in other words, with 0 for
409."""
PLACES_ALIKE = 0.4
"""Closeness that values add which stand at places of the same kinds. With half and twice of it the
right task is first for 255 and 267 in place of 264 of 366 such goals, with 0 for 244; measured with
vectors of words beside."""
SAME_TASK = 1.5
"""What a goal of the very task that is done counts, however it is put; the nearest one counts 1."""
SINGLE_WORD = 0.3
"""What words count that one remembered goal alone has, where they are missing in another."""
ACTED_ON_WORD = 0.5
"""What a word of the goal counts that stands in the name of an element which was acted on."""
CAN_BE_DONE = 4.0
"""What is taken from a case that gave up where an element was missing which is here."""

LEAST_ALIGNED = 0.6
"""Share of an example's words that a goal has in their order, from which the values of the one
stand where those of the other do."""
UNMATCHED = 0.4
"""What a word that only one of two goals has takes from it, of what one that both have adds."""
LEFT_OUT = 1.4
"""The same for a word of a new goal that goals do not consist of: it belongs to the value beside
it, however well a part of that is known. What a missing word takes, and what a known text adds."""
IN_VALUE = (0.02, 0.2)
"""What each word of a value that stands on no page takes, and one that goals consist of."""

# -- bounds: they cost nothing but rare cases, and keep a decision fast ------------------------

LONGEST_KNOWN = 12
"""Words of a value that may be found on a page."""
LONGEST_ABBREVIATION = 3
"""Letters of a word, at most, behind which a full stop may end no sentence."""
SEVERAL_TASKS = 3
"""Tasks whose goals have a word that is no value, where no task has two goals."""
MOST_ALIGNED = 6
"""Remembered goals that a new one is laid beside."""
MOST_DESCRIPTORS = 220
"""Descriptors that are tried on the page, those with the most support first."""
LEAST_SUPPORT = 0.04
"""Share of the recall below which a descriptor is not tried."""
MOST_EPISODES = 5
"""Episodes that are counted as contradicting a descriptor."""
MOST_ELEMENTS = 3
"""Elements for which the remaining arguments are worked out."""
MOST_COMPARED = 96
"""Cases that are compared closely with a scene."""
MOST_ALIKE = 5
"""Cases of one goal in which the same was done, at most, among the nearest: with many successes
they would leave no room for what was done otherwise."""
MOST_VALUES = 8
"""Values of the goal that are written into fields, at most."""
MOST_TEXTS = 400
"""Texts of a page that are thought of as an answer, at most."""
LEAST_QUESTION = 0.1
"""Chance of a question below which no text of the page is thought of as an answer."""
LINES_BELOW = 12
"""Lines below a value of the goal that may belong to it."""
OFTEN_SEEN = 3
"""Tasks from which an element was seen often enough to say that it is never used."""
FORM_FIELDS = 4
"""Fields from which a page is a form to be filled in."""
LONGEST_ANSWER = 40
"""Letters of a text beyond which it is no answer."""
ANSWERED_ALIKE = 4.0
"""Nats, at most, for what answered a like goal."""
LINE_APART = 0.15
"""Nats for each line between a text and the answer that memory would give."""
LABELS_NEAR = 3
"""Lines of text before and after an element that may be its label."""
MOST_PLACES_OF_EACH = 60
"""Places of a value after each of which something is done."""
WORDS_TO_VALUE = 5
"""Words between the label of a field and its value in a goal, at most: `number to be set to 5`."""
LONGEST_LABEL = 60
"""Letters of a text beyond which it is no label."""
LEAST_BLAME = 0.15
"""Nats below which a step of a failed episode is not kept."""
MOST_CLAIMED = 0.9
"""Chance of a step at most, whatever the confidence of memory: in episodes that failed even
the most confident steps were wrong often enough."""
MOST_CERTAIN = 0.95
"""Chance that everything else was right, at most: no single failure refutes a step."""
ASTRAY = 0.5
"""Confidence in the likeliest action below which a page is likelier off the way than on it: by so
many times as this is more than that."""
LEAST_KNOWN = 0.03
"""Confidence below which a page is not less known."""
FURTHER_FAILURE = 0.5
"""What each further failure counts of the one before: those of one round share their cause."""
NOT_PROPOSED = 0.02
"""Chance, at least, of what is not among the proposals."""
STEM = 4
"""Letters that words of one stem share."""
MOST_RECALLED = 10
"""Cases that an action is chosen from."""
MOST_AVOIDED = 8
"""Steps of failed episodes that are looked at."""
LEAST_SHARE = 0.05
"""Share of the recall from which it matters to what a step led."""
LEAST_PROPOSED = 4
"""Actions that are compared, at least, where a failure may speak against the first."""
SEVERAL_FAILURES = 2
"""Failures after which what memory was confident of is doubted."""
MOST_SIBLINGS = 32
"""Cases of like goals in which descriptors are counted that hold throughout."""
ENOUGH_LESSONS = 300
"""Steps below which the weights of the recall are held to their priors more, and from which those
with goals unlike all others are lessons where there are not as many others."""
MOST_LESSONS = 900
"""Steps that the scorer learns from, at most."""
MOST_TRANSFERS = 500
"""Steps that the prior over actions learns from, at most."""
PULL_OF_TRANSFER = 0.001
"""Strength of the pull of its weights to where they began."""
MOST_PROPOSED = 6
"""Proposals of memory among the actions that the prior weighs."""
LEAST_RECORDS = 2
"""Records that make a list."""
MOST_CELLS = 14
"""Texts beyond which a group of lines is no record."""
MOST_SCHEMES = 3
"""Kinds of elements with which the records of a list may begin."""
MOST_HITS = 12
"""Places of one text that are looked at; a text on every line says nothing of a place."""
POINT_SLACK = 4
"""CSS pixels by which a point may lie outside the element that it is meant for."""
FEW_LETTERS = 3
"""Letters up to which a value stands in a name by chance."""
LEARNING_RATE = 0.1
"""Step of Adam."""
LEARNING_STEPS = 150
"""Steps of Adam, over all questions each."""
MOST_PLACES = 6
"""Places of a text on a page from which descriptors are made."""
LONGEST_FIELD_LABEL = 30
"""Letters of a text beyond which it is no label of a value."""
MOST_LINES = 60
"""Lines of one kind among which a place says something."""
LONGEST_SEARCHED = 80
"""Letters of a text that is looked for on pages."""
MOST_EARLIER_PAGES = 3
"""Kinds of earlier pages that are looked back at."""
LEAST_LEFT = 0.02
"""What is left of an action whose further steps are used up, since other pages may follow it."""
GIVEN_UP = 2.0
"""Power by which giving up counts 1 / (1 + n) after n tries: what cannot be done on one page can
seldom be done on another."""
MOST_TRIES = 200
"""Tries of a task that are kept."""
MOST_OPTIONS = 200
"""Options of a list that are looked at."""
FEW_OPTIONS = 6
"""Options of a list, at most, of which each may be meant."""
SAME_STEM = 0.8
"""What a word of the same stem counts beside the very word."""
TRIED_AGAIN = 0.1
"""Power by which an action that was tried n times counts 1 / (1 + n)."""
TRIED_AFTER = 0.4
"""The same for an action that was tried after the same action before."""
OVERCONFIDENCE = 2.0
"""Power of the network's probability when it is compared with memory's: trained on few examples it
is more confident than it should be."""
GUESSED = 0.5
"""Share of the answers that are guessed from the page while exploring, where all have failed."""
SHARPENED = 0.55
"""Temperature of tries at tasks without examples; below 1, as failed tries are not repeated."""
SAMPLED_FROM = 6
"""Remembered actions that exploring chooses from."""
TRUSTED = 0.5
"""Confidence from which what was done on a page that looked the same is done once more, and from
which something is sent, saved or deleted, that of all steps together: likelier right than wrong. Of
389 successes 93 % are kept, and of 100 wrong changes 46; 90 and 28 from 0.62, 80 and 12 at 0.87."""
MOST_REPEATS = 4
"""Maximum number of times one action is repeated on pages that look the same."""
DOUBTING = 2.0
"""Times the temperature at which proposals are sampled where all has failed: with a second proposal
of 1 % some other way is taken once in ten steps, about once in an episode."""
ALTERNATIVES = 4
"""Likely actions that are recorded beside the one that was sampled."""
CONFIDENT = 0.9
"""Confidence from which what is remembered is done, exploring or not, without the network."""
MORE_CONFIDENT = 0.95
"""The same where all own tries have failed: a failure in which every step was
confident takes a confidence of 98 % below it, one with a doubtful step does not take the others
below it in several tries."""
