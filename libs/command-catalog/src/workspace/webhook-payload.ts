import { z } from 'zod';
import { lineItemAlertEvents, lineItemAlertSchema, podcastAlertEvents } from '../commerce/line-item-alert.ts';
import { foundProblem } from '../fields.ts';
import { operationEnded, webhookTest } from './webhook-endpoint.ts';

/** The resource that a message is about, and where it is read with the reader's own rights. */
const resourceReference = z.strictObject({
  resource_type: z.string(),
  resource_id: z.string(),
  version: z.int().min(1),
  state: z.string(),
  url: z.url().describe('The resource in the Management API.'),
  rest_url: z.url().optional().describe('The resource in REST API v1, where that shows its type.'),
});

const seconds = z.number().min(0).describe('Seconds.');

/** The fields of `data` that a type has besides the reference to its resource. */
const furtherFields = {
  'episode.published': { podcast_id: z.string(), title: z.string(), published_at: z.iso.datetime() },
  'production.encoded': { episode_id: z.string(), duration: seconds },
  'production.failed': { episode_id: z.string(), problem: foundProblem },
  'import.done': {
    succeeded: z.boolean(),
    total: z.int().min(0).describe('Items of the feed.'),
    done: z.int().min(0).describe('Items that have an episode.'),
    failed: z.int().min(0).describe('Items that have none.'),
    problem: foundProblem.optional(),
  },
  'statistics_export.ready': {
    podcast_id: z.string(),
    row_count: z.int().min(0),
    size: z.int().min(0).describe('Bytes.'),
  },
} as const satisfies Readonly<Record<string, z.ZodRawShape>>;

/** Types whose `data` says more than which resource changed. */
export type DetailedWebhookType = keyof typeof furtherFields;

/** The further fields of a type, as a message holds them. */
export type WebhookDetails<T extends DetailedWebhookType> = Readonly<z.output<z.ZodObject<(typeof furtherFields)[T]>>>;

const endedOperation = z.strictObject({
  operation_id: z.string(),
  command_type: z.string(),
  state: z.enum(['succeeded', 'failed', 'cancelled']),
  subject: z.strictObject({ type: z.string(), id: z.string(), version: z.int().min(0) }),
  problem: z.looseObject({ code: z.string(), detail: z.string().optional() }).optional(),
  url: z.url().describe('The operation in the Management API.'),
});

/** An alert changes nothing of the line item or podcast, so it names no version of it. */
const alertData = z.strictObject({
  ...resourceReference.pick({ resource_type: true, resource_id: true, url: true }).shape,
  alert: lineItemAlertSchema,
});

const alertTypes: readonly string[] = [lineItemAlertEvents, podcastAlertEvents].flatMap((events) =>
  Object.values(events),
);

const test = z.strictObject({ endpoint_id: z.string() });

const hasDetails = (type: string): type is DetailedWebhookType => Object.hasOwn(furtherFields, type);

/** Whether the `data` of a type is more, or something else, than the reference to a resource. */
export const hasOwnData = (type: string): boolean =>
  hasDetails(type) || alertTypes.includes(type) || type === operationEnded || type === webhookTest;

/** Closed schema of the `data` of a type. */
export function webhookDataSchema(type: string): z.ZodObject {
  if (type === operationEnded) return endedOperation;
  if (type === webhookTest) return test;
  if (alertTypes.includes(type)) return alertData;
  return hasDetails(type) ? resourceReference.extend(furtherFields[type]) : resourceReference;
}

/** Closed schema of a whole message. */
export const webhookMessageSchema = (type: string) =>
  z.strictObject({
    id: z.string().describe('The same for every attempt and replay; also the header webhook-id.'),
    type: z.literal(type),
    timestamp: z.iso.datetime().describe('When it occurred.'),
    workspace_id: z.string(),
    data: webhookDataSchema(type),
  });

/** A message; its `data` fits the schema of its type. */
export interface WebhookMessage {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly workspace_id: string;
  readonly data: Readonly<Record<string, unknown>>;
}
