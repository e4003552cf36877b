import type { ManagementApi } from './management-api.ts';
import { signedFileSchema, writeSignedFile } from './signed-file.ts';
import { queryOf, readWords } from './words.ts';
import { workspaceOf } from './workspace.ts';

/** `manage document STATEMENT`: writes a document of an issued statement to `out`. Throws when its bytes are not those that the statement names. */
export async function writeDocument(api: ManagementApi, args: readonly string[], out: NodeJS.WritableStream) {
  const { positionals, values } = readWords(args, ['STATEMENT'], { format: { type: 'string' } });
  const workspace = `/workspaces/${await workspaceOf(api, values.workspace)}`;
  const query = queryOf({ format: values.format ?? 'html' }).toString();
  const path = `${workspace}/billing-statements/${encodeURIComponent(positionals[0]!)}/document?${query}`;
  await writeSignedFile(signedFileSchema.parse(await api.ask({ path })), out);
}
