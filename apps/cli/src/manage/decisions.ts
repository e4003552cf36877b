import { z } from 'zod';
import { typed } from '../command.ts';
import { Refusal, type ManagementApi } from './management-api.ts';
import { columns } from './table.ts';
import { queryOf, readWords } from './words.ts';
import { workspaceOf } from './workspace.ts';

const pageSchema = z.looseObject({
  rows: z.array(
    z.looseObject({
      decision_id: z.string(),
      decided_at: z.string(),
      outcome: z.string(),
      no_ad_reason: z.string().nullable(),
      picks: z.array(z.looseObject({ line_item_id: z.string() })),
    }),
  ),
  next_cursor: z.string().optional(),
});

const text = { type: 'string' } as const;
/** Parameters of the search, by the names that the API has for them. */
const filters = {
  from: text,
  to: text,
  podcast_id: text,
  episode_id: text,
  line_item_id: text,
  verdict: text,
  campaign_id: text,
  creative_id: text,
  outcome: text,
  no_ad_reason: text,
  purpose: text,
  limit: text,
} as const;

/** Reads diagnostics; a sign-in without their scope is told how to get it. */
async function askDiagnostics(api: ManagementApi, path: string): Promise<unknown> {
  try {
    return await api.ask({ path });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'insufficient_scope') throw error;
    const signIn = `${typed} login --for management --scope "management:read management:write management:diagnostics"`;
    throw new Error(`${error.message}\n  Sign in for it: ${signIn}`, { cause: error });
  }
}

/** `manage decisions`: plays for which the ad server decided, newest first, with the line items that won or why none did. */
export async function showDecisions(api: ManagementApi, args: readonly string[]) {
  const { values } = readWords(args, [], { ...filters, all: { type: 'boolean' }, json: { type: 'boolean' } });
  const { all, json, workspace, data: _data, ...asked } = values as typeof values & { readonly data?: string };
  const query = queryOf(asked);
  const base = `/workspaces/${await workspaceOf(api, workspace)}/decisions`;
  const rows = [];
  let cursor: string | undefined;
  do {
    if (cursor !== undefined) query.set('cursor', cursor);
    const page = pageSchema.parse(await askDiagnostics(api, `${base}?${query.toString()}`));
    rows.push(...page.rows);
    cursor = page.next_cursor;
  } while (cursor !== undefined && (all || rows.length === 0));
  if (json) return JSON.stringify(rows, null, 2);
  if (rows.length === 0) return 'There are none. Without --from a search covers the last 24 hours.';
  const table = columns(
    rows.map((row) => [
      ...[row.decision_id, row.decided_at, row.outcome],
      row.no_ad_reason ?? row.picks.map(({ line_item_id: id }) => id).join(' '),
    ]),
  );
  return cursor === undefined ? table : `${table}\n… and more: --all`;
}

/** `manage trace DECISION`: what a decision had to choose from, and why each candidate won or lost. */
export async function showTrace(api: ManagementApi, args: readonly string[]) {
  const { positionals, values } = readWords(args, ['DECISION'], { purpose: text });
  const query = queryOf({ purpose: values.purpose }).toString();
  const path = `/workspaces/${await workspaceOf(api, values.workspace)}/decisions/${encodeURIComponent(positionals[0]!)}/trace`;
  return JSON.stringify(await askDiagnostics(api, query === '' ? path : `${path}?${query}`), null, 2);
}
