"""A hosting platform that shares no code with Longwave.

It knows the Hosting Exchange from docs/hosting-exchange.md alone: keys, signatures, chain, tokens and receipts are made and read by this file and
PyNaCl (libsodium). Every command prints one JSON document.

The settings file: {"api_url", "token_url", "client_id", "client_secret", "workspace_id", "authority_id", "kid", "key_file"}.
"""

import argparse
import base64
import datetime
import functools
import hashlib
import http.server
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

from nacl.signing import SigningKey, VerifyKey


def b64u(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64u(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def compact(value) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def load(path: str):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


# Keys and signatures (RFC 7515, RFC 7638, RFC 8037)


def jws(key: SigningKey, header: dict, payload: bytes) -> tuple[str, str, str]:
    protected, body = b64u(compact(header)), b64u(payload)
    return protected, body, b64u(key.sign(f"{protected}.{body}".encode("ascii")).signature)


def public_jwk(key: SigningKey) -> dict:
    return {"kty": "OKP", "crv": "Ed25519", "x": b64u(key.verify_key.encode())}


def proof_of(key: SigningKey, workspace: str, authority: str) -> str:
    """The self-signed statement with which a key is registered."""
    jwk = public_jwk(key)
    canonical = json.dumps(jwk, sort_keys=True, separators=(",", ":")).encode()
    statement = {
        "workspace_id": workspace,
        "authority_id": authority,
        "jkt": b64u(hashlib.sha256(canonical).digest()),
        "nonce": secrets.token_urlsafe(24),
        "iat": int(time.time()),
    }
    return ".".join(jws(key, {"alg": "EdDSA", "typ": "key-proof+jwt"}, compact(statement)))


def read_receipt(text: str, keys: list[dict]) -> dict:
    """The statement of a receipt. Raises when none of the published keys has signed it."""
    protected, payload, signature = text.split(".")
    header = json.loads(unb64u(protected))
    assert header["alg"] == "EdDSA" and header["typ"] == "receipt+jwt", header
    jwk = next(each for each in keys if each["kid"] == header["kid"])
    VerifyKey(unb64u(jwk["x"])).verify(f"{protected}.{payload}".encode("ascii"), unb64u(signature))
    return json.loads(unb64u(payload))


# The API


class Refused(Exception):
    def __init__(self, status: int, problem: dict):
        super().__init__(f"{status} {problem.get('code')}: {problem.get('detail')}")
        self.status, self.problem = status, problem


def open_url(request: urllib.request.Request) -> dict:
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
            return json.loads(text) if text else {}
    except urllib.error.HTTPError as error:
        text = error.read()
        try:
            raise Refused(error.code, json.loads(text)) from None
        except json.JSONDecodeError:
            raise Refused(error.code, {"code": "unknown", "detail": text[:200].decode(errors="replace")}) from None


class Exchange:
    def __init__(self, settings_file: str):
        self.settings = load(settings_file)
        folder = os.path.dirname(os.path.abspath(settings_file))
        self.key = SigningKey(bytes.fromhex(load(os.path.join(folder, self.settings["key_file"]))["seed"]))
        self.root = self.settings["api_url"].rstrip("/") + "/hosting-exchange/v1"
        self.workspace = f"{self.root}/workspaces/{self.settings['workspace_id']}"

    @functools.cached_property
    def token(self) -> str:
        quote = functools.partial(urllib.parse.quote, safe="")
        pair = f"{quote(self.settings['client_id'])}:{quote(self.settings['client_secret'])}".encode()
        body = {
            "grant_type": "client_credentials",
            "resource": self.root,
            "scope": "exchange:read exchange:write",
        }
        request = urllib.request.Request(
            self.settings["token_url"],
            data=urllib.parse.urlencode(body).encode(),
            headers={"Authorization": "Basic " + base64.b64encode(pair).decode()},
        )
        return open_url(request)["access_token"]

    def get(self, url: str) -> dict:
        return open_url(urllib.request.Request(url, headers={"Authorization": f"Bearer {self.token}"}))

    def post(self, url: str, body: dict, key: str) -> dict:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        return open_url(urllib.request.Request(url, data=compact(body), headers=headers, method="POST"))

    def head(self, stream: str) -> dict | None:
        try:
            return self.get(f"{self.workspace}/streams/{urllib.parse.quote(stream, safe='')}")["head"]
        except Refused as refused:
            if refused.status == 404:
                return None
            raise

    def send(self, stream: str, drafts: list[dict]) -> list[dict]:
        """Signs drafts {schema, type, source_id, version, body} as the next messages of a stream, and checks their receipts."""
        head = self.head(stream)
        sequence, previous = (head["sequence"], head["digest"]) if head else (0, None)
        issued = max(now(), head["issued_at"]) if head else now()
        header = {"alg": "EdDSA", "kid": self.settings["kid"], "typ": "hx+json", "hxv": "1"}
        items, digests = [], []
        for draft in drafts:
            sequence += 1
            payload = {
                "schema": draft["schema"],
                "workspace_id": self.settings["workspace_id"],
                "authority_id": self.settings["authority_id"],
                "stream_id": stream,
                "seq": sequence,
                "prev": previous,
                "subject": {
                    "type": draft["type"],
                    "source_id": draft["source_id"],
                    "source_version": draft["version"],
                },
                "event_id": str(uuid.uuid4()),
                "issued_at": issued,
                "body": draft["body"],
            }
            protected, body, signature = jws(self.key, header, compact(payload))
            items.append({"protected": protected, "payload": body, "signature": signature})
            previous = sha256(f"{protected}.{body}".encode("ascii"))
            digests.append(previous)
        key = hashlib.sha256(" ".join(digests).encode()).hexdigest()
        results = self.post(f"{self.workspace}/messages", {"messages": items}, key)["results"]
        assert [each["digest"] for each in results] == digests, results
        # The same bytes again change nothing and answer with the same receipts.
        again = self.post(f"{self.workspace}/messages", {"messages": items}, key + "again")["results"]
        assert [each["receipt_id"] for each in again] == [each["receipt_id"] for each in results], again
        assert all(each["status"] == "replayed" for each in again), again
        keys = self.get(f"{self.root}/keys")["keys"]
        for each in results:
            statement = read_receipt(self.get(f"{self.workspace}/receipts/{each['receipt_id']}")["jws"], keys)
            assert statement["id"] == each["receipt_id"], statement
            assert statement["operation_id"] == each["operation_id"], statement
            assert statement["workspace_id"] == self.settings["workspace_id"], statement
        return results


# Commands


def new_key(args) -> dict:
    key = SigningKey.generate()
    descriptor = os.open(args.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"seed": key.encode().hex()}, file)
    return {"jwk": public_jwk(key), "proof": proof_of(key, args.workspace, args.authority)}


def serve(args) -> None:
    """Serves a folder until it is stopped; prints its address first."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=args.folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", args.port), handler)
    print(json.dumps({"origin": f"http://127.0.0.1:{server.server_address[1]}"}), flush=True)
    server.serve_forever()


def snapshots(args) -> list:
    """Sends an episode for each entry of the list: {source_id, title, file, duration_ms, codec, channels, sample_rate, markers}."""
    drafts = []
    for entry in load(args.episodes):
        with open(os.path.join(args.folder, entry["file"]), "rb") as file:
            audio = file.read()
        master = {name: entry[name] for name in ("codec", "channels", "sample_rate")}
        episode = {
            "guid": f"urn:foreign:{entry['source_id']}",
            "title_ref": entry["title"],
            "duration_ms": entry["duration_ms"],
            "explicit": False,
            "language": "en",
            "content_categories": ["Arts"],
            "published_at": "2026-11-20T08:00:00Z",
            "audio_master": {
                "url": f"{args.origin}/{urllib.parse.quote(entry['file'])}",
                "digest": sha256(audio),
                "bytes": len(audio),
                **master,
            },
            "markers": entry["markers"],
        }
        body = {"episode": episode, "show": {"title": "Northern Light", "language": "en"}, "x": {"shelf": "Küste"}}
        drafts.append(
            {
                "schema": "content-snapshot/1",
                "type": "episode",
                "source_id": entry["source_id"],
                "version": args.version,
                "body": body,
            }
        )
    return Exchange(args.settings).send(args.stream, drafts)


def surface(args) -> list:
    body = {
        "surface_id": "web",
        "protocols": ["progressive"],
        "interstitials": "none",
        "ranges": True,
        "max_redirects": 5,
        "ads_video": False,
        "client_events": "none",
        "measurement": "server_log",
        "personalisation": "per_download",
        "offline_audio": True,
    }
    draft = {"schema": "surface-capability/1", "type": "surface", "source_id": "web", "version": args.version}
    return Exchange(args.settings).send(args.stream, [{**draft, "body": body}])


def aliases(args) -> list:
    """Registers one alias for each episode, under its own id."""
    drafts = []
    for source in args.source:
        body = {
            "alias": source,
            "host": args.host,
            "path_slug": source,
            "target": {"type": "episode", "source_id": source},
            "route_policy": {
                "surface_id": "web",
                "route": "platform_controlled",
                "when_unavailable": "gone",
            },
            "state": "active",
            "supersedes_version": None if args.version == 1 else args.version - 1,
        }
        draft = {"schema": "delivery-alias/1", "type": "alias", "source_id": source, "version": args.version}
        drafts.append({**draft, "body": body})
    return Exchange(args.settings).send(args.stream, drafts)


def revoke(args) -> list:
    body = {
        "revoke_version": args.revoke_version,
        "mode": args.mode,
        "cause": "The guest has withdrawn.",
        "effective_at": now(),
    }
    draft = {"schema": "content-revocation/1", "type": "episode", "source_id": args.source, "version": args.version}
    return Exchange(args.settings).send(args.stream, [{**draft, "body": body}])


def evidence(args) -> list:
    """Reports the downloads that this platform counted for one episode on one day."""
    start = datetime.datetime.fromisoformat(args.day + "T00:00:00+00:00")
    form = "%Y-%m-%dT%H:%M:%SZ"
    rows = [{"source_id": args.source, "at": start.strftime(form), "downloads": args.downloads}]
    # Of integers and ASCII text this is the canonical form of RFC 8785.
    canonical = json.dumps(rows, sort_keys=True, separators=(",", ":")).encode()
    body = {
        "source_label": "Northern Light",
        "platform": "northern-light",
        "kind": "delivery",
        "period": {"start": start.strftime(form), "end": (start + datetime.timedelta(days=1)).strftime(form)},
        "granularity": "day",
        "revision": 1,
        "rows_digest": sha256(canonical),
        "rows": rows,
        "method_note": "Requests of 60 seconds or more, without known robots.",
        "finality": "final",
    }
    subject = {"type": "evidence", "source_id": f"delivery-{args.day}", "version": args.version}
    draft = {"schema": "platform-evidence/1", **subject, "body": body}
    return Exchange(args.settings).send(args.stream, [draft])


def compare(args) -> dict:
    """The first page of a report beside what Longwave has counted."""
    exchange = Exchange(args.settings)
    return exchange.get(f"{exchange.workspace}/platform-evidence/{args.evidence}")


def mapping(args) -> dict:
    exchange = Exchange(args.settings)
    return exchange.get(f"{exchange.workspace}/content-snapshots/{urllib.parse.quote(args.source, safe='')}")


def resolve(args) -> dict:
    exchange = Exchange(args.settings)
    body = {"alias": args.alias, "surface_id": "web"}
    return exchange.post(f"{exchange.workspace}/delivery-resolutions", body, secrets.token_hex(16))


def newest_intent(exchange: Exchange) -> dict:
    newest, after = None, 0
    while after is not None:
        page = exchange.get(f"{exchange.workspace}/serving-intents?after_version={after}")
        newest, after = (page["intents"] or [newest])[-1], page["next_after_version"]
    return newest


def intent(args) -> dict:
    """Reads the newest serving intent, and says that it is applied."""
    exchange = Exchange(args.settings)
    newest = newest_intent(exchange)
    if args.acknowledge:
        said = {
            "intent_version": newest["version"],
            "plan_digest": newest["plan_digest"],
            "applied_at": now(),
            "status": "applied",
        }
        key = f"{newest['intent_id']}:{newest['version']}"
        exchange.post(f"{exchange.workspace}/serving-intents/{newest['intent_id']}/acknowledgements", said, key)
        newest = newest_intent(exchange)
    return newest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name, run, *options, settings=True):
        sub = commands.add_parser(name)
        sub.set_defaults(run=run)
        if settings:
            sub.add_argument("--settings", required=True)
        for option, more in options:
            sub.add_argument(option, **{"required": "default" not in more and option.startswith("--"), **more})

    stream = ("--stream", {"default": "show:north"})
    version = ("--version", {"type": int, "default": 1})
    source = ("--source", {})
    command("key", new_key, ("--file", {}), ("--workspace", {}), ("--authority", {}), settings=False)
    command("serve", serve, ("--folder", {}), ("--port", {"type": int, "default": 0}), settings=False)
    command("snapshots", snapshots, ("--episodes", {}), ("--folder", {}), ("--origin", {}), stream, version)
    command("surface", surface, stream, version)
    command("aliases", aliases, ("--host", {}), ("--source", {"nargs": "+"}), stream, version)
    command("revoke", revoke, source, ("--revoke-version", {"type": int, "default": 1}), ("--mode", {"default": "stop_new"}), stream, version)
    command("compare", compare, ("--evidence", {}))
    command("evidence", evidence, source, ("--day", {}), ("--downloads", {"type": int}), stream, version)
    command("mapping", mapping, source)
    command("resolve", resolve, ("--alias", {}))
    command("intent", intent, ("--acknowledge", {"action": "store_true", "default": False}))
    args = parser.parse_args()
    try:
        result = args.run(args)
    except Refused as refused:
        print(json.dumps(refused.problem))
        print(refused, file=sys.stderr)
        sys.exit(1)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
