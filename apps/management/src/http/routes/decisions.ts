import { decisionTraceSchema, noAdReasons, verdictCodes } from '@longwave/ad-decision';
import { openCursor, sealCursor } from '@longwave/command-pipeline';
import { isId } from '@longwave/ids';
import { diagnosticsPurposes } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { diagnosticsAccessSchema } from '../../diagnostics/diagnostics-access-table.ts';
import { searchFields } from '../../diagnostics/diagnostics.ts';
import { pageQuery } from '../list-query.ts';
import { json, type ManagementRoute } from '../management-route.ts';

const dayMs = 86_400_000;
/** The longest time that one search covers. */
const maxDays = 31;

const purpose = z
  .enum(diagnosticsPurposes)
  .optional()
  .describe('One of the purposes that the access was given for; without it all of them are recorded.');
const instant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .optional();
const idOf = (prefix: string) =>
  z
    .string()
    .refine((text) => isId(text, prefix), { message: `Send an ID of the form ${prefix}_….` })
    .optional();

const traceQuery = z.strictObject({ purpose });

const readTrace: ManagementRoute = {
  operation: 'decision.trace',
  method: 'GET',
  path: '/workspaces/{workspace_id}/decisions/{decision_id}/trace',
  summary:
    'What a decision about ads had to choose from, why each candidate won or lost, and whether it can be repeated.',
  note: `The decision is repeated from its stored inputs when it is read. It needs a role that sees campaigns (owner, admin, trafficker or
sales). Each reading is recorded with its purpose: \`GET …/diagnostics-accesses\`.`,
  scope: 'management:diagnostics',
  query: traceQuery,
  answers: { 200: { description: 'The trace.', body: { name: 'DecisionTrace', schema: decisionTraceSchema } } },
  refusals: ['permission_denied', 'not_found', 'temporarily_unavailable', 'timeout'],
  answer: async ({ actor, token, workspaceId, parameter, query }, { diagnostics }) => {
    const { purpose: named } = query as z.output<typeof traceQuery>;
    const reader = { ...token, principal: actor.principal };
    return json(await diagnostics.readTrace(reader, workspaceId, parameter('decision_id'), named));
  },
};

const searchQuery = z.strictObject({
  from: instant.describe('Time of the earliest play; 24 hours before `to` when absent.'),
  to: instant.describe(`Time after the last play, at most ${maxDays} days after \`from\`; now when absent.`),
  podcast_id: idOf('pod'),
  episode_id: idOf('ep'),
  line_item_id: idOf('li').describe('A candidate of the decision, whether it won or not.'),
  verdict: z.enum(verdictCodes).optional().describe('The verdict on that line item, or on any candidate.'),
  campaign_id: idOf('cmp').describe('The campaign of an ad that was chosen.'),
  creative_id: idOf('crv').describe('The creative of an ad that was chosen.'),
  outcome: z.enum(['filled', 'empty']).optional().describe('Whether any ad was chosen.'),
  no_ad_reason: z.enum(noAdReasons).optional().describe('Why a slot stayed empty.'),
  purpose,
  ...pageQuery,
});
type SearchQuery = z.output<typeof searchQuery>;

const decisionRow = z.strictObject({
  decision_id: z.string(),
  decided_at: z.iso.datetime().describe('The time of the play.'),
  podcast_id: z.string(),
  episode_id: z.string(),
  serving_plan_id: z.string().nullable(),
  outcome: z.enum(['filled', 'empty']),
  no_ad_reason: z.enum(noAdReasons).nullable(),
  picks: z.array(
    z.strictObject({
      break_key: z.string(),
      slot: z.int(),
      campaign_id: z.string(),
      line_item_id: z.string(),
      creative_id: z.string(),
    }),
  ),
});

const decisionPage = z.strictObject({
  rows: z
    .array(decisionRow)
    .describe('Newest first; a page may have fewer rows than `limit`, or none, and more may follow.'),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  limit: z.int().describe('The number of rows that the page was bounded by.'),
  next_cursor: z.string().optional().describe('Absent on the last page.'),
});

/** The time that a search covers. Throws `validation_failed` for one that ends before it begins or is too long. */
function windowOf({ from: asked, to: end }: SearchQuery, now: Date): { readonly from: Date; readonly to: Date } {
  const to = end ?? now;
  const from = asked ?? new Date(to.getTime() - dayMs);
  const refused = (path: string, detail: string) =>
    new Problem('validation_failed', detail, { errors: [{ path, code: 'window', detail }] });
  if (from >= to) throw refused('/query/from', '“from” must be before “to”.');
  if (to.getTime() - from.getTime() > maxDays * dayMs)
    throw refused('/query/from', `A search covers at most ${maxDays} days.`);
  return { from, to };
}

