import { createPrivateKey, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { JWK } from 'jose';
import type { CheckpointStatement } from '../receipts/verify-chain.ts';

/** Another resource that the command changed in the same transaction. */
export interface ReceiptConsequence {
  readonly type: string;
  readonly id: string;
  readonly version_before: number;
  readonly version_after: number;
  readonly digest_after: string;
}

/** A policy that a command obeyed. */
export interface PolicyVersion {
  readonly id: string;
  readonly version: number;
}

/** What decided a command beside its subject and policies: a product, a rate card, the capability of a surface. */
export interface DecisionBasis extends PolicyVersion {
  readonly type: string;
}

/** Resource types that say who may do what: receipts about them are of kind `authority`. */
export const authorityTypes: ReadonlySet<string> = new Set([
  'workspaces',
  'authority_grants',
  'machine_keys',
  'memberships',
  'credentials',
  'machine_tokens',
]);

/** The signed statement of a receipt. It proves that the command was accepted, not that an ad or an episode was delivered. */
export interface ReceiptStatement {
  readonly id: string;
  readonly workspace_id: string;
  readonly kind: 'command' | 'authority';
  readonly operation_id: string;
  readonly command_type: string;
  readonly subject: {
    readonly type: string;
    readonly id: string;
    readonly version_before: number;
    readonly version_after: number;
    /** Absent while a new resource waits for its review. */
    readonly digest_after?: string;
  };
  /** In the order of ids; absent when nothing else changed. */
  readonly consequences?: readonly ReceiptConsequence[];
  /** Absent when nothing beside the subject decided. */
  readonly decided_by?: readonly DecisionBasis[];
  readonly payload_digest: string;
  readonly client_id: string;
  /** The policies that the command obeyed. Absent in receipts of releases before 0.4, like `review`. */
  readonly policy_versions?: readonly PolicyVersion[];
  /** The review that the catalog declares, and the one that the command waited for, or waits for. */
  readonly review?: { readonly declared: string; readonly applied: string };
  readonly accepted_at: string;
  readonly proves: 'acceptance';
  /** The decisions of its review, for a reviewed command. */
  readonly review_decisions?: readonly unknown[];
  /** Place in the workspace's chain; `prev` is the SHA-256 of the JWS before, or 64 zeros for the first. */
  readonly chain: { readonly seq: number; readonly prev: string };
}

export type SignReceipt = (statement: ReceiptStatement) => Promise<string>;

/** A private JWK that signs, or where to ask for that of now. */
export type SigningKey = JWK | (() => JWK);

const presentKey = (key: SigningKey): JWK => (typeof key === 'function' ? key() : key);

/** The name of a signing key, as receipts and the published keys have it. */
const keyIdOf = ({ kid = '1' }: JWK): string => kid;

/** The public part of a signing key, as it is published (RFC 7517, RFC 8037 §2). */
export const publicReceiptKey = (privateKey: JWK): JWK => {
  const { kty, crv, x } = privateKey;
  if (kty !== 'OKP' || crv === undefined || x === undefined) throw new Error('receipts are signed with an Ed25519 key');
  return { kty, crv, x, kid: keyIdOf(privateKey), alg: 'EdDSA', use: 'sig' };
};

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const signInThread = promisify(sign);

/**
 * Signs statements of a type with an Ed25519 private JWK as compact JWS (RFC 7515 §3.1, RFC 8037 §3.1). The signature is made in another
 * thread by Node's own function: by jose it takes twice the processor time.
 */
function createSigner<S>(privateKey: SigningKey, typ: string): (statement: S) => Promise<string> {
  const importKey = (jwk: JWK) => {
    const key = createPrivateKey({ key: jwk, format: 'jwk' });
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('receipts are signed with an Ed25519 key');
    return { jwk, key, header: base64url({ alg: 'EdDSA', typ, kid: keyIdOf(jwk) }) };
  };
  let imported = importKey(presentKey(privateKey));
  return async (statement) => {
    const present = presentKey(privateKey);
    if (present !== imported.jwk) imported = importKey(present);
    const { header, key } = imported;
    const signed = `${header}.${base64url(statement)}`;
    const signature = await signInThread(null, Buffer.from(signed), key);
    return `${signed}.${signature.toString('base64url')}`;
  };
}

/** Signs receipts with an Ed25519 private JWK. */
export const createReceiptSigner = (privateKey: SigningKey): SignReceipt => createSigner(privateKey, 'receipt+jwt');

export type SignCheckpoint = (statement: CheckpointStatement) => Promise<string>;

/** Signs checkpoints with the key of the receipts. */
export const createCheckpointSigner = (privateKey: SigningKey): SignCheckpoint =>
  createSigner(privateKey, 'checkpoint+jwt');
