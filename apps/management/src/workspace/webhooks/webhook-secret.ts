import { createHmac } from 'node:crypto';
import { webhookKeyName } from '@longwave/principal';

/** The part of an endpoint that its secrets are derived from. */
interface SecretSource {
  readonly endpointId: string;
  /** Counts the rotations, from 1. */
  readonly generation: number;
  /** Name of the service's key. */
  readonly key: string;
}

/** Derives the secrets of webhook endpoints, so that none of them is stored (docs/adr/0041). */
export interface WebhookSecrets {
  /** Name of the key that new secrets are derived from. */
  readonly newestKey: string;
  /** 32 bytes; undefined when the service no longer has the key. */
  readonly derive: (source: SecretSource) => Buffer | undefined;
}

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * @param keys 32 bytes each, the newest first: new secrets are derived from it, the older ones keep theirs
 * Throws `RangeError` without a key.
 */
export function createWebhookSecrets(keys: readonly Buffer[]): WebhookSecrets {
  const [newest] = keys;
  if (!newest) throw new RangeError('at least one key is needed');
  const byName = new Map(keys.map((key) => [webhookKeyName(key), key]));
  return {
    newestKey: webhookKeyName(newest),
    derive: ({ endpointId, generation, key: name }) => {
      const key = byName.get(name);
      return key && hmac(key, `longwave webhook secret ${endpointId} ${generation}`);
    },
  };
}

/** A secret as receivers get it (Standard Webhooks, "Signature scheme"). */
export const secretText = (secret: Buffer): string => `whsec_${secret.toString('base64')}`;

/** The last four characters of a secret, without padding. */
export const secretHint = (secret: Buffer): string => secret.toString('base64').replace(/=+$/, '').slice(-4);

/**
 * The headers of one attempt at a message, signed with every secret that is valid (Standard Webhooks 1.0).
 * @param at the time of the attempt; receivers refuse old ones
 */
export function signedHeaders(
  id: string,
  body: string,
  secrets: readonly Buffer[],
  at: Date,
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const sign = (secret: Buffer) => `v1,${hmac(secret, `${id}.${timestamp}.${body}`).toString('base64')}`;
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': secrets.map(sign).join(' ') };
}
