import { expect, test } from '@jest/globals';
import type { DomainEvent, ResourceView } from '@longwave/events';
import { isEvent, isResource, reactTo, typedResource, type Reactions } from './typed-events.ts';
import type { Attributes, ChangesInput, EventOf, MachineCommand, Resource } from './types.ts';

const view: ResourceView = {
  resource_type: 'podcasts',
  id: 'pod_1',
  workspace_id: 'ws_1',
  version: 2,
  lifecycle_state: 'published',
  attributes: { title: 'One' },
  links: {},
  digest: '',
  created_at: '2026-11-21T12:00:00.000Z',
  updated_at: '2026-11-21T12:00:00.000Z',
  updated_by: { operation_id: 'op_1' },
};
const event = (type: string): DomainEvent => ({
  id: 'evt_1',
  type,
  workspace_id: 'ws_1',
  subject: { type: 'podcasts', id: 'pod_1', version: 2 },
  operation_id: 'op_1',
  occurred_at: '2026-11-21T12:00:00.000Z',
  after: view,
});

test('a follower reacts to the events that it names and to no others', () => {
  const reactions: Reactions<string> = {
    'podcast.published': ({ after }) => after.attributes.title,
    'production.encoded': ({ after }) => after.attributes.episode_id,
  };
  expect(reactTo(reactions, event('podcast.published'))).toBe('One');
  for (const type of ['podcast.archived', 'podcast.forgotten', 'toString', '__proto__'])
    expect(reactTo(reactions, event(type))).toBeUndefined();
  expect(isEvent(event('podcast.published'), 'podcast.published')).toBe(true);
  expect(isEvent(event('podcast.revised'), 'podcast.published')).toBe(false);
});

test('a resource is taken for its own type only', () => {
  expect(isResource(view, 'podcasts')).toBe(true);
  expect(isResource(view, 'episodes')).toBe(false);
  expect(typedResource(view, 'podcasts')).toBe(view);
  expect(() => typedResource(view, 'episodes')).toThrow('pod_1 is of type podcasts, not episodes');
});

/** Checked by the compiler alone: each line below an expected error must not compile. */
export const refused = {
  events: [
    // @ts-expect-error a misspelt event
    { 'production.encodet': () => undefined },
    // @ts-expect-error an attribute that the event's subject does not have
    { 'production.encoded': ({ after }) => after.attributes.episode },
    // @ts-expect-error a state that the event's subject does not have
    { 'production.encoded': ({ after }) => after.lifecycle_state === 'published' },
  ] satisfies Reactions<unknown>[],
  misspeltGuard: (given: DomainEvent) => {
    // @ts-expect-error a misspelt event
    return isEvent(given, 'podcast.publishd');
  },
  changes: [
    { publish_at: '2026-11-21T12:00:00.000Z' },
    // @ts-expect-error a field that the command does not take
    { publishAt: '2026-11-21T12:00:00.000Z' },
    // @ts-expect-error a value of another type
    { publish_at: 1 },
  ] satisfies ChangesInput<'episode.schedule'>[],
  attributes: (podcast: Resource<'podcasts'>, { after }: EventOf<'machine_token.revoked'>) => [
    podcast.attributes.title,
    // @ts-expect-error a misspelt attribute
    podcast.attributes.titel,
    after.attributes.expires_at,
    // @ts-expect-error an attribute of another type
    after.attributes.title,
  ],
  /** A review task begins without a command of its own. */
  reviews: ({ after }: EventOf<'review.requested'>): Attributes<'review_tasks'>['mode'] => after.attributes.mode,
};

test('a service sends as itself only the commands that name it', () => {
  const own: MachineCommand<'management'> = 'episode.attach_production';
  // @ts-expect-error Only people create a podcast.
  const others: MachineCommand<'management'> = 'podcast.create';
  // @ts-expect-error Only the encoder reports what it made.
  const reported: MachineCommand<'management'> = 'production.complete';
  expect(new Set([own, others, reported]).size).toBe(3);
});
