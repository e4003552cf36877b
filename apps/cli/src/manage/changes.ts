import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { ManagementApi } from './management-api.ts';
import { queryOf, readWords } from './words.ts';
import { workspaceOf } from './workspace.ts';

const changeSchema = z.looseObject({
  cursor: z.string(),
  type: z.string(),
  occurred_at: z.string(),
  subject: z.looseObject({ id: z.string(), version: z.number().optional() }),
});
type Change = z.infer<typeof changeSchema>;
const pageSchema = z.looseObject({ rows: z.array(changeSchema), next_cursor: z.string(), more: z.boolean() });
/** The last event of a stream whose token or rights have ended. */
const closedSchema = z.object({ code: z.string(), detail: z.string() });

const lineOf = ({ occurred_at: at, type, subject: { id, version } }: Change): string =>
  [at, type, id, ...(version === undefined ? [] : [`version ${version}`])].join('  ');

/** Time between the end of a stream and the next one. */
const reopenMs = 500;

/** Writes every change as it comes, and opens the next stream where one ends. Ends by throwing, when the access has ended. */
async function follow(
  api: ManagementApi,
  path: string,
  query: URLSearchParams,
  write: (change: Change) => void,
): Promise<never> {
  let lastId: string | undefined;
  for (; ; await pause(reopenMs))
    for await (const { id, data } of api.events(`${path}?${query.toString()}`, lastId)) {
      const { data: closed } = closedSchema.safeParse(data);
      if (closed) throw new Error(`${closed.detail} (${closed.code})`);
      write(changeSchema.parse(data));
      if (id !== '') lastId = id;
    }
}

/**
 * `manage changes`: one line for each change, in the order in which they were made. Without `--all` it writes one page, and tells the cursor to
 * go on from.
 */
export async function writeChanges(
  api: ManagementApi,
  args: readonly string[],
  out: { readonly write: (line: string) => void; readonly tell: (line: string) => void },
): Promise<void> {
  const { values } = readWords(args, [], {
    after: { type: 'string' },
    types: { type: 'string' },
    limit: { type: 'string' },
    all: { type: 'boolean' },
    follow: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const { after, types, limit } = values;
  const path = `/workspaces/${await workspaceOf(api, values.workspace)}/changes`;
  const write = (change: Change) => out.write(values.json ? JSON.stringify(change) : lineOf(change));
  if (values.follow) return follow(api, path, queryOf({ after: after ?? 'now', types }), write);
  const query = queryOf({ after, types, limit });
  for (;;) {
    const {
      rows,
      next_cursor: cursor,
      more,
    } = pageSchema.parse(await api.ask({ path: `${path}?${query.toString()}` }));
    rows.forEach(write);
    query.set('after', cursor);
    if (more && (values.all || rows.length === 0)) continue;
    return out.tell(`${more ? '… and more: --all, or' : 'That is all. Later ones:'} --after ${cursor}`);
  }
}
