import { hash } from 'node:crypto';
import type { Message, SchemaName } from '@longwave/exchange-messages';
import canonicalize from 'canonicalize';

/** The resource that messages of a schema become, and the field of the command that takes their body. */
const targets = {
  'content-snapshot/1': { type: 'content_snapshots', noun: 'content_snapshot', field: 'content' },
  'content-revocation/1': { type: 'content_revocations', noun: 'content_revocation', field: 'revocation' },
  'surface-capability/1': { type: 'surface_capabilities', noun: 'surface_capability', field: 'capability' },
  'delivery-alias/1': { type: 'delivery_aliases', noun: 'delivery_alias', field: 'alias' },
  'platform-evidence/1': { type: 'platform_evidence', noun: 'platform_evidence', field: 'evidence' },
  'authority-rotation/1': { type: 'authority_grants', noun: 'authority_grant', field: 'rotation' },
} as const satisfies Readonly<Record<SchemaName, object>>;

/** The body as the command has it: extensions and inline rows stay in the message, keys are named by their ids. */
function bodyOf(message: Message): object {
  switch (message.schema) {
    case 'content-snapshot/1': {
      const { x: _x, ...content } = message.body;
      return content;
    }
    case 'platform-evidence/1': {
      const { x: _x, rows: _rows, ...evidence } = message.body;
      return evidence;
    }
    case 'authority-rotation/1': {
      const { retire_kid: retired, successor_kid: successor, overlap_until: until, cause } = message.body;
      return { retired_key_id: retired, successor_key_id: successor, overlap_until: until, cause };
    }
    case 'content-revocation/1':
    case 'surface-capability/1':
    case 'delivery-alias/1':
      return message.body;
  }
}

/** The changes of the command that applies a message. */
export function commandChanges(message: Message, signed: { readonly kid: string; readonly digest: string }): object {
  return {
    authority_id: message.authority_id,
    signed_by: signed.kid,
    stream_id: message.stream_id,
    sequence: message.seq,
    message_digest: signed.digest,
    source_id: message.subject.source_id,
    source_version: message.subject.source_version,
    [targets[message.schema].field]: bodyOf(message),
  };
}

/** What a receipt states about the command that it proves. */
export interface ProvenCommand {
  readonly command_type: string;
  readonly payload_digest: string;
  readonly subject: { readonly type: string; readonly id: string };
}

/**
 * Whether a receipt proves that this message was accepted: the digest that it states is that of the command which applies the message,
 * over the canonical form (RFC 8785) of `{changes, reason, subject}`. The subject has no version, and no id
 * where the command makes a new resource.
 */
export function provesMessage(
  proven: ProvenCommand,
  message: Message,
  signed: { readonly kid: string; readonly digest: string },
): boolean {
  const { type, noun } = targets[message.schema];
  const { subject, command_type: commandType } = proven;
  if (subject.type !== type || !commandType.startsWith(`${noun}.`)) return false;
  const changes = commandChanges(message, signed);
  return [null, subject.id].some((id) => {
    const command = { changes, reason: null, subject: { type, id, version: null } };
    return hash('sha256', canonicalize(command)!, 'hex') === proven.payload_digest;
  });
}