const search: ManagementRoute = {
  operation: 'decision.list',
  method: 'GET',
  path: '/workspaces/{workspace_id}/decisions',
  summary: 'Decisions about ads within a time, the newest first.',
  note: `It finds decisions of the last 180 days; traces of older ones are read by their IDs. It needs a role that sees campaigns. Each
search is recorded with its purpose.`,
  scope: 'management:diagnostics',
  query: searchQuery,
  answers: { 200: { description: 'A page of decisions.', body: { name: 'DecisionPage', schema: decisionPage } } },
  refusals: ['permission_denied', 'invalid_cursor', 'temporarily_unavailable', 'timeout'],
  answer: async ({ actor, token, workspaceId, query }, { diagnostics, cursorKey, clock }) => {
    const asked = query as SearchQuery;
    const { limit: rows, purpose: named, cursor: text } = asked;
    const now = clock();
    const wanted = Object.fromEntries(
      searchFields.flatMap((field) => (asked[field] === undefined ? [] : [[field, asked[field]]])),
    );
    const given = [asked.from?.toISOString() ?? '', asked.to?.toISOString() ?? ''];
    const listing = `decisions ${workspaceId} ${JSON.stringify([given, wanted])}`;
    const place = text === undefined ? undefined : openCursor(cursorKey, listing, text, now);
    // Pages that follow cover the time of the first one.
    const [at = '', first = '', last = ''] = place?.sortValues ?? [];
    const window = place ? { from: new Date(first), to: new Date(last) } : windowOf(asked, now);
    const { decisions, next } = await diagnostics.search(
      { ...token, principal: actor.principal },
      workspaceId,
      { ...window, wanted, limit: rows, after: place && { at: new Date(at), decisionId: place.id } },
      named,
    );
    const [from, to] = [window.from.toISOString(), window.to.toISOString()];
    const position = (atMs: bigint) => [new Date(Number(atMs)).toISOString(), from, to];
    return json({
      rows: decisions.map((one) => ({
        decision_id: one.decisionId,
        decided_at: new Date(Number(one.atMs)).toISOString(),
        podcast_id: one.podcastId,
        episode_id: one.episodeId,
        serving_plan_id: one.servingPlanId || null,
        outcome: one.picks.length > 0 ? 'filled' : 'empty',
        no_ad_reason: one.noAdReason || null,
        picks: one.picks.map((pick) => ({
          break_key: pick.breakKey,
          slot: pick.slot,
          campaign_id: pick.campaignId,
          line_item_id: pick.lineItemId,
          creative_id: pick.creativeId,
        })),
      })),
      ...{ from, to, limit: rows },
      ...(next && {
        next_cursor: sealCursor(cursorKey, listing, { sortValues: position(next.atMs), id: next.decisionId }, now),
      }),
    });
  },
};

const accessQuery = z.strictObject(pageQuery);

const accessPage = z.strictObject({
  rows: z.array(diagnosticsAccessSchema).describe('Newest first.'),
  limit: z.int().describe('The number of rows that the page was bounded by.'),
  next_cursor: z.string().optional().describe('Absent on the last page.'),
});

const listAccesses: ManagementRoute = {
  operation: 'diagnostics_access.list',
  method: 'GET',
  path: '/workspaces/{workspace_id}/diagnostics-accesses',
  summary: 'Who read decisions of the workspace, when, by which program and what for.',
  note: 'For owners and administrators. Entries are written before the answer that they are about, and never change.',
  scope: 'management:read',
  query: accessQuery,
  answers: { 200: { description: 'A page of readings.', body: { name: 'DiagnosticsAccessPage', schema: accessPage } } },
  refusals: ['permission_denied', 'invalid_cursor'],
  answer: async ({ actor, workspaceId, query }, { diagnostics, cursorKey, clock }) => {
    const { limit: rows, cursor: text } = query as z.output<typeof accessQuery>;
    const listing = `diagnostics_accesses ${workspaceId}`;
    const now = clock();
    const after = text === undefined ? undefined : openCursor(cursorKey, listing, text, now).id;
    const found = await diagnostics.listAccesses(actor.principal, workspaceId, { after, limit: rows + 1 });
    const shown = found.slice(0, rows);
    const last = found.length > rows ? shown.at(-1) : undefined;
    return json({
      rows: shown,
      limit: rows,
      ...(last && { next_cursor: sealCursor(cursorKey, listing, { sortValues: [], id: last.id }, now) }),
    });
  },
};

/** Diagnostics: traces of decisions, the search for them, and the record of both. */
export const decisionRoutes: readonly ManagementRoute[] = [search, readTrace, listAccesses];
