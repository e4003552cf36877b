import { z } from 'zod';
import { defineCommand, defineResource, type CommandDefinition } from '../definition.ts';
import { lineItemAlertEvents, podcastAlertEvents } from '../commerce/line-item-alert.ts';
import { cause, instant, longText, reference, stateReason, webUrl } from '../fields.ts';
import { operations } from './operation.ts';

/**
 * Events of other commands that subscribers know by one name: a scheduled episode and one that a person publishes are both published.
 */
const renamed: Readonly<Record<string, string>> = {
  'episode.due_published': 'episode.published',
  'podcast.import_completed': 'import.done',
  'podcast.import_failed': 'import.done',
  'statistics_export.recorded': 'statistics_export.ready',
};

/** An endpoint was disabled, by a person or after its failures: the others may want to know. */
const endpointDisabled = 'webhook_endpoint.disabled';

/** The end of an operation that its first answer left open. */
export const operationEnded = 'operation.ended';

/** The message that `webhook_endpoint.send_test` sends; nobody subscribes to it. */
export const webhookTest = 'webhook.test';

/** The name by which subscribers know an event of the catalog. */
export const webhookTypeOf = (event: string): string => renamed[event] ?? event;

type Announcing = Pick<CommandDefinition, 'subject' | 'event' | 'consequences'>;

/**
 * Every event type that a webhook endpoint may choose, in alphabetical order, for these commands. However an operation ends, that is one type.
 */
export const webhookTypes = (commands: readonly Announcing[]): string[] => {
  const events = commands.flatMap(({ subject, event, consequences = [] }) =>
    subject === operations.type ? consequences : [event, ...consequences],
  );
  const alerts = [lineItemAlertEvents, podcastAlertEvents].flatMap((one) => Object.values(one));
  const further = [operationEnded, endpointDisabled, ...alerts];
  return [...new Set([...events.map(webhookTypeOf), ...further])].sort();
};

const secretKey = z.string().regex(/^[0-9a-f]{8}$/);

/** How long the secret before a rotation stays valid at most, in hours. */
const maxPreviousSecretHours = 24;

/** What a command that makes a secret shows, in its answer alone. */
const disclosed = z.strictObject({ secret: z.string().describe('Verifies the signatures; it is not shown again.') });

const roles = ['owner', 'admin'] as const;

const fieldsOver = (types: readonly string[]) => ({
  url: webUrl,
  events: z.array(z.enum(types)).min(1).max(types.length),
  description: longText.optional(),
});

/** Webhook endpoints over a closed list of event types. */
export const defineWebhookEndpoints = (types: readonly string[]) =>
  defineResource({
    type: 'webhook_endpoints',
    noun: 'webhook_endpoint',
    prefix: 'whe',
    attributes: z.strictObject({
      ...fieldsOver(types),
      /** The last four characters of the secret, without padding. */
      secret_hint: z.string().regex(/^[A-Za-z0-9+/]{4}$/),
      /** Counts the rotations; the secret is derived from it (docs/adr/0041). */
      secret_generation: z.int().min(1),
      /** Name of the service's key that the secret is derived from. */
      secret_key: secretKey,
      /** The secret before the newest rotation, which signs too until then. */
      previous_secret: z.strictObject({ generation: z.int().min(1), key: secretKey, valid_until: instant }).optional(),
      state_reason: stateReason,
    }),
    states: ['active', 'disabled', 'deleted'],
    terminalStates: ['deleted'],
    links: {},
    uniqueAttributes: [],
  });

