import {
  isEvent,
  lineItemAlertEvents,
  podcastAlertEvents,
  operationEnded,
  webhookTest,
  webhookTypeOf,
  type DetailedWebhookType,
  type LineItemAlert,
  type WebhookDetails,
  type WebhookMessage,
} from '@longwave/command-catalog';
import type { DomainEvent } from '@longwave/events';
import type { EndedOperation } from './ended-operation-table.ts';

/** Where the resources in messages are read. */
export interface ApiRoots {
  readonly baseUrl: string;
  readonly apiUrl: string;
}

/** Types that REST API v1 shows at `/api/v1/<type>/<id>`. */
const restTypes: ReadonlySet<string> = new Set(['podcasts', 'episodes', 'productions', 'media_clips']);

const managementUrl = ({ apiUrl }: ApiRoots, workspaceId: string, path: string) =>
  `${apiUrl}/management/v1/workspaces/${workspaceId}/${path}`;

type Details = { readonly [T in DetailedWebhookType]?: WebhookDetails<T> }[DetailedWebhookType];

/** What a message says besides which resource changed. */
function detailsOf(event: DomainEvent): Details {
  if (isEvent(event, 'episode.published') || isEvent(event, 'episode.due_published')) {
    const { podcast_id, title, published_at } = event.after.attributes;
    return { podcast_id, title, published_at: published_at ?? event.occurred_at };
  }
  if (isEvent(event, 'production.encoded')) {
    const { episode_id, audio_duration_ms: durationMs = 0 } = event.after.attributes;
    return { episode_id, duration: durationMs / 1000 };
  }
  if (isEvent(event, 'production.failed')) {
    const { episode_id, problem } = event.after.attributes;
    return { episode_id, problem: problem ?? { code: 'internal_error', detail: 'The encoding failed.' } };
  }
  if (isEvent(event, 'podcast.import_completed') || isEvent(event, 'podcast.import_failed')) {
    const { total = 0, done = 0, failed = 0, problem } = event.after.attributes.import ?? {};
    const succeeded = isEvent(event, 'podcast.import_completed');
    return { succeeded, total, done, failed, ...(problem && { problem }) };
  }
  if (isEvent(event, 'statistics_export.recorded')) {
    const { podcast_id, file } = event.after.attributes;
    return { podcast_id, row_count: file?.row_count ?? 0, size: file?.size_bytes ?? 0 };
  }
  return undefined;
}

/** The message about a changed resource: a reference to its revision, and for some types what most receivers would ask next. */
export function renderEvent(event: DomainEvent, roots: ApiRoots): WebhookMessage {
  const { id, workspace_id, subject, after, occurred_at: timestamp } = event;
  const data = {
    resource_type: subject.type,
    resource_id: subject.id,
    version: subject.version,
    state: after.lifecycle_state,
    url: managementUrl(roots, workspace_id, `resources/${subject.type}/${subject.id}`),
    ...(restTypes.has(subject.type) && { rest_url: `${roots.baseUrl}/api/v1/${subject.type}/${subject.id}` }),
    ...detailsOf(event),
  };
  return { id, type: webhookTypeOf(event.type), timestamp, workspace_id, data };
}

/** The message about an operation that has ended; an operation ends once, so its id is that of the message. */
export function renderOperation(
  { workspace_id, occurred_at: timestamp }: DomainEvent,
  { id, command_type, state, subject_type, subject_id, subject_version, problem }: EndedOperation,
  roots: ApiRoots,
): WebhookMessage {
  const data = {
    operation_id: id,
    command_type,
    state,
    subject: { type: subject_type, id: subject_id, version: subject_version },
    ...(problem !== null && { problem }),
    url: managementUrl(roots, workspace_id, `operations/${id}`),
  };
  return { id, type: operationEnded, timestamp, workspace_id, data };
}

/** The message about an alert that was raised or cleared. @param event its id and time, the same for every receiver */
export function renderAlert(
  event: { readonly id: string; readonly workspaceId: string; readonly at: Date },
  alert: LineItemAlert,
  roots: ApiRoots,
): WebhookMessage {
  const { line_item_id: lineItemId, podcast_id: podcastId } = alert;
  const [resource, id, events] =
    lineItemId === undefined
      ? (['podcasts', podcastId!, podcastAlertEvents] as const)
      : (['line_items', lineItemId, lineItemAlertEvents] as const);
  const data = {
    ...{ resource_type: resource, resource_id: id, alert },
    url: managementUrl(roots, event.workspaceId, `resources/${resource}/${id}`),
  };
  const type = alert.state === 'open' ? events.raised : events.cleared;
  return { id: event.id, type, timestamp: event.at.toISOString(), workspace_id: event.workspaceId, data };
}

/** The message by which a receiver is tried out. */
export const renderTest = (
  id: string,
  { workspaceId, endpointId, now }: { workspaceId: string; endpointId: string; now: Date },
): WebhookMessage => ({
  id,
  type: webhookTest,
  timestamp: now.toISOString(),
  workspace_id: workspaceId,
  data: { endpoint_id: endpointId },
});
