import {
  isMessageSignedBy,
  messageDigestOf,
  openPayload,
  parseEnvelope,
  parseProtectedHeader,
  purposeOf,
  tryParsePublicKey,
  type ClaimedOrigin,
  type Envelope,
  type FieldError,
  type Message,
} from '@longwave/exchange-messages';
import { Problem, type ProblemCode } from '@longwave/problems';
import { whyNotInForce, type MachineKey } from '../authorities/machine-key-table.ts';

/** A message in its envelope, which is not verified yet. */
export interface OpenedItem {
  readonly envelope: Envelope;
  readonly payload: Buffer;
  readonly keyId: string;
  readonly digest: string;
}

/** A message whose signature, form and key are right. */
export interface CheckedMessage {
  readonly envelope: Envelope;
  readonly digest: string;
  readonly keyId: string;
  readonly message: Message;
  /** Why its key does not sign it now: it is taken as a duplicate alone. */
  readonly keyRefusal?: Problem;
}

/** The refusal of a message; `errors` name its members below the message's place in the body. */
function refuse(code: ProblemCode, errors: readonly FieldError[], members: Record<string, unknown> = {}): Problem {
  const [first] = errors;
  return new Problem(code, first?.detail, {
    ...(errors.length > 0 && { errors }),
    members: { ...(code === 'unknown_field' && first && { field_path: first.path }), ...members },
  });
}

/** Reads the envelope of an item and its header (rules 1, 4 and 5 of docs/hosting-exchange.md). Throws a `Problem`. */
export function openItem(item: unknown): OpenedItem {
  const opened = parseEnvelope(item);
  if (!opened.ok) throw refuse(opened.code, opened.errors);
  const header = parseProtectedHeader(opened.envelope.protected);
  if (!header.ok) throw refuse(header.code, header.errors);
  const { envelope, payload } = opened;
  return {
    envelope,
    payload,
    keyId: header.header.kid,
    digest: messageDigestOf(envelope.protected, envelope.payload),
  };
}

const keyErrors = (detail: string): readonly FieldError[] => [{ path: '/protected', code: 'kid', detail }];

/** Why a key may not sign what a payload says that it is, now (rule 6); undefined when it may. */
function refusalOfKey(key: MachineKey, claimed: ClaimedOrigin, authorityId: string, now: Date): Problem | undefined {
  if (claimed.authorityId !== undefined && claimed.authorityId !== authorityId)
    return refuse('unknown_signing_key', keyErrors('The key belongs to no authority of that id.'));
  if (claimed.schema !== undefined && !key.purposes.includes(purposeOf(claimed.schema)))
    return refuse('key_purpose_invalid', keyErrors(`The key was not registered to sign ${claimed.schema}.`));
  const reason = whyNotInForce(key, now);
  return reason === undefined ? undefined : refuse('key_revoked', keyErrors(reason));
}

/**
 * Verifies an item (rules 6 to 8).
 * @param known whether the message was accepted before: it gets its first answer whatever became of its key, unless it has lost its place
 * when the stream is locked
 * Throws a `Problem`.
 */
export function checkItem(
  { envelope, payload, keyId, digest }: OpenedItem,
  options: {
    readonly keys: ReadonlyMap<string, MachineKey>;
    readonly authorityId: string;
    readonly known: boolean;
    readonly now: Date;
  },
): CheckedMessage {
  const key = options.keys.get(keyId);
  const publicKey = key && tryParsePublicKey(key.x);
  if (!key || !publicKey)
    throw refuse('unknown_signing_key', keyErrors('The authority of this client has no key of that id.'));
  const opened = openPayload(payload);
  const keyRefusal = refusalOfKey(key, opened.claims, options.authorityId, options.now);
  if (keyRefusal && !options.known) throw keyRefusal;
  if (!isMessageSignedBy(publicKey, envelope))
    throw refuse('signature_invalid', keyErrors('The signature does not verify by the key that “kid” names.'));
  const parsed = opened.parse();
  if (!parsed.ok)
    throw refuse(
      parsed.code,
      parsed.errors.map((error) => ({ ...error, path: `/payload${error.path}` })),
    );
  return { envelope, digest, keyId, message: parsed.message, ...(keyRefusal && { keyRefusal }) };
}
