"""Words that people use for the same thing on web pages: goals said otherwise share these."""

from functools import lru_cache

_GROUPS = """
add put insert append attach include place lay
answer reply respond response
approve accept allow permit confirm
assign give grant set
back return previous
begin start open create make new launch
beginner newcomer
big large
book reserve schedule
branch fork
bug problem issue defect error fault ticket report
buy order purchase get acquire
call name title entitle label headline
cancel revoke withdraw undo
cart basket bag trolley
category section department
change edit modify alter update adjust amend revise correct replace
cheap cheapest cheaper lowest smallest least minimum
check tick select choose pick enable activate
check-in commit revision
close shut finish end resolve
code coupon voucher promo
comment remark note
complete done finished
cost price amount charge worth
count many number quantity times
customer buyer client shopper
date day when
dear dearest expensive highest largest most maximum costliest
default standard
delete remove discard erase drop clear eliminate rid
deliver ship send dispatch shipping delivery post
describe description text body content
discussion thread conversation topic
display show view present visible
document page article
email e-mail mail
enter type fill write input
every all each everything entire whole
find search look locate seek
first oldest earliest initial original
folder directory
forum board
group team
hide conceal private non-public invisible
home start
increase raise grow more
item product article thing goods piece
keep retain preserve leave stay
last latest newest recent final
list catalogue overview
login user account member username person who
message post
move shift transfer
offer deal promotion
owner author writer wrote written creator
pay payment checkout
phone telephone
profile details
public visible published
question ask
rate rating score stars review
read tell see learn
rename retitle
result outcome
resume restart continue reinstate
role right rights capability permission privilege access
save store
sell sold
settle resolution
shop store
sign log
size dimension
spend spent paid
state status
stock available availability left supply inventory
stop pause halt suspend
street address live lives reside
subscribe follow watch
sum total altogether together overall
surname last
tag label
undo restore reopen revert
unread new
version release
wish favourite
"""


@lru_cache(8192)
def concepts(word: str) -> tuple[str, ...]:
    """Return the groups that a lower-case word or its stem is in."""
    found = _WORDS.get(word) or _WORDS.get(_stem(word)) or ()
    return tuple(f"#{number}" for number in found)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "d"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _read() -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for number, line in enumerate(_GROUPS.split("\n")):
        for word in line.split():
            for form in {word, _stem(word)}:
                found.setdefault(form, []).append(number)
    return {word: tuple(numbers) for word, numbers in found.items()}


_WORDS = _read()
