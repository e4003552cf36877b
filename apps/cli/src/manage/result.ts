import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { ManagementApi } from './management-api.ts';
import { readWords } from './read-commands.ts';
import { workspaceOf } from './workspace.ts';

const resultSchema = z.object({ url: z.url(), sha256: z.string() });

/** `manage result REPORT_RUN`: writes the file of a report to standard output. Throws when its bytes are not those that the run names. */
export async function writeResult(api: ManagementApi, args: readonly string[], out: NodeJS.WritableStream) {
  const { positionals, values } = readWords(args, ['REPORT_RUN'], { format: { type: 'string' } });
  const run = `/workspaces/${await workspaceOf(api, values.workspace)}/report-runs/${encodeURIComponent(positionals[0]!)}`;
  const query = values.format === undefined ? '' : `?format=${encodeURIComponent(values.format)}`;
  const { url, sha256 } = resultSchema.parse(await api.ask({ path: `${run}/result${query}` }));
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`The object store answered ${response.status}. Ask again.`);
  const hash = createHash('sha256');
  for await (const chunk of Readable.fromWeb(response.body) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (!out.write(chunk)) await new Promise((done) => void out.once('drain', done));
  }
  if (hash.digest('hex') !== sha256) throw new Error('The file was cut off or changed on its way. Ask again.');
}
