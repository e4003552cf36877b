import { statisticsExports, type Resource } from '@longwave/command-catalog';
import { isProblem, Problem } from '@longwave/problems';
import { z } from 'zod';
import { metaSchema } from './analytics-meta.ts';
import { historyStartMs } from './analytics-range.ts';
import { findBeginnings } from './beginnings.ts';
import type { AnalyticsDeps, Question } from './question.ts';

/** The download history of a podcast as CSV. */
export const historyExport = z.strictObject({
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
});
type HistoryExport = z.output<typeof historyExport>;
type ExportQuestion = Omit<Question<'podcasts'>, 'query'>;

const dayMs = 86_400_000;
const startOfDay = (atMs: number) => Math.floor(atMs / dayMs) * dayMs;

/**
 * An export as answers show it.
 * @param begunAtMs when the podcast's numbers begin
 */
function renderExport(
  { id, lifecycle_state: state, attributes, created_at }: Resource<'statistics_exports'>,
  begunAtMs: number,
): HistoryExport {
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
async function beginningOf({ caller, object: podcast, access }: ExportQuestion, deps: AnalyticsDeps): Promise<number> {
  const beginnings = await findBeginnings(caller, [{ podcast, access }], deps);
  return beginnings.get(podcast.id)!;
}

/** Starts an export as far back as the plan includes. Throws `export_in_progress` while another one runs. */
export async function startHistoryExport(
  question: ExportQuestion & { readonly idempotencyKey: string | undefined },
  deps: AnalyticsDeps,
): Promise<{ readonly body: HistoryExport; readonly operationId: string }> {
  const { caller, access, object, idempotencyKey } = question;
  const { management, clock } = deps;
  const { workspaceId, plan } = access;
  const begunAtMs = await beginningOf(question, deps);
  const historyFrom = new Date(historyStartMs(plan.historyDays, clock())).toISOString();
  try {
    const { resource, operationId } = await management.execute(caller, {
      type: 'statistics_export.start',
      workspaceId,
      changes: { podcast_id: object.id, ...(plan.historyDays !== undefined && { history_from: historyFrom }) },
      idempotencyKey,
    });
    return { body: renderExport(resource, begunAtMs), operationId };
  } catch (error) {
    // Two that start at the same moment are told apart by the store alone.
    const isRunning = isProblem(error, 'export_in_progress', 'value_taken');
    if (!isRunning) throw error;
    throw new Problem('export_in_progress', 'An export is already being prepared.', { cause: error });
  }
}

/** The latest export of a podcast. Throws `not_found` when there is none. */
export async function findLatestExport(question: ExportQuestion, deps: AnalyticsDeps): Promise<HistoryExport> {
  const { caller, access, object } = question;
  const { management } = deps;
  const input = { links: { podcast: object.id }, workspaceId: access.workspaceId };
  const latest = (await management.list(caller, 'statistics_exports', input)).at(-1);
  if (!latest) throw new Problem('not_found', 'There is no export of this podcast.');
  const body = renderExport(latest, await beginningOf(question, deps));
  if (body.state !== 'ready') return body;
  const { url } = await management.signExport(caller, { workspaceId: access.workspaceId, exportId: latest.id });
  return { ...body, url };
}
