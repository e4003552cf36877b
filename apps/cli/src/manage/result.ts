import { z } from 'zod';
import { Refusal, type ManagementApi } from './management-api.ts';
import { signedFileSchema, writeSignedFile } from './signed-file.ts';
import { readWords } from './words.ts';
import { workspaceOf } from './workspace.ts';

const runSchema = z.object({
  lifecycle_state: z.string(),
  attributes: z.object({ problem: z.object({ code: z.string(), detail: z.string() }).optional() }),
});

/** Why a run that the person sees has no result. Throws the refusal itself for any other answer. */
async function explainMissing(api: ManagementApi, workspace: string, id: string, refusal: unknown): Promise<never> {
  if (!(refusal instanceof Refusal) || refusal.code !== 'not_found') throw refusal;
  const path = `${workspace}/resources/report_runs/${encodeURIComponent(id)}`;
  const { lifecycle_state: state, attributes } = runSchema.parse(
    await api.ask({ path }).catch(() => {
      throw refusal;
    }),
  );
  if (attributes.problem) throw new Error(`The run failed: ${attributes.problem.code}: ${attributes.problem.detail}`);
  throw new Error(
    ['queued', 'running'].includes(state)
      ? `The run is ${state}: it has no result yet. “manage get ${id}” shows when it is ready.`
      : `The run is ${state}: it has no result. Run the report again.`,
    { cause: refusal },
  );
}

/** `manage result REPORT_RUN`: writes the file of a report to standard output. Throws when its bytes are not those that the run names. */
export async function writeResult(api: ManagementApi, args: readonly string[], out: NodeJS.WritableStream) {
  const { positionals, values } = readWords(args, ['REPORT_RUN'], { format: { type: 'string' } });
  const id = positionals[0]!;
  const workspace = `/workspaces/${await workspaceOf(api, values.workspace)}`;
  const run = `${workspace}/report-runs/${encodeURIComponent(id)}`;
  const query = values.format === undefined ? '' : `?format=${encodeURIComponent(values.format)}`;
  const file = signedFileSchema.parse(
    await api
      .ask({ path: `${run}/result${query}` })
      .catch((refusal: unknown) => explainMissing(api, workspace, id, refusal)),
  );
  await writeSignedFile(file, out);
}
