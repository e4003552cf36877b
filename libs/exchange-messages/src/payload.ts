import { z } from 'zod';
import { digest, instant, longwaveId, ordinal, sourceId } from './fields.ts';
import { maxFieldErrors } from './limits.ts';
import { isSchemaName, schemas, subjectTypeOf, type SchemaName, type SubjectTypeOf } from './message-kinds.ts';
import { fieldErrors, pointer, refusal, type FieldError, type Refusal } from './refusal.ts';
import { parseStrictJson, type JsonResult } from './strict-json.ts';

/** The content of one message, as its sender signed it. */
export interface MessageOf<S extends SchemaName> {
  readonly schema: S;
  readonly workspace_id: string;
  readonly authority_id: string;
  readonly stream_id: string;
  readonly seq: number;
  /** Digest of the message before it in the stream; null for the first. */
  readonly prev: string | null;
  readonly subject: {
    readonly type: SubjectTypeOf<S>;
    readonly source_id: string;
    readonly source_version: number;
  };
  /** UUID, unique per authority. */
  readonly event_id: string;
  readonly issued_at: string;
  readonly body: z.output<(typeof schemas)[S]>;
}
export type Message = { [S in SchemaName]: MessageOf<S> }[SchemaName];

export type PayloadRefusal = Refusal<'malformed_payload' | 'unknown_field' | 'validation_failed'>;
export type PayloadResult = { readonly ok: true; readonly message: Message } | PayloadRefusal;

/** A stream of a host, such as `show:1234`. */
export const streamId = z.string().regex(/^[a-z_]{2,24}:[A-Za-z0-9._-]{1,96}$/, 'Write a stream such as “show:1234”.');

/** A UUID in lower case (RFC 9562), so that one event has one spelling. */
const eventId = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'Write a UUID in small letters.');

/** `seq` 1 and a null `prev` belong together, but that is a verdict of the chain (`chain_genesis_invalid`). */
const messageSchema = <S extends SchemaName>(schema: S) =>
  z.strictObject({
    schema: z.literal(schema),
    workspace_id: longwaveId('ws'),
    authority_id: longwaveId('agr'),
    stream_id: streamId,
    seq: ordinal,
    prev: digest.nullable(),
    subject: z.strictObject({
      type: z.literal(subjectTypeOf(schema)),
      source_id: sourceId,
      source_version: ordinal,
    }),
    event_id: eventId,
    issued_at: instant,
    body: schemas[schema],
  });

/** The zod schema of whole payloads, by the name in their `schema`. */
export const payloadSchemas = {
  'content-snapshot/1': messageSchema('content-snapshot/1'),
  'content-revocation/1': messageSchema('content-revocation/1'),
  'surface-capability/1': messageSchema('surface-capability/1'),
  'delivery-alias/1': messageSchema('delivery-alias/1'),
  'platform-evidence/1': messageSchema('platform-evidence/1'),
  'authority-rotation/1': messageSchema('authority-rotation/1'),
} as const satisfies { [S in SchemaName]: z.ZodType<MessageOf<S>> };

/** The source id that a message must have because its body names the subject; undefined where the sender chooses it. */
function namedSubject(message: Message): string | undefined {
  switch (message.schema) {
    case 'surface-capability/1':
      return message.body.surface_id;
    case 'delivery-alias/1':
      return message.body.alias;
    case 'authority-rotation/1':
      return message.authority_id;
    case 'content-snapshot/1':
    case 'content-revocation/1':
    case 'platform-evidence/1':
      return undefined;
  }
}

// eslint-disable-next-line no-control-regex -- control characters are what is refused
const controlCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Text and keys with control characters, which databases, feeds and headers cannot hold; tab and line ends are none. */
function controlCharacterErrors(value: unknown, path: readonly PropertyKey[] = []): FieldError[] {
  const detail = 'Control characters are not allowed, but for tab and line ends.';
  const error = () => ({ path: pointer(path), code: 'control_character', detail });
  if (typeof value === 'string') return controlCharacter.test(value) ? [error()] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    controlCharacter.test(key) ? [error()] : controlCharacterErrors(inner, [...path, key]),
  );
}

function parseMessage(value: object): PayloadResult {
  const schema = (value as { readonly schema?: unknown }).schema;
  if (!isSchemaName(schema))
    return refusal('validation_failed', [
      { path: '/schema', code: 'invalid_value', detail: `Write one of ${Object.keys(schemas).join(', ')}.` },
    ]);
  const parsed = payloadSchemas[schema].safeParse(value);
  if (!parsed.success) {
    const { issues } = parsed.error;
    const unknown = issues.filter(({ code }) => code === 'unrecognized_keys');
    return unknown.length > 0
      ? refusal('unknown_field', fieldErrors(unknown, value))
      : refusal('validation_failed', fieldErrors(issues, value));
  }
  const message: Message = parsed.data;
  const errors = controlCharacterErrors(value).slice(0, maxFieldErrors);
  const expected = namedSubject(message);
  if (expected !== undefined && message.subject.source_id !== expected)
    errors.push({ path: '/subject/source_id', code: 'subject_mismatch', detail: 'The body names another subject.' });
  return errors.length > 0 ? refusal('validation_failed', errors) : { ok: true, message };
}

/**
 * Reads the payload of a message whose signature was verified: JSON, closed schema, form of every member. The caller has bounded
 * its length (`parseEnvelope`). `semanticErrors` checks members against each other, `classifyMessage` the place in the chain.
 */
export const parsePayload = (payload: Uint8Array | string): PayloadResult => openPayload(payload).parse();

function parseJson(json: JsonResult): PayloadResult {
  if (!json.ok) return refusal('malformed_payload', [json.fault]);
  if (typeof json.value !== 'object' || json.value === null || Array.isArray(json.value))
    return refusal('malformed_payload', [
      { path: '', code: 'not_an_object', detail: 'The payload is no JSON object.' },
    ]);
  return parseMessage(json.value);
}

/** The statements of an unverified payload about itself. */
export interface ClaimedOrigin {
  readonly schema: SchemaName | undefined;
  readonly workspaceId: string | undefined;
  readonly authorityId: string | undefined;
}

/**
 * Opens a payload: who claims to have signed it, so that the key can be compared before the signature is verified, and what
 * `parsePayload` says of it. Members of the claim that are missing or wrong are undefined. The JSON is read once.
 */
export function openPayload(payload: Uint8Array | string): {
  readonly claims: ClaimedOrigin;
  readonly parse: () => PayloadResult;
} {
  const json = parseStrictJson(payload);
  return { claims: originOf(json), parse: () => parseJson(json) };
}

/** The claims of a payload alone. */
export const claimedOrigin = (payload: Uint8Array | string): ClaimedOrigin => openPayload(payload).claims;

function originOf(json: JsonResult): ClaimedOrigin {
  const value = (json.ok && typeof json.value === 'object' && json.value) || {};
  const { schema, workspace_id: workspaceId, authority_id: authorityId } = value as Readonly<Record<string, unknown>>;
  return {
    schema: isSchemaName(schema) ? schema : undefined,
    workspaceId: typeof workspaceId === 'string' ? workspaceId : undefined,
    authorityId: typeof authorityId === 'string' ? authorityId : undefined,
  };
}
