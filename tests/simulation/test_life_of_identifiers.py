"""Seeded random requests and time jumps; the real service's responses are compared with those of a one-page model."""

import asyncio
import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import httpx2
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.support.api import Clock, RecordingMailer, RecordingSms
from tests.support.soak import amount

from holdfast.service.bootstrap.applications import application_of
from holdfast.service.bootstrap.services import build_service
from holdfast.service.bootstrap.stores import open_store
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.settings.secrets import Secrets
from holdfast.service.settings.values import read_settings
from holdfast.service.web.asgi import AsgiEntry

IPS = ("192.0.2.1", "192.0.2.2", "2001:db8::1")
HANDLES = ("ann", "Ann", "bob", "admin")
MAILS = ("ann@example.com", "ANN@example.com", "bob@example.com")
DIDS = ("did:new:a", "did:new:b")
CREDENTIALS = ("c1", "c2", "c3", "c4")
DAY, HOUR = 86400, 3600
# Limits that are low enough to be reached within thirty steps.
CEILINGS = {
    "HOLDFAST_DID_POSTS_PER_ADDRESS_DAY": "6",
    "HOLDFAST_CHECKS_PER_ADDRESS_HOUR": "6",
    "HOLDFAST_REFUSED_SENDS_PER_ADDRESS_DAY": "2",
    "HOLDFAST_UNCONFIRMED_PER_IDENTIFIER": "2",
}


@dataclasses.dataclass
class Model:
    """A model of the interface's rules in their simplest form."""

    claims: dict[tuple[str, str], list[str]] = dataclasses.field(default_factory=dict)  # key -> [did, stage]
    per_ip: dict[str, int] = dataclasses.field(default_factory=dict)
    sends: list[tuple[float, str, str]] = dataclasses.field(default_factory=list)
    events: list[tuple[str, float, str]] = dataclasses.field(default_factory=list)  # what, when, address
    holders: dict[tuple[str, str], int] = dataclasses.field(default_factory=dict)  # credentials per identifier
    openers: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict)  # address per identifier
    codes: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    verified: set[str] = dataclasses.field(default_factory=set)
    credentials: dict[str, str] = dataclasses.field(default_factory=dict)
    used: set[str] = dataclasses.field(default_factory=set)

    def session_refusal(self, key, ip):
        if key == ("handle", "admin"):
            return "identifier_reserved"
        if key in self.claims:
            return "identifier_taken"
        return "ip_limit_reached" if self.per_ip.get(ip, 0) >= 3 else None

    def count(self, what, ip, now, limit, window):
        """Return whether another event of this kind is within the limit, and count it if so."""
        room = sum(w == what and who == ip and at > now - window for w, at, who in self.events) < limit
        if room:
            self.events.append((what, now, ip))
        return room

    def claim(self, key, did, ip, stage):
        self.claims[key] = [did, stage]
        self.openers[key] = ip
        self.per_ip[ip] = self.per_ip.get(ip, 0) + 1


