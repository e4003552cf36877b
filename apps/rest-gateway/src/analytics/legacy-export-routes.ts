import { statisticsExports, type Resource } from '@longwave/command-catalog';
import { isProblem, Problem } from '@longwave/problems';
import { z } from 'zod';
import { accepting } from '../resource-routes.ts';
import { defineRoute, type AnswerShape, type Deps, type ObjectCall } from '../route.ts';
import { metaSchema } from './analytics-answer.ts';
import { permitPodcastAnalytics } from './analytics-gate.ts';
import { findBeginnings } from './beginnings.ts';
import { historyStartMs } from './analytics-range.ts';

const object = { type: 'podcasts', from: 'path', field: 'id' } as const;

const exportShape: AnswerShape = {
  name: 'LegacyExport',
  schema: z.strictObject({
    id: z.string(),
    podcast_id: z.string(),
    state: z.enum(statisticsExports.states),
    /** First UTC day that the plan includes; null when the export goes back to the beginning. */
    history_from: z.string().nullable(),
    /** The cut, when the plan's history does not reach back to where the podcast's numbers begin. */
    history_window: metaSchema.shape.history_window,
    /** Of the finished file. */
    row_count: z.int().nullable(),
    size: z.int().nullable(),
    /** Where the finished file can be fetched for an hour. */
    url: z.url().optional(),
    problem: statisticsExports.attributes.shape.problem,
    created_at: z.iso.datetime(),
  }),
};

const dayMs = 86_400_000;
const startOfDay = (atMs: number) => Math.floor(atMs / dayMs) * dayMs;

/**
 * An export as answers show it.
 * @param begunAtMs when the podcast's numbers begin
 */
function renderExport(
  { id, lifecycle_state: state, attributes, created_at }: Resource<'statistics_exports'>,
  begunAtMs: number,
) {
  const { podcast_id, history_from = null, file, problem } = attributes;
  const isCut = history_from !== null && begunAtMs < Date.parse(history_from);
  return {
    id,
    podcast_id,
    state,
    history_from,
    ...(isCut && {
      history_window: {
        from: history_from,
        requested_from: new Date(startOfDay(begunAtMs)).toISOString(),
        days: (startOfDay(Date.parse(created_at)) - Date.parse(history_from)) / dayMs,
      },
    }),
    row_count: file?.row_count ?? null,
    size: file?.size_bytes ?? null,
    ...(problem && { problem }),
    created_at,
  };
}

/** When the numbers of the podcast begin. */
async function beginningOf(
  { caller, object: podcast, access }: ObjectCall<unknown, unknown, 'podcasts'>,
  deps: Deps,
): Promise<number> {
  const beginnings = await findBeginnings(caller, [{ podcast, access }], deps);
  return beginnings.get(podcast.id)!;
}

/** POST /podcasts/{id}/analytics/legacy_export. */
export const startLegacyExport = (path: string) =>
  defineRoute({
    method: 'POST',
    path,
    operation: 'legacyExportStart',
    summary: 'Prepares the download history of a podcast as CSV, as far back as the plan includes; one at a time.',
    object,
    permit: permitPodcastAnalytics,
    body: z.strictObject({}),
    ...accepting,
    answer: exportShape,
    command: true,
    run: async (call, deps) => {
      const { caller, access, id, idempotencyKey } = call;
      const { management, clock, baseUrl } = deps;
      const { workspaceId, plan } = access;
      const begunAtMs = await beginningOf(call, deps);
      const historyFrom = new Date(historyStartMs(plan.historyDays, clock())).toISOString();
      try {
        const { resource, operationId } = await management.execute(caller, {
          type: 'statistics_export.start',
          workspaceId,
          changes: { podcast_id: id, ...(plan.historyDays !== undefined && { history_from: historyFrom }) },
          idempotencyKey,
        });
        return {
          status: 202,
          body: renderExport(resource, begunAtMs),
          headers: { Location: `${baseUrl}/api/v1/operations/${operationId}` },
        };
      } catch (error) {
        // Two that start at the same moment are told apart by the store alone.
        const isRunning = isProblem(error, 'export_in_progress', 'value_taken');
        if (!isRunning) throw error;
        throw new Problem('export_in_progress', 'An export is already being prepared.', { cause: error });
      }
    },
  });

/** GET of the same path: what became of the latest export. */
export const readLegacyExport = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'legacyExportGet',
    summary: 'Reads the latest export of the download history of a podcast.',
    object,
    permit: permitPodcastAnalytics,
    answer: exportShape,
    refusals: [403],
    run: async (call, deps) => {
      const { caller, access, id } = call;
      const { management } = deps;
      const input = { links: { podcast: id }, workspaceId: access.workspaceId };
      const latest = (await management.list(caller, 'statistics_exports', input)).at(-1);
      if (!latest) throw new Problem('not_found', 'There is no export of this podcast.');
      const body = renderExport(latest, await beginningOf(call, deps));
      if (body.state !== 'ready') return { status: 200, body };
      const { url } = await management.signExport(caller, { workspaceId: access.workspaceId, exportId: latest.id });
      return { status: 200, body: { ...body, url } };
    },
  });
