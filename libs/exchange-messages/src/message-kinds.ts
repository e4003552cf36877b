import { authorityRotationBody } from './bodies/authority-rotation.ts';
import { contentRevocationBody } from './bodies/content-revocation.ts';
import { contentSnapshotBody } from './bodies/content-snapshot.ts';
import { deliveryAliasBody } from './bodies/delivery-alias.ts';
import { platformEvidenceBody } from './bodies/platform-evidence.ts';
import { surfaceCapabilityBody } from './bodies/surface-capability.ts';

/** The uses that a key is registered for. */
export type KeyPurpose = 'content' | 'platform_evidence';

/** The zod schema of every body. */
export const schemas = {
  'content-snapshot/1': contentSnapshotBody,
  'content-revocation/1': contentRevocationBody,
  'surface-capability/1': surfaceCapabilityBody,
  'delivery-alias/1': deliveryAliasBody,
  'platform-evidence/1': platformEvidenceBody,
  'authority-rotation/1': authorityRotationBody,
} as const;

export type SchemaName = keyof typeof schemas;

const subjectTypes = {
  'content-snapshot/1': 'episode',
  'content-revocation/1': 'episode',
  'surface-capability/1': 'surface',
  'delivery-alias/1': 'alias',
  'platform-evidence/1': 'evidence',
  'authority-rotation/1': 'authority',
} as const satisfies Record<SchemaName, string>;

export type SubjectTypeOf<S extends SchemaName> = (typeof subjectTypes)[S];
export type SubjectType = SubjectTypeOf<SchemaName>;

export const isSchemaName = (name: unknown): name is SchemaName =>
  typeof name === 'string' && Object.hasOwn(schemas, name);

/** The purpose that a key needs to sign messages of this schema. */
export const purposeOf = (schema: SchemaName): KeyPurpose =>
  schema === 'platform-evidence/1' ? 'platform_evidence' : 'content';

/** The type of the subject that messages of this schema have. */
export const subjectTypeOf = <S extends SchemaName>(schema: S): SubjectTypeOf<S> => subjectTypes[schema];
