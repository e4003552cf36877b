import type { Attributes } from '@longwave/command-catalog';
import { createWebhookSecrets, type WebhookSecrets } from './webhook-secret.ts';

export type { WebhookSecrets };
export type WebhookEndpoint = Attributes<'webhook_endpoints'>;

/** The secrets of the keys that a configuration has now: 32 bytes in hex each, the newest first. */
export function secretsFromConfig(keys: () => readonly string[]): WebhookSecrets {
  const now = () => createWebhookSecrets(keys().map((key) => Buffer.from(key, 'hex')));
  return {
    get newestKey() {
      return now().newestKey;
    },
    derive: (source) => now().derive(source),
  };
}

/** The secret of an endpoint; undefined when the service no longer has its key. */
export const currentSecret = (
  secrets: WebhookSecrets,
  endpointId: string,
  { secret_generation: generation, secret_key: key }: Pick<WebhookEndpoint, 'secret_generation' | 'secret_key'>,
): Buffer | undefined => secrets.derive({ endpointId, generation, key });

/** The secrets that sign now, the newest first; undefined when the newest is not available. */
export function validSecrets(
  secrets: WebhookSecrets,
  endpointId: string,
  endpoint: WebhookEndpoint,
  now: Date,
): readonly Buffer[] | undefined {
  const current = currentSecret(secrets, endpointId, endpoint);
  if (!current) return undefined;
  const { previous_secret: previous } = endpoint;
  const former =
    previous && Date.parse(previous.valid_until) > now.getTime()
      ? secrets.derive({ endpointId, generation: previous.generation, key: previous.key })
      : undefined;
  return former ? [current, former] : [current];
}