/** Commands of webhook endpoints that name no event type. */
const furtherCommands = {
  'webhook_endpoint.rotate_secret': defineCommand({
    type: 'webhook_endpoint.rotate_secret',
    subject: 'webhook_endpoints',
    from: ['active', 'disabled'],
    changes: z.strictObject({
      previous_valid_hours: z
        .int()
        .min(0)
        .max(maxPreviousSecretHours)
        .optional()
        .describe('How long messages carry a signature of the former secret too; default 24.'),
    }),
    roles,
    event: 'webhook_endpoint.secret_rotated',
    discloses: disclosed,
    hasRule: true,
    summary:
      'Makes a new secret, which the answer shows. The former one signs too for 24 hours, or as long as you say.',
  }),
  'webhook_endpoint.enable': defineCommand({
    type: 'webhook_endpoint.enable',
    subject: 'webhook_endpoints',
    from: ['disabled'],
    to: 'active',
    changes: z.strictObject({}),
    roles,
    event: 'webhook_endpoint.enabled',
    hasRule: true,
    externalEffect: 'Events that occur from now on are posted again.',
    summary: 'Enables a disabled endpoint. What it missed is sent only by a replay.',
  }),
  'webhook_endpoint.disable': defineCommand({
    type: 'webhook_endpoint.disable',
    subject: 'webhook_endpoints',
    from: ['active'],
    to: 'disabled',
    changes: z.strictObject({ cause: cause.optional() }),
    roles,
    machines: ['management'],
    event: endpointDisabled,
    hasRule: true,
    externalEffect: 'Nothing is posted; waiting deliveries fail and can be replayed later.',
    summary:
      'Disables an endpoint. The service does so itself after three days of failures, or when the receiver answers 410.',
  }),
  'webhook_endpoint.delete': defineCommand({
    type: 'webhook_endpoint.delete',
    subject: 'webhook_endpoints',
    from: ['active', 'disabled'],
    to: 'deleted',
    changes: z.strictObject({}),
    roles,
    event: 'webhook_endpoint.deleted',
    hasRule: true,
    externalEffect: 'Nothing is posted any more.',
    summary: 'Deletes an endpoint; waiting deliveries fail.',
  }),
  'webhook_endpoint.replay': defineCommand({
    type: 'webhook_endpoint.replay',
    subject: 'webhook_endpoints',
    from: ['active'],
    changes: z
      .strictObject({
        delivery_id: reference('whd').optional().describe('One delivery, whatever became of it.'),
        since: instant.optional().describe('Every failed delivery of an event that occurred at this time or later.'),
      })
      .refine(({ delivery_id: one, since }) => (one === undefined) !== (since === undefined), {
        message: 'Send either delivery_id or since.',
      }),
    roles,
    event: 'webhook_endpoint.replayed',
    hasRule: true,
    problems: ['validation_failed', 'rate_limited'],
    externalEffect: 'The same messages are posted again, with the same ids.',
    summary:
      'Sends one delivery again, or every failed one since a time, the oldest first. Deliveries are kept for 30 days. An endpoint is sent at most 1,000 replays and tests an hour.',
  }),
  'webhook_endpoint.send_test': defineCommand({
    type: 'webhook_endpoint.send_test',
    subject: 'webhook_endpoints',
    from: ['active'],
    changes: z.strictObject({}),
    roles,
    event: 'webhook_endpoint.tested',
    hasRule: true,
    problems: ['rate_limited'],
    externalEffect: 'A signed message of the type webhook.test is posted.',
    summary: 'Posts a test message.',
  }),
} as const;

/** The commands of webhook endpoints over a closed list of event types. */
export const defineWebhookEndpointCommands = (types: readonly string[]) =>
  ({
    'webhook_endpoint.create': defineCommand({
      type: 'webhook_endpoint.create',
      subject: 'webhook_endpoints',
      to: 'active',
      changes: z.strictObject(fieldsOver(types)),
      roles,
      event: 'webhook_endpoint.created',
      discloses: disclosed,
      hasRule: true,
      problems: ['validation_failed'],
      externalEffect: 'Events that occur from now on are posted to the address.',
      summary:
        'Makes an address to which signed events of the workspace are posted. The answer shows the secret; no other one does.',
    }),
    'webhook_endpoint.revise': defineCommand({
      type: 'webhook_endpoint.revise',
      subject: 'webhook_endpoints',
      from: ['active', 'disabled'],
      changes: z.strictObject(fieldsOver(types)).partial(),
      roles,
      event: 'webhook_endpoint.revised',
      hasRule: true,
      problems: ['validation_failed'],
      summary: 'Changes the address, the chosen events or the description; the secret stays.',
    }),
    ...furtherCommands,
  }) as const;
