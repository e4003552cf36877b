import { z } from 'zod';
import type { ManagementApi } from './management-api.ts';
import { queryOf, readWords } from './words.ts';
import { workspaceOf } from './workspace.ts';

const lineSchema = z.object({ seq: z.number() });

/** `manage receipts`: the whole chain of receipts, page after page, byte for byte as it is answered. */
export async function writeReceipts(
  api: ManagementApi,
  args: readonly string[],
  write: (text: string) => void,
): Promise<void> {
  const { values } = readWords(args, [], { chain: { type: 'string' }, after: { type: 'string' } });
  const path = `/workspaces/${await workspaceOf(api, values.workspace)}/receipts`;
  const query = queryOf({ chain: values.chain, after: values.after });
  for (;;) {
    const page = await api.read({ path: `${path}?${query.toString()}`, headers: { Accept: 'application/jsonl' } });
    const last = page.trimEnd().split('\n').at(-1)!;
    if (last === '') return;
    write(page);
    query.set('after', String(lineSchema.parse(JSON.parse(last)).seq));
  }
}
