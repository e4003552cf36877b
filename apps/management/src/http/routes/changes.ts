import { isDeepStrictEqual } from 'node:util';
import { productCatalog } from '@longwave/command-catalog';
import { clientIdOf, type ChangesQuery as FeedQuery } from '@longwave/command-pipeline';
import { resourceViewSchema } from '@longwave/events';
import { Problem } from '@longwave/problems';
import { sleep } from '@longwave/worker-kit';
import { z } from 'zod';
import type { StreamWork } from '../event-streams.ts';
import { hiddenBelow, pageQuery, textList } from '../list-query.ts';
import { json, type ManagementRoute, type RouteCall, type RouteDeps } from '../management-route.ts';
import { unreadableTypes } from '../../workspace/access/access.ts';
import { shownTo } from '../../workspace/access/shown-to.ts';

const types = Object.keys(productCatalog.resources);

const changesQuery = z.strictObject({
  limit: pageQuery.limit,
  after: pageQuery.cursor.describe(
    'A cursor of these changes: go on after it. `now`: begin with what comes. Absent: from the beginning.',
  ),
  types: textList(types.length)
    .refine((names) => names.every((name) => types.includes(name)), 'Send resource types, separated by commas.')
    .optional()
    .describe('Only changes of resources of these types, separated by commas.'),
});
type ChangesQuery = z.output<typeof changesQuery>;

const change = z.strictObject({
  cursor: z.string().describe('A reader that has seen this change goes on after it.'),
  kind: z.enum(['revision', 'notice']),
  type: z.string().describe('What happened: `campaign.activated`.'),
  subject: z.strictObject({ type: z.string(), id: z.string(), version: z.int().optional() }),
  operation_id: z.string().optional().describe('The operation that changed it; absent when none did.'),
  occurred_at: z.iso.datetime(),
  resource: resourceViewSchema.optional().describe('The new revision, whole; a notice has none.'),
  detail: z.unknown().optional().describe('What a notice says.'),
});

const page = z.strictObject({
  rows: z.array(change).describe('In the order in which they were committed.'),
  limit: z.int().describe('The number of rows that the page was bounded by.'),
  next_cursor: z.string().describe('Go on after it, now or at any later time; it never expires.'),
  more: z.boolean().describe('Whether another page may have something now.'),
});

/** Longest time between two looks of a stream; the relay and one poll for all streams wake it before. */
const maxQuietMs = 60_000;
/** Shortest time between two looks of a stream that has caught up, or of which most changes are left out. */
const minQuietMs = 250;
const streamPageSize = 50;

/** The changes that a reader may see. */
type Sight = Pick<FeedQuery, 'scope' | 'hiddenBelow' | 'hiddenTypes'>;

/** The changes that the actor may see. Throws the `not_found` of an unknown workspace when it sees nothing there. */
async function sightOf(
  { actor, workspaceId }: Pick<RouteCall, 'actor' | 'workspaceId'>,
  { access }: RouteDeps,
): Promise<Sight> {
  const [scope] = await access.scopes(actor, workspaceId, undefined);
  if (!scope) throw new Problem('not_found', 'There is no such workspace.');
  return { scope, hiddenBelow, hiddenTypes: unreadableTypes(actor, workspaceId) };
}

/** Sends every change after a place, and those that come, until the client goes or its token ends. */
function follow(
  call: RouteCall,
  deps: RouteDeps,
  asked: { readonly sight: Sight; readonly after: string | undefined; readonly types: readonly string[] | undefined },
): StreamWork {
  let { sight } = asked;
  let { actor } = call;
  return {
    check: async () => {
      actor = await call.recheck();
      const now = await sightOf({ actor, workspaceId: call.workspaceId }, deps);
      if (!isDeepStrictEqual(now, sight)) sight = now;
    },
    write: async ({ signal, send, mark, read }) => {
      using watch = deps.changeSignals.watch(call.workspaceId, signal);
      let { after } = asked;
      while (!signal.aborted) {
        const readAt = performance.now();
        const readIn = sight;
        const { changes, nextCursor, more } = await read(() =>
          deps.reader.listChanges({
            ...{ ...readIn, types: asked.types, limit: streamPageSize },
            ...(after !== undefined && { after }),
          }),
        );
        let sentTo = after;
        for (const one of changes) {
          if (sight !== readIn) break;
          await send({ id: one.cursor, event: one.kind, data: shownTo(actor).change(one, call.workspaceId) });
          sentTo = one.cursor;
        }
        // Rights have changed meanwhile: the rest is read again with those of now.
        const isWhole = sight === readIn;
        // The place is beyond changes that were left out; or it is the first one of a client that begins now.
        if (isWhole && ((more && changes.length === 0) || after === 'now')) await mark(nextCursor);
        after = isWhole ? nextCursor : sentTo;
        if (isWhole && !more) await watch.next(maxQuietMs);
        if (changes.length < streamPageSize) await sleep(Math.max(0, readAt + minQuietMs - performance.now()), signal);
      }
    },
  };
}

const listChanges: ManagementRoute = {
  operation: 'workspace.changes',
  method: 'GET',
  path: '/workspaces/{workspace_id}/changes',
  summary: 'Everything that changes in a workspace, in the order of commits.',
  note: 'Every revision and notice that the caller may see, at least once. A client that goes on from each cursor misses nothing and need not list resources again. With `Accept: text/event-stream` the same rows come as server-sent events: their name is the kind, their id the cursor, which `Last-Event-ID` takes in place of `after`.',
  scope: 'management:read',
  query: changesQuery,
  headers: { 'Last-Event-ID': { description: 'For a stream: the id of the last event that the client has seen.' } },
  answers: {
    200: {
      description: 'A page of changes, or a stream of them.',
      body: { name: 'ChangesPage', schema: page },
      alsoAs: ['text/event-stream'],
    },
  },
  refusals: ['invalid_cursor', 'rate_limited', 'temporarily_unavailable', 'timeout'],
  answer: async (call, deps) => {
    const { limit, after, types: named } = call.query as ChangesQuery;
    const sight = await sightOf(call, deps);
    const asked = { ...sight, types: named };
    const isStream = call.request.accepts(['application/json', 'text/event-stream']) === 'text/event-stream';
    if (!isStream) {
      const { changes, nextCursor, more } = await deps.reader.listChanges({
        ...{ ...asked, limit },
        ...(after !== undefined && { after }),
      });
      const rows = changes.map((one) => shownTo(call.actor).change(one, call.workspaceId));
      return json({ rows, limit, next_cursor: nextCursor, more });
    }
    const from = call.request.get('last-event-id') ?? after;
    // A cursor that is not good is refused before the stream begins.
    if (from !== undefined) await deps.reader.listChanges({ ...asked, after: from, limit: 1 });
    const { workspaceId } = call;
    return deps.eventStreams.open(
      { clientId: clientIdOf(call.actor), workspaceId },
      follow(call, deps, { sight, after: from, types: named }),
    );
  },
};

/** The changes feed. */
export const changeRoutes: readonly ManagementRoute[] = [listChanges];
