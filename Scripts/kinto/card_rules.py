"""A plugin of Kinto with the rules of the cards app: a card's number is an EAN-13, and no two cards have the same one.

They apply to the collections `Card` of all buckets. The checks run with each request of a batch, so that each has its
own response. Kinto's events come after the whole batch.

NB: Two transactions at once do not see each other's cards. A strict rule needs a unique index in PostgreSQL.
"""
from kinto.core.errors import ERRORS, http_error
from kinto.core.storage import Filter
from kinto.core.utils import COMPARISON
from kinto.views.records import Record
from pyramid.httpexceptions import HTTPBadRequest

COLLECTION = "Card"
MEMBER = "barcode"

_process_object = Record.process_object


def is_ean13(number):
    """Whether a value is a text of 13 digits with a valid check digit."""
    if not isinstance(number, str) or len(number) != 13 or not (number.isascii() and number.isdigit()):
        return False
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(number)) % 10 == 0


def refusal(sentence):
    return http_error(HTTPBadRequest(), errno=ERRORS.INVALID_POSTED_DATA, message=sentence)


def process_object(self, new, old=None):
    """Checks a record before it is written."""
    new = _process_object(self, new, old)
    if self.collection_id == COLLECTION:
        number = new.get(MEMBER)
        if not is_ean13(number):
            raise refusal("The number is not a valid EAN-13.")
        # A new record has no ID yet if the server creates it.
        for card in self.model.get_objects(filters=[Filter(MEMBER, number, COMPARISON.EQ)], limit=2):
            if card["id"] != new.get("id"):
                raise refusal(f"The number {number} is on another card already: {card.get('shop', '')}.")
    return new


def includeme(config):
    # The views belong to Kinto's own class, which a plugin can't replace.
    Record.process_object = process_object
