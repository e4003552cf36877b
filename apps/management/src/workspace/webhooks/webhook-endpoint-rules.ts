import { webhookEventTypes, type productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { checkUrl } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import { refuseField } from '../refuse-field.ts';
import {
  clearHealth,
  countEndpoints,
  failWaiting,
  hasDelivery,
  insertDeliveries,
  requeueDeliveries,
} from './delivery-table.ts';
import type { WebhookSecrets, WebhookEndpoint } from './endpoint-secrets.ts';
import { countReplays, remainingReplays } from './replay-table.ts';
import { renderTest } from './webhook-message.ts';
import { secretHint } from './webhook-secret.ts';

/** Development receivers are on http, on another port or in a private network. */
const orAllowed = 'The operator can allow an origin for development (FETCH_ALLOW_ORIGINS).';

/** Endpoints of a workspace that are not deleted. */
const maxEndpoints = 20;
const defaultPreviousHours = 24;
const hourMs = 3_600_000;

type WebhookRules = Pick<
  Rules<typeof productCatalog>,
  Extract<keyof Rules<typeof productCatalog>, `webhook_endpoint.${string}`>
>;

/** Each event once, in the order of the catalog. */
const inOrder = (events: readonly string[]) => webhookEventTypes.filter((type) => events.includes(type));

/**
 * Rules of the webhook endpoint commands.
 * @param options.allowOrigins origins that may be http, on another port or private, for development
 */
export function webhookEndpointRules(options: {
  readonly secrets: WebhookSecrets;
  readonly allowOrigins: readonly string[];
}): WebhookRules {
  const { secrets } = options;
  const allowed = new Set(options.allowOrigins.map((origin) => new URL(origin).origin));

  /** The address that is posted to. Throws `validation_failed` unless it may be; its name is resolved at each attempt. */
  function postable(text: string): string {
    try {
      const { url, allowed: isAllowed } = checkUrl(text, allowed);
      if (!isAllowed && !/^https:/i.test(text))
        throw new Problem('validation_failed', 'The address must begin with https://.');
      return url.href;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return refuseField('/changes/url', 'not_postable', `${error.message} ${orAllowed}`);
    }
  }

  /** The fields that name a generation of the secret. */
  function secretFields(endpointId: string, generation: number) {
    const key = secrets.newestKey;
    const secret = secrets.derive({ endpointId, generation, key })!;
    return { secret_generation: generation, secret_key: key, secret_hint: secretHint(secret) };
  }

  const ended = (
    subjectId: string,
    attributes: Readonly<WebhookEndpoint>,
    problem: 'endpoint_disabled' | 'endpoint_deleted',
    now: Date,
  ) => ({
    attributes,
    also: (tx: Parameters<typeof failWaiting>[0]) => failWaiting(tx, subjectId, problem, now),
  });

  return {
    'webhook_endpoint.create': async ({ tx, workspaceId, subjectId, changes }) => {
      if ((await countEndpoints(tx, workspaceId)) >= maxEndpoints)
        throw new Problem(
          'validation_failed',
          `A workspace may have ${maxEndpoints} webhook endpoints. Delete one first.`,
        );
      const { url, events, ...rest } = changes;
      return { attributes: { ...rest, url: postable(url), events: inOrder(events), ...secretFields(subjectId, 1) } };
    },

    'webhook_endpoint.revise': ({ current, changes: { url, events, ...rest }, subjectId }) => ({
      attributes: {
        ...current,
        ...rest,
        ...(url !== undefined && { url: postable(url) }),
        ...(events && { events: inOrder(events) }),
      },
      // Another address has not failed yet.
      ...(url !== undefined && { also: (tx) => clearHealth(tx, subjectId) }),
    }),

    'webhook_endpoint.rotate_secret': ({ current, changes, subjectId, now }) => {
      const { secret_generation: generation, secret_key: key, previous_secret: _ended, ...rest } = current;
      const hours = changes.previous_valid_hours ?? defaultPreviousHours;
      const until = new Date(now.getTime() + hours * hourMs).toISOString();
      return {
        attributes: {
          ...rest,
          ...secretFields(subjectId, generation + 1),
          ...(hours > 0 && { previous_secret: { generation, key, valid_until: until } }),
        },
      };
    },

    'webhook_endpoint.enable': ({ current, subjectId }) => ({
      attributes: current,
      also: (tx) => clearHealth(tx, subjectId),
    }),

    'webhook_endpoint.disable': ({ current, subjectId, now }) => ended(subjectId, current, 'endpoint_disabled', now),

    'webhook_endpoint.delete': ({ current, subjectId, now }) => ended(subjectId, current, 'endpoint_deleted', now),

    'webhook_endpoint.replay': async ({ tx, current, changes, subjectId, now }) => {
      const { delivery_id: deliveryId, since } = changes;
      if (deliveryId !== undefined && !(await hasDelivery(tx, subjectId, deliveryId)))
        return refuseField('/changes/delivery_id', 'not_found', 'The endpoint has no such delivery.');
      const maxDeliveries = await remainingReplays(tx, subjectId, now);
      const chosen = deliveryId === undefined ? { since: since!, maxDeliveries } : { deliveryId };
      return {
        attributes: current,
        also: async (inner) => {
          const queued = await requeueDeliveries(inner, subjectId, chosen, now);
          await countReplays(inner, subjectId, queued, now);
        },
      };
    },

    'webhook_endpoint.send_test': async ({ tx: before, current, workspaceId, subjectId, now }) => {
      await remainingReplays(before, subjectId, now);
      return {
        attributes: current,
        also: async (tx, { operationId }) => {
          const message = renderTest(operationId, { workspaceId, endpointId: subjectId, now });
          await insertDeliveries(tx, [{ endpointId: subjectId, message }], now);
          await countReplays(tx, subjectId, 1, now);
        },
      };
    },
  };
}
