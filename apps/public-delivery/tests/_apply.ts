import { setTimeout as wait } from 'node:timers/promises';
import type { DomainEvent } from '@longwave/events';
import { applyEvent } from '../src/projection/apply/apply-event.ts';
import type { Bench } from './_support.ts';

/** Applies events one after the other, as the follower does, so that the test decides the order. */
export async function apply(bench: Bench, ...events: readonly DomainEvent[]): Promise<void> {
  for (const event of events)
    await applyEvent(bench.pool, event, {
      mintAlias: (id) => `t1.${id.replace('_', '-').padEnd(100, 'x')}`,
      announcements: { names: [], afterMs: 1 },
    });
}

/** The same; resolves when an app that did not apply them sees them too: within a second. */
export async function applySeen(bench: Bench, ...events: readonly DomainEvent[]): Promise<void> {
  await apply(bench, ...events);
  await wait(1_010);
}

/** The same event as a later version, with other attributes. */
export function next(
  event: DomainEvent,
  attributes: Record<string, unknown>,
  { state, at, by = 1 }: { readonly state?: string; readonly at?: string; readonly by?: number } = {},
): DomainEvent {
  const version = event.subject.version + by;
  return {
    ...event,
    id: `${event.id}-${by}`,
    subject: { ...event.subject, version },
    occurred_at: at ?? event.occurred_at,
    after: {
      ...event.after,
      version,
      lifecycle_state: state ?? event.after.lifecycle_state,
      attributes: { ...event.after.attributes, ...attributes },
    },
  };
}

/** The same event of another workspace. */
export const ofWorkspace = (event: DomainEvent, id: string): DomainEvent => ({
  ...event,
  workspace_id: id,
  after: { ...event.after, workspace_id: id },
});
