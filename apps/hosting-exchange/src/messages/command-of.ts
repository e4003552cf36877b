import type { ChangesInput, productCatalog } from '@longwave/command-catalog';
import type { Message, SchemaName } from '@longwave/exchange-messages';

type ProductCommand = keyof (typeof productCatalog)['commands'];

/** The command that applies a message. */
export interface MessageCommand {
  readonly commandType: ProductCommand;
  readonly subjectType: string;
  /** Null for a new resource. */
  readonly subjectId: string | null;
  readonly changes: object;
}

/** The type of the resource that messages of a schema make or change. */
export const resourceTypes = {
  'content-snapshot/1': 'content_snapshots',
  'content-revocation/1': 'content_revocations',
  'surface-capability/1': 'surface_capabilities',
  'delivery-alias/1': 'delivery_aliases',
  'platform-evidence/1': 'platform_evidence',
  'authority-rotation/1': 'authority_grants',
} as const satisfies Record<SchemaName, string>;

/** Schemas whose messages about one subject are versions of one resource; each message of the others makes a resource of its own. */
export const hasOneResource = (schema: SchemaName): boolean =>
  schema === 'surface-capability/1' || schema === 'delivery-alias/1';

const command = <C extends ProductCommand>(
  commandType: C,
  message: Message,
  subjectId: string | null,
  changes: ChangesInput<C>,
): MessageCommand => ({ commandType, subjectType: resourceTypes[message.schema], subjectId, changes });

/**
 * The command of a message.
 * @param signed the message's digest and key
 * @param resourceId the resource of earlier messages about the same subject
 */
export function commandOf(
  message: Message,
  signed: { readonly digest: string; readonly keyId: string },
  resourceId: string | undefined,
): MessageCommand {
  const source = {
    authority_id: message.authority_id,
    signed_by: signed.keyId,
    stream_id: message.stream_id,
    sequence: message.seq,
    message_digest: signed.digest,
    source_id: message.subject.source_id,
    source_version: message.subject.source_version,
  };
  const id = resourceId ?? null;
  switch (message.schema) {
    case 'content-snapshot/1': {
      const { x: _extension, ...content } = message.body;
      return command('content_snapshot.accept', message, null, { ...source, content });
    }
    case 'content-revocation/1':
      return command('content_revocation.accept', message, null, { ...source, revocation: message.body });
    case 'surface-capability/1': {
      const type = id === null ? 'surface_capability.declare' : 'surface_capability.revise';
      return command(type, message, id, { ...source, capability: message.body });
    }
    case 'delivery-alias/1': {
      const type = id === null ? 'delivery_alias.register' : 'delivery_alias.revise';
      return command(type, message, id, { ...source, alias: message.body });
    }
    case 'platform-evidence/1': {
      const { x: _extension, rows: _rows, ...evidence } = message.body;
      return command('platform_evidence.accept', message, null, { ...source, evidence });
    }
    case 'authority-rotation/1': {
      const { retire_kid, successor_kid, overlap_until, cause } = message.body;
      const rotation = { retired_key_id: retire_kid, successor_key_id: successor_kid, overlap_until, cause };
      return command('authority_grant.record_rotation', message, message.authority_id, { ...source, rotation });
    }
  }
}