class LifeOfIdentifiers(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        self.clock, self.mailer, self.model = Clock(), RecordingMailer(), Model()
        self.attestations = []
        environment = {"HOLDFAST_DATA_DIR": str(folder), "HOLDFAST_RPC_URL": "http://127.0.0.1:9", **CEILINGS}
        settings = read_settings(environment)
        service = build_service(
            settings, Secrets((b"k" * 32,), generated=False), open_store(settings), clock=self.clock,
            mailer=self.mailer, sms=RecordingSms(),
        )  # fmt: skip
        self.application = application_of(settings, service)
        transport = httpx2.ASGITransport(AsgiEntry(self.application), client=("127.0.0.1", 1))
        self.http = httpx2.AsyncClient(transport=transport, base_url="http://x")

    def teardown(self):
        self.loop.run_until_complete(self.http.aclose())
        self.loop.run_until_complete(self.application.stop())
        self.loop.close()
        self.folder.cleanup()

    def post(self, path, ip, **body):
        answer = self.loop.run_until_complete(self.http.post(path, json=body, headers={"X-Forwarded-For": ip}))
        return answer.status_code, answer.json()

    def get(self, path):
        return self.loop.run_until_complete(self.http.get(path)).json()

    @rule(seconds=st.sampled_from([1, 30, 91, 301, HOUR, DAY]))
    def time_passes(self, seconds):
        self.clock.now += seconds

    @rule(handle=st.sampled_from(HANDLES), did=st.sampled_from(DIDS), ip=st.sampled_from(IPS))
    def open_session(self, handle, did, ip):
        key = ("handle", handle.lower())
        refusal = self.model.session_refusal(key, ip)
        status, body = self.post("/api/sessions", ip, handle=handle, did=did)
        assert body.get("error") == refusal, (status, body)
        if refusal is None:
            self.model.claim(key, did, ip, "session")

    @rule(mail=st.sampled_from(MAILS), did=st.sampled_from(DIDS), ip=st.sampled_from(IPS))
    def squat_an_address(self, mail, did, ip):
        key = ("email", mail.lower())
        refusal = self.model.session_refusal(key, ip)
        _, body = self.post("/api/sessions", ip, identifier=mail, channel="email", did=did)
        assert body.get("error") == refusal
        if refusal is None:
            self.model.claim(key, did, ip, "session")

    @rule(
        mail=st.sampled_from(MAILS),
        ip=st.sampled_from(IPS),
        failure=st.sampled_from([None, None, None, "timeout", "refused", "unreachable"]),
    )
    def send_a_code(self, mail, ip, failure):
        key, now = mail.lower(), self.clock.now
        from_ip = sum(sender == ip and at > now - DAY for at, sender, _ in self.model.sends)
        to_key = sum(target == key and at > now - HOUR for at, _, target in self.model.sends)
        refused = sum(what == "refused" and who == ip and at > now - DAY for what, at, who in self.model.events)
        self.mailer.failure = DeliveryError(failure) if failure else None
        status, body = self.post("/api/verify/send", ip, identifier=mail, channel="email")
        if from_ip >= 3 or to_key >= 5 or refused >= 2:
            assert (status, body) == (429, {"error": "rate_limited"})
            return
        if failure in (None, "timeout"):
            self.model.sends.append((now, ip, key))
        if failure is None:
            assert (status, body) == (200, {"ok": True, "channel": "email"})
            sent = self.mailer.sent[-1][1]
            self.model.codes[key] = {"code": sent, "until": now + 90, "tries": 0, "others": 0, "asker": ip}
        else:
            assert (status, body) == (502, {"error": "email_send_failed"})
            self.model.events.append(("refused", now, ip))

    @rule(mail=st.sampled_from(MAILS), right=st.booleans(), ip=st.sampled_from(IPS))
    def check_a_code(self, mail, right, ip):
        key, code = mail.lower(), self.model.codes.get(mail.lower())
        real = code["code"] if code else "123456"
        guess = real if right else f"{(int(real) + 1) % 10**6:06d}"
        status, body = self.post("/api/verify/check", ip, identifier=mail, channel="email", code=guess)
        if not self.model.count("checks", ip, self.clock.now, 6, HOUR):
            assert (status, body) == (429, {"error": "rate_limited"})
        elif code is None:
            assert body["message"].startswith("No code")
        elif self.clock.now >= code["until"]:
            assert body["message"].startswith("The code has expired")
        elif code["tries"] >= 5 or (code["asker"] != ip and code["others"] >= 4):
            assert body["message"].startswith("Too many")
        elif not right:
            code["tries"] += 1
            code["others"] += code["asker"] != ip
            assert body["message"].startswith("The code is incorrect")
        else:
            assert body["verified"] is True
            del self.model.codes[key]
            self.model.verified.add(key)
            self.attestations.append({**body["attestation"], "until": self.clock.now + 300})

    @rule(
        handle=st.sampled_from(HANDLES),
        did=st.sampled_from(DIDS),
        credential=st.sampled_from(CREDENTIALS),
        ip=st.sampled_from(IPS),
    )
    def register_a_handle(self, handle, did, credential, ip):
        self._register(("handle", handle.lower()), handle, did, credential, ip, None)

    @rule(
        data=st.data(), mail=st.sampled_from(MAILS), did=st.sampled_from(DIDS),
        credential=st.sampled_from(CREDENTIALS), ip=st.sampled_from(IPS),
    )  # fmt: skip
    def register_an_address(self, data, mail, did, credential, ip):
        attestation = data.draw(st.sampled_from([None, *self.attestations])) if self.attestations else None
        self._register(("email", mail.lower()), mail, did, credential, ip, attestation)

    def _register(self, key, given, did, credential, ip, attestation):
        sent = {name: value for name, value in attestation.items() if name != "until"} if attestation else None
        refusal = self._registration_refusal(key, did, credential, ip, attestation)
        _, body = self.post(
            "/api/dids", ip, identifier=given, channel=key[0], did=did, credentialId=credential, txHash="0x1",
            attestation=sent,
        )  # fmt: skip
        assert body.get("error") == refusal, body
        if refusal is None:
            if key not in self.model.claims:
                self.model.claim(key, did, ip, "registered")
            self.model.claims[key] = [did, "registered"]
            self.model.credentials[credential] = did
            self.model.holders[key] = self.model.holders.get(key, 0) + 1
            if attestation:
                self.model.used.add(attestation["signature"])

    def _registration_refusal(self, key, did, credential, ip, attestation):
        if not self.model.count("posts", ip, self.clock.now, 6, DAY):
            return "rate_limited"
        if key[0] == "email":
            if attestation is None:
                return "attestation_required"
            if attestation["identifier"].lower() != key[1]:
                return "attestation_mismatch"
            if self.clock.now >= attestation["until"]:
                return "attestation_expired"
        if credential in self.model.credentials:
            return "credential_already_registered"
        if attestation and attestation["signature"] in self.model.used:
            return "attestation_used"
        claim = self.model.claims.get(key)
        if claim is None:
            return self.model.session_refusal(key, ip)
        displaced = key[0] == "email" and claim[1] == "session"
        if claim[0] == did:
            room = 1 if key[0] == "handle" and self.model.openers[key] != ip else 2
            return "credential_limit_reached" if self.model.holders.get(key, 0) >= room else None
        return None if displaced else "identifier_taken"

    @rule()
    def expire(self):
        self.loop.run_until_complete(self.application.service.maintenance.expire())
        horizon = self.clock.now - HOUR
        self.model.codes = {key: code for key, code in self.model.codes.items() if code["until"] >= horizon}

    @invariant()
    def the_service_agrees_with_the_model(self):
        for credential in CREDENTIALS:
            found = self.get(f"/api/dids/lookup?credentialId={credential}")
            assert found.get("did") == self.model.credentials.get(credential)
        for channel, key in (("handle", "ann"), ("handle", "bob")):
            assert self.get(f"/api/sessions/check?identifier={key}")["available"] is (
                (channel, key) not in self.model.claims
            )
        for mail in ("ann@example.com", "bob@example.com"):
            assert self.get(f"/api/verify/status?identifier={mail}&channel=email")["verified"] is (
                mail in self.model.verified
            )
        assert self.get("/api/sessions/status")["total_registrations"] == sum(self.model.per_ip.values())


LifeOfIdentifiers.TestCase.settings = settings(
    max_examples=amount(8, 20, "HOLDFAST_TEST_LIVES"), stateful_step_count=30, deadline=None,
    suppress_health_check=list(HealthCheck), print_blob=True,
)  # fmt: skip
TestLifeOfIdentifiers = LifeOfIdentifiers.TestCase
