import { createPrivateKey, randomUUID, type KeyObject } from 'node:crypto';
import {
  messageDigestOf,
  parseEnvelope,
  parsePayload,
  semanticErrors,
  signMessage,
  subjectTypeOf,
  type Envelope,
  type FieldError,
  type MessageOf,
  type SchemaName,
} from '@longwave/exchange-messages';
import type { JWK } from 'jose';

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The private half of a registered machine key. */
export interface SigningKey {
  /** Id of the machine key: key_…. */
  readonly kid: string;
  /** Ed25519 (RFC 8037). */
  readonly privateJwk: JWK;
}

/** What a sender says about one subject; place, time and signature are added when it is sent. */
export type Draft = {
  readonly [S in SchemaName]: {
    readonly schema: S;
    readonly sourceId: string;
    /** Greater than that of every accepted message about the subject, whatever its schema. */
    readonly sourceVersion: number;
    readonly body: MessageOf<S>['body'];
    /** UUID of the sender's event; default: a new one. */
    readonly eventId?: string;
    /** Signs this message alone; default: the key of the client. */
    readonly signedBy?: SigningKey;
  };
}[SchemaName];

/** A signed message with its place. Its bytes are final: keep them to send them again. */
export interface SignedMessage {
  readonly streamId: string;
  readonly sequence: number;
  readonly digest: string;
  readonly issuedAt: string;
  readonly envelope: Envelope;
}

/** The place after which the next message stands. */
export interface StreamPlace {
  readonly sequence: number;
  /** Null before the first message. */
  readonly digest: string | null;
  /** RFC 3339; null before the first message. */
  readonly issuedAt: string | null;
}

/** A message is wrong before it is signed: nothing was sent. */
export class InvalidMessage extends Error {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    super(errors.map(({ path, detail }) => `${path}: ${detail}`).join('\n'));
    this.errors = errors;
  }
}

const keys = new WeakMap<JWK, KeyObject>();

/** The key object of a private JWK. */
export function privateKeyOf(jwk: JWK): KeyObject {
  const known = keys.get(jwk) ?? createPrivateKey({ key: jwk, format: 'jwk' });
  keys.set(jwk, known);
  return known;
}

/**
 * Signs a draft as the next message of a stream. It is issued now, or with the message before it when the clock has gone back.
 * Throws `InvalidMessage` for a draft that the exchange would refuse.
 */
export function signDraft(
  draft: Draft,
  after: StreamPlace,
  sender: {
    readonly workspaceId: string;
    readonly authorityId: string;
    readonly streamId: string;
    readonly key: SigningKey;
    readonly now: Date;
  },
): SignedMessage {
  const { kid, privateJwk } = draft.signedBy ?? sender.key;
  const isEarlier = after.issuedAt !== null && Date.parse(after.issuedAt) > sender.now.getTime();
  const issuedAt = isEarlier ? after.issuedAt : sender.now.toISOString();
  const sequence = after.sequence + 1;
  const payload = JSON.stringify({
    schema: draft.schema,
    workspace_id: sender.workspaceId,
    authority_id: sender.authorityId,
    stream_id: sender.streamId,
    seq: sequence,
    prev: after.digest,
    subject: {
      type: subjectTypeOf(draft.schema),
      source_id: draft.sourceId,
      source_version: draft.sourceVersion,
    },
    event_id: draft.eventId ?? randomUUID(),
    issued_at: issuedAt,
    body: draft.body,
  });
  const read = parsePayload(payload);
  // Which addresses of this machine may use http is for the exchange to say.
  const allows = ({ hostname }: URL) => loopback.test(hostname);
  const errors = read.ok ? semanticErrors(read.message, { kid, allows }) : read.errors;
  if (errors.length > 0) throw new InvalidMessage(errors);
  const envelope = signMessage(payload, privateKeyOf(privateJwk), kid);
  const { streamId } = sender;
  return { streamId, sequence, digest: messageDigestOf(envelope.protected, envelope.payload), issuedAt, envelope };
}

/**
 * Reads a message that was signed before: what `onSigned` was given, or what the exchange has stored. The envelope alone counts, which
 * stands under `envelope` or beside other members. Undefined for anything else.
 */
export function tryReadSigned(value: unknown): SignedMessage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const {
    protected: header,
    payload,
    signature,
  } = (('envelope' in value ? value.envelope : value) ?? {}) as Partial<Envelope>;
  const read = parseEnvelope({ protected: header, payload, signature });
  const parsed = read.ok ? parsePayload(read.payload) : read;
  if (!read.ok || !parsed.ok) return undefined;
  const { stream_id: streamId, seq: sequence, issued_at: issuedAt } = parsed.message;
  const { envelope } = read;
  return { streamId, sequence, digest: messageDigestOf(envelope.protected, envelope.payload), issuedAt, envelope };
}
