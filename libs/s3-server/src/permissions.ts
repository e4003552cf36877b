import { S3Error } from './s3-error.ts';
import type { S3Credentials } from './sigv4.ts';

/** `read`: bytes and metadata of an object. `write`: put, copy to, delete, multipart uploads. `list`: names that begin with a prefix. */
export const actions = ['read', 'write', 'list'] as const;
export type Action = (typeof actions)[number];

/** The actions that a key may do, by prefix of the object's name. The longest matching prefix decides; without one nothing is allowed. */
export type Permissions = Readonly<Record<string, readonly Action[]>>;

/** A key of the server. */
export interface S3Key extends S3Credentials {
  /** Default: everything. */
  readonly permissions?: Permissions;
}

/** Throws S3Error 403 unless the key may do that with the object `name` (of a listing: with every name that begins with it). */
export function assertPermitted({ permissions }: S3Key, action: Action, name: string): void {
  if (!permissions) return;
  const [fitting] = Object.keys(permissions)
    .filter((prefix) => name.startsWith(prefix))
    .sort((a, b) => b.length - a.length);
  // A listing of a prefix shows the names below, so each longer prefix must allow it too.
  const below = action === 'list' ? Object.keys(permissions).filter((prefix) => prefix.startsWith(name)) : [];
  const decisive = [...(fitting === undefined ? [] : [fitting]), ...below];
  const permitted = fitting !== undefined && decisive.every((prefix) => permissions[prefix]?.includes(action));
  if (!permitted) throw new S3Error(403, 'AccessDenied', 'The key may not do this');
}
