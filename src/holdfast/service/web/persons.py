"""GET /api/person, POST /api/person/removals, POST /api/person/identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.web.serving import serves_plainly
from holdfast.wire.endpoints import ADD_ADDRESS, EXPORT_PERSON, REMOVE_OF_PERSON
from holdfast.wire.models import AddressAdded, PersonExport, PersonRemoved

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request
    from holdfast.service.web.context import WebContext


@serves_plainly(EXPORT_PERSON)
async def export_person(web: WebContext, request: Request) -> PersonExport:
    """GET /api/person."""
    return await web.service.persons.export(request.header("authorization"), web.subject(request))


@serves_plainly(REMOVE_OF_PERSON)
async def remove_of_person(web: WebContext, request: Request) -> PersonRemoved:
    """POST /api/person/removals."""
    removed = await web.service.persons.remove(request.header("authorization"), web.subject(request))
    return PersonRemoved(**removed._asdict())


@serves_plainly(ADD_ADDRESS)
async def add_address(web: WebContext, request: Request) -> AddressAdded:
    """POST /api/person/identifiers."""
    added = await web.service.persons.add(request.header("authorization"), *web.subjects(request))
    return AddressAdded(identifier=added.given, channel=added.channel.value)
