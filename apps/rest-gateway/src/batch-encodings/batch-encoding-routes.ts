import { batchEncodings, batchInitiators, defaultInitiator, type Resource } from '@longwave/command-catalog';
import { isProblem, Problem } from '@longwave/problems';
import { z } from 'zod';
import { accepting, acceptedAnswer, commandRoute, showResource, versionOf } from '../resource-routes.ts';
import { defineRoute, type Call, type Deps } from '../route.ts';

const ofPodcast = z.strictObject({ podcast_id: z.string() });
const podcastIn = (from: 'query' | 'body') => ({ type: 'podcasts', from, field: 'podcast_id' }) as const;

/** Batch encodings of the route's podcast, oldest first; `states` absent means any. */
async function batchesOf(
  { caller, object, access }: Pick<Call, 'caller' | 'object' | 'access'>,
  deps: Deps,
  states?: readonly string[],
): Promise<Resource<'batch_encodings'>[]> {
  if (!object) return [];
  const input = { links: { podcast: object.id }, workspaceId: access?.workspaceId, ...(states && { states }) };
  return deps.management.list(caller, 'batch_encodings', input);
}

/** GET /batch_encodings: 404 without a body when there is none. */
export const readLatestBatch = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'batchEncodingGetLatest',
    summary: 'Progress of the latest batch encoding of a podcast.',
    object: podcastIn('query'),
    query: ofPodcast,
    answer: versionOf('batch_encodings'),
    emptyRefusals: [404],
    run: async (call, deps) => {
      const latest = (await batchesOf(call, deps)).at(-1);
      return latest ? { status: 200, body: await showResource(latest, call, deps) } : { status: 404 };
    },
  });

const batchState = {
  name: 'BatchEncodingState',
  schema: z.strictObject({ state: z.enum(['none', ...batchEncodings.states]) }),
};

/** GET /batch_encodings/state. */
export const readBatchState = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'batchEncodingGetState',
    summary: 'State of the latest batch encoding of a podcast; "none" when there is none.',
    object: podcastIn('query'),
    query: ofPodcast,
    answer: batchState,
    run: async (call, deps) => {
      const latest = (await batchesOf(call, deps)).at(-1);
      return { status: 200, body: { state: latest?.lifecycle_state ?? 'none' } };
    },
  });

const wrongInitiator = 'Wrong initiator parameter value';
const living = batchEncodings.states.filter(
  (state) => !(batchEncodings.terminalStates as readonly string[]).includes(state),
);

/** POST /batch_encodings: 200 without a body; one that already runs for the same reason is the same success. */
export const startBatch = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    ...commandRoute('batch_encoding.start'),
    object: podcastIn('body'),
    queryOrBody: true,
    body: z.strictObject({
      podcast_id: z.string(),
      initiator: z
        .enum(batchInitiators, { error: wrongInitiator })
        .default(defaultInitiator)
        .describe('What has changed. Default: intro and outro.'),
    }),
    answer: 'empty',
    run: async (call, deps) => {
      const { caller, access, body: changes, idempotencyKey } = call;
      const workspaceId = access?.workspaceId;
      try {
        await deps.management.execute(caller, { type: 'batch_encoding.start', workspaceId, changes, idempotencyKey });
      } catch (error) {
        const isTaken = isProblem(error, 'value_taken', 'idempotency_in_progress');
        const running = isTaken ? (await batchesOf(call, deps, living)).at(-1) : undefined;
        if (!running) throw error;
        const { initiator, reverts } = running.attributes;
        if (reverts !== undefined || initiator !== changes.initiator)
          throw new Problem('state_not_allowed', 'Another batch encoding of this podcast is still running.', {
            cause: error,
          });
      }
      return { status: 200 };
    },
  });

/** POST /batch_encodings/{id}/revert: a batch of its own, which gives back what that one replaced. */
export const revertBatch = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    ...commandRoute('batch_encoding.revert'),
    ...accepting,
    object: { type: 'batch_encodings', from: 'path', field: 'id' },
    body: z.strictObject({}),
    answer: versionOf('batch_encodings'),
    run: async (call, deps) => {
      const { caller, access, object, id, idempotencyKey } = call;
      const executed = await deps.management
        .execute(caller, {
          type: 'batch_encoding.revert',
          workspaceId: access.workspaceId,
          changes: { podcast_id: object.attributes.podcast_id, reverts: id },
          idempotencyKey,
        })
        .catch((error: unknown) => {
          if (!isProblem(error, 'value_taken')) throw error;
          const words = 'Another batch encoding of this podcast is still running.';
          throw new Problem('state_not_allowed', words, { cause: error });
        });
      return acceptedAnswer(executed, call, deps);
    },
  });
