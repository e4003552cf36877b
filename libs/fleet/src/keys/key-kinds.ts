import type { KeyFileName } from './key-files.ts';

/** When a key that was replaced may go: never kept, after a time, or when nothing needs it any more. */
type Former =
  | { readonly stays: 'never' }
  | { readonly stays: 'for'; readonly seconds: number; readonly because: string }
  | { readonly stays: 'while-used'; readonly because: string };

export interface KeyKind {
  readonly purpose: string;
  /** A new key is used from the first moment of the next month (UTC) on, and the one before until then. */
  readonly beginsNextMonth?: true;
  readonly former: Former;
}

const minute = 60;
const day = 86_400;

/** Every key and secret of an installation, by the name by which it is rotated. docs/operate.md#keys explains each. */
export const keyKinds = {
  'access-tokens': {
    purpose: 'signs access tokens',
    former: { stays: 'for', seconds: 400 * day, because: 'tokens of machine clients live for up to 400 days' },
  },
  principals: {
    purpose: 'signs what auth-server says to services about a caller',
    former: { stays: 'for', seconds: 5 * minute, because: 'such a statement lives for a minute' },
  },
  receipts: { purpose: 'signs receipts and checkpoints', former: { stays: 'never' } },
  'second-factors': {
    purpose: 'encrypts the secrets of codes at sign-in',
    former: { stays: 'while-used', because: 'a secret is encrypted anew when its person signs in with a code' },
  },
  cursors: {
    purpose: 'seals the cursors of lists',
    former: { stays: 'for', seconds: 30 * day, because: 'who follows changes keeps a cursor between two calls' },
  },
  'delivery-tokens': {
    purpose: 'makes the tokens in addresses of audio',
    former: { stays: 'for', seconds: 180 * day, because: 'apps keep such an address for up to 180 days' },
  },
  webhooks: {
    purpose: 'makes the secrets of webhook endpoints',
    former: {
      stays: 'while-used',
      because: 'the secret of an endpoint is made of a new key when its owner rotates it',
    },
  },
  listeners: {
    purpose: 'makes the keys by which listeners are counted',
    beginsNextMonth: true,
    former: {
      stays: 'for',
      seconds: 3 * day,
      because: 'it links what listeners did on both sides of the turn of a month',
    },
  },
  database: { purpose: 'passwords of the services and of the operator at PostgreSQL', former: { stays: 'never' } },
  redis: { purpose: 'passwords of the services and of the operator at Redis', former: { stays: 'never' } },
  'object-store': {
    purpose: 'keys of the services and of the operator at the object store',
    former: { stays: 'for', seconds: day, because: 'addresses for uploads and downloads are signed with it' },
  },
  certificates: { purpose: 'certificates of the services, for TLS between them', former: { stays: 'never' } },
  ca: {
    purpose: 'the authority that signs these certificates',
    former: { stays: 'while-used', because: 'certificates that it has signed are trusted by it' },
  },
} as const satisfies Readonly<Record<string, KeyKind>>;

export type KeyName = keyof typeof keyKinds;
export const keyNames = Object.keys(keyKinds) as KeyName[];

/** The keys that are texts in a variable: 32 bytes in hex each, separated by commas, the newest first. By their member of secrets.json. */
export const textKeys = { cursors: 'cursor', 'delivery-tokens': 'deliveryToken', webhooks: 'webhook' } as const;

export const isTextKey = (name: KeyName): name is keyof typeof textKeys => Object.hasOwn(textKeys, name);
export const isFileKey = (name: KeyName): name is KeyFileName =>
  (
    ['access-tokens', 'principals', 'receipts', 'second-factors'] satisfies readonly KeyFileName[] as readonly string[]
  ).includes(name);
