import { isDeepStrictEqual } from 'node:util';
import { productCatalog, type Resource } from '@longwave/command-catalog';
import { productionFile, views } from '@longwave/hosting-client';
import { Problem, type FieldError } from '@longwave/problems';
import { z } from 'zod';

const { publication_flag, file_url, mode } = productCatalog.commands['production.revise'].changes.shape;

/** Files as a client sends them: one with the address of the audio, or those that it read, unchanged. */
export const sentFiles = z
  .array(productionFile.partial().extend({ url: productionFile.shape.url }))
  .max(20)
  .describe('The audio as `[{"url": "…"}]`, the same as `file_url`.');

/** The body of a PUT: what may change, and what was read and may be sent back. */
export const productionPut = views.productions.schema.partial().extend({
  publication_flag,
  mode,
  file_url: z.union([file_url, z.null()]),
  files: sentFiles.optional(),
});
type ProductionPut = z.output<typeof productionPut>;

/** The changes of a PUT that differ from what the production is. */
export interface ProductionChanges {
  readonly publication_flag?: boolean;
  readonly mode?: 'stop_new' | 'stop_all';
  readonly file_url?: string;
  readonly state?: 'initial' | 'encoding';
}

const refuse = (errors: readonly FieldError[]) =>
  new Problem('validation_failed', errors.map(({ detail }) => detail).join(' '), { errors });

/** The address in `files`; undefined when none were sent. Throws `validation_failed` unless it is one file with an address. */
export function attachedUrl(files: z.output<typeof sentFiles> | undefined): string | undefined {
  if (files === undefined || files.length === 0) return undefined;
  const [file, ...others] = files;
  const url = others.length === 0 && (file?.role ?? 'source') === 'source' ? file?.url : undefined;
  if (url === undefined)
    throw refuse([{ path: '/files', code: 'not_one_file', detail: 'Send one file with its address as "url".' }]);
  return url;
}

const notCompared: readonly string[] = [
  'publication_flag',
  'file_url',
  'files',
  'state',
  'mode',
  'tracks',
  'updated_at',
];
const commanded: readonly string[] = ['initial', 'encoding'] satisfies ProductionChanges['state'][];

/**
 * Fields that only the service sets and that were sent with another value; while a production is encoded they change by themselves. How its
 * tracks are is not compared, nor when it was last changed: a PUT that is repeated sends the time before its own change.
 */
function readOnlyErrors(sent: ProductionPut, shown: Readonly<Record<string, unknown>>): FieldError[] {
  if (shown['state'] === 'encoding') return [];
  return Object.entries(sent)
    .filter(([name, value]) => !notCompared.includes(name) && !isDeepStrictEqual(value, shown[name]))
    .map(([name]) => ({
      path: `/${name}`,
      code: 'read_only',
      detail: 'It is set by the service and cannot be changed.',
    }));
}

/**
 * The changes that a PUT asks of a production shown as `shown`. Throws `validation_failed` for a state that no request can lead to, and for
 * another value of what the service sets.
 */
export function changesOf(
  sent: ProductionPut,
  { lifecycle_state: present, attributes }: Resource<'productions'>,
  shown: Readonly<Record<string, unknown>>,
): ProductionChanges {
  const errors = readOnlyErrors(sent, shown);
  const { state, publication_flag: flag, mode, files } = sent;
  const changesState = state !== undefined && state !== present;
  if (changesState && !commanded.includes(state))
    errors.push({
      path: '/state',
      code: 'not_commanded',
      detail: 'Send "encoding" to start, or "initial" to stop or to make ready again.',
    });
  if (sent.file_url === null && shown['file_url'] !== null)
    errors.push({ path: '/file_url', code: 'not_null', detail: 'The file can be replaced, not removed.' });
  if (errors.length > 0) throw refuse(errors);
  const attached = isDeepStrictEqual(files, shown['files']) ? undefined : attachedUrl(files);
  const fileUrl = sent.file_url ?? attached;
  return {
    ...(flag !== undefined && flag !== attributes.publication_flag && { publication_flag: flag }),
    ...(mode !== undefined && mode !== (attributes.replacement_mode ?? 'stop_new') && { mode }),
    ...(fileUrl !== undefined && fileUrl !== attributes.file_url && { file_url: fileUrl }),
    ...(changesState && { state: state as 'initial' | 'encoding' }),
  };
}
