import { isProblem, parseOrProblem } from '@longwave/problems';
import { z } from 'zod';
import { findEpisodes, findEvidenceBody, type EvidenceBody } from '../../evidence/evidence-table.ts';
import { json, notFound, readMs, type ExchangeRoute, type RouteDeps } from '../exchange-route.ts';

const count = z.int().min(0).optional();

const comparedRow = z.strictObject({
  source_id: z.string(),
  at: z.string(),
  platform: z
    .strictObject({
      downloads: count,
      plays: count,
      listeners: count,
      completes: count,
      impressions: count,
      revenue_micros: z.string().optional(),
    })
    .describe('What the platform reported.'),
  ours: z
    .strictObject({ downloads: z.int().min(0) })
    .nullable()
    .describe(
      'What we counted in the same time by our own method; null where the source has no episode here, or the grain cuts an hour of UTC.',
    ),
});

const query = z.strictObject({
  after: z.coerce.number().int().min(0).max(1_000_000).default(0).describe('Rows before the page.'),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

const hourMs = 3_600_000;

/** The end of the grain that begins at a time; days, weeks and months in UTC. */
function grainEnd(startMs: number, { granularity, period }: EvidenceBody): number {
  const start = new Date(startMs);
  switch (granularity) {
    case 'hour':
      return startMs + hourMs;
    case 'day':
      return startMs + 24 * hourMs;
    case 'week':
      return startMs + 7 * 24 * hourMs;
    case 'month':
      return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, start.getUTCDate());
    case 'total':
      return Date.parse(period.end);
  }
}

/** We count by hours of UTC: there is no number of ours for a grain that cuts one. */
const isWholeHours = (...times: readonly bigint[]) => times.every((time) => time % BigInt(hourMs) === 0n);

type Rows = Awaited<ReturnType<RouteDeps['evidence']['listEvidenceRows']>>['rows'];

/** Rows of a report; none until analytics-sink has it. */
async function listImportedRows(
  { evidence }: RouteDeps,
  asked: Parameters<RouteDeps['evidence']['listEvidenceRows']>[0],
): Promise<Rows> {
  try {
    return (await evidence.listEvidenceRows(asked, { deadlineMs: readMs })).rows;
  } catch (error) {
    if (isProblem(error, 'not_found')) return [];
    throw error;
  }
}

/** Our downloads for each row, in their order; undefined where the source has no episode. */
async function countOurs(
  { pool, evidence }: RouteDeps,
  client: { readonly workspaceId: string; readonly authorityId: string },
  rows: Rows,
  body: EvidenceBody,
): Promise<readonly (number | undefined)[]> {
  const episodes = await findEpisodes(pool, client.authorityId, [...new Set(rows.map((row) => row.sourceId))]);
  const windows = rows.flatMap(({ sourceId, atMs }, index) => {
    const episodeId = episodes.get(sourceId);
    const end = BigInt(grainEnd(Number(atMs), body));
    if (episodeId === undefined || !isWholeHours(atMs, end)) return [];
    return [{ index, window: { episodeId, startMs: atMs, endMs: end } }];
  });
  const ours: (number | undefined)[] = rows.map(() => undefined);
  if (windows.length === 0) return ours;
  const { downloads } = await evidence.countWindows(
    { workspaceId: client.workspaceId, windows: windows.map(({ window }) => window) },
    { deadlineMs: readMs },
  );
  for (const [at, { index }] of windows.entries()) ours[index] = Number(downloads[at]);
  return ours;
}

const plain = (value: bigint | undefined) => (value === undefined ? undefined : Number(value));

const compareEvidence: ExchangeRoute = {
  operation: 'platform_evidence.compare',
  method: 'GET',
  path: '/workspaces/{workspace_id}/platform-evidence/{evidence_id}',
  summary: 'The rows of a platform’s report, side by side with our own downloads in the same hours.',
  note: 'The platform’s numbers are kept under its name and never enter our counts. There are no rows until they are imported.',
  scope: 'exchange:read',
  query,
  answers: {
    200: [
      'A page of rows.',
      z.strictObject({
        evidence_id: z.string(),
        source_label: z.string(),
        platform: z.string(),
        kind: z.string(),
        finality: z.string(),
        method_note: z.string(),
        currency: z.string().optional(),
        rows: z.array(comparedRow),
        next_after: z.int().nullable(),
      }),
    ],
  },
  refusals: [404, 422],
  answer: async ({ client, parameter, query: sent }, deps) => {
    const { after, limit } = parseOrProblem(query, sent, '/query');
    const evidenceId = parameter('evidence_id');
    const body = await findEvidenceBody(deps.pool, client.authorityId, evidenceId);
    if (!body) throw notFound('evidence');
    const asked = { workspaceId: client.workspaceId, evidenceId, firstRow: after, limit: limit + 1 };
    const found = await listImportedRows(deps, asked);
    const rows = found.slice(0, limit);
    const ours = await countOurs(deps, client, rows, body);
    return json(200, {
      evidence_id: evidenceId,
      source_label: body.source_label,
      platform: body.platform,
      kind: body.kind,
      finality: body.finality,
      method_note: body.method_note,
      currency: body.currency,
      rows: rows.map((row, index) => ({
        source_id: row.sourceId,
        at: new Date(Number(row.atMs)).toISOString(),
        platform: {
          downloads: plain(row.downloads),
          plays: plain(row.plays),
          listeners: plain(row.listeners),
          completes: plain(row.completes),
          impressions: plain(row.impressions),
          revenue_micros: row.revenueMicros?.toString(),
        },
        ours: ours[index] === undefined ? null : { downloads: ours[index] },
      })),
      next_after: found.length > limit ? after + limit : null,
    });
  },
};

export const evidenceRoutes: readonly ExchangeRoute[] = [compareEvidence];
