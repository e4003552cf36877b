import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { UsageError } from '../command.ts';
import { commandOf, readCatalog, typeOf } from './catalog.ts';
import { readRunLine } from './changes-from-flags.ts';
import { commandHelp } from './command-help.ts';
import { explainRefusal } from './explain-refusal.ts';
import { Refusal, type ManagementApi } from './management-api.ts';
import { watchOperation } from './watch.ts';
import { workspaceOf } from './workspace.ts';

const operationSchema = z.looseObject({
  id: z.string(),
  state: z.string(),
  subject: z.looseObject({ type: z.string(), id: z.string(), version: z.number() }),
  state_reason: z.string().optional(),
  problem: z.object({ code: z.string(), detail: z.string() }).optional(),
});
type Operation = z.infer<typeof operationSchema>;

const isOver = (state: string) => ['succeeded', 'failed', 'cancelled'].includes(state);

const readText = (name: string) => readFileSync(name === '-' ? 0 : name, 'utf8');

/** A part of the answer by its name: `id` is the subject's, everything else a path in the operation (`subject.version`). */
function partOf(operation: Operation, name: string): string {
  const found = name === 'id' ? operation.subject.id : at(operation, name.split('.'));
  if (found === undefined) throw new UsageError(`--print: the operation has no “${name}”.`);
  return typeof found === 'string' ? found : JSON.stringify(found);
}

const at = (value: unknown, [key, ...rest]: readonly string[]): unknown =>
  key === undefined
    ? value
    : typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? at((value as Readonly<Record<string, unknown>>)[key], rest)
      : undefined;

/** Why an operation did not succeed; undefined when it did, or goes on. */
function reasonOf({ state, subject, problem, state_reason: reason }: Operation): string | undefined {
  if (state === 'failed') {
    // Lines of a source that cannot be read stand with the resource.
    const more = problem?.code === 'source_unreadable' ? 'names the lines in `findings`.' : 'shows more.';
    const why = `It failed: ${problem ? `${problem.code}: ${problem.detail}` : 'no reason is given.'}`;
    return subject.version > 0 ? `${why} “manage get ${subject.id}” ${more}` : why;
  }
  return state === 'cancelled' ? `It was cancelled${reason === undefined ? '.' : `: ${reason}`}` : undefined;
}

/** How a person repeats a command without doing it twice. */
const lostAnswer = (key: string, version: number | undefined) =>
  `Whether the command was carried out is unknown. Repeat it with --key ${key}${version === undefined ? '' : ` --if-version ${version}`}: it is never carried out twice.`;

/**
 * `manage run COMMAND [ID]`: sends one command and shows its operation. A lost answer is asked for again with the same idempotency key;
 * when it does not come, the key is told, so that the person can do the same later.
 */
export async function runCommand(api: ManagementApi, args: readonly string[], tell: (line: string) => void) {
  const [type, ...rest] = args;
  if (type === undefined || type.startsWith('-'))
    throw new UsageError('Name the command: manage run COMMAND. “manage commands” lists them.');
  const catalog = await readCatalog(api);
  const command = commandOf(catalog, type);
  const { words, options, changes } = readRunLine(rest, command.changes_schema, readText);
  if (options.help) return commandHelp(command);
  const [id, ...more] = words;
  if (more.length > 0) throw new UsageError(`“${more.join(' ')}” belongs to no option.`);
  if (command.from !== null && id === undefined) throw new UsageError(`Name the subject: manage run ${type} ID`);
  if (command.from === null && id !== undefined)
    throw new UsageError(`${type} creates its subject: “${id}” belongs to no option.`);
  // Operations are no resources: they have no version to state.
  const isResource = catalog.resource_types.some((each) => each.resource_type === command.subject_type);
  if (id !== undefined && isResource && typeOf(catalog, id) !== command.subject_type)
    throw new UsageError(`${type} is a command for ${command.subject_type}; “${id}” is none.`);
  const workspace = `/workspaces/${await workspaceOf(api, options.workspace)}`;
  const version = await versionOf(
    id === undefined || !isResource ? undefined : `${workspace}/resources/${command.subject_type}/${id}`,
  );
  const key = options.key ?? `cli-${randomBytes(16).toString('hex')}`;
  const sent = {
    method: 'POST',
    path: `${workspace}/commands/${type}`,
    headers: { 'Idempotency-Key': key },
    body: {
      subject: { type: command.subject_type, id: id ?? null, ...(version !== undefined && { version }) },
      changes,
      ...(options.reason !== undefined && { reason: options.reason }),
    },
  } as const;
  const onInterrupt = () => {
    tell(lostAnswer(key, version));
    process.exit(130);
  };
  process.once('SIGINT', onInterrupt);
  const accepted = operationSchema.parse(
    await api.ask(sent).catch((error: unknown) => {
      throw error instanceof Refusal
        ? explainRefusal(error, command)
        : new Error(`${(error as Error).message} ${lostAnswer(key, version)}`);
    }),
  );
  process.off('SIGINT', onInterrupt);
  const last =
    options.wait && !isOver(accepted.state)
      ? operationSchema.parse(await watchOperation(api, workspace, accepted.id, tell))
      : accepted;
  const reason = reasonOf(last);
  if (reason !== undefined) tell(reason);
  if (last.state === 'failed') process.exitCode = 1;
  return options.print === undefined ? JSON.stringify(last, null, 2) : partOf(last, options.print);

  /** The version that the person saw, else the present one. */
  async function versionOf(path: string | undefined): Promise<number | undefined> {
    const given = options['if-version'];
    if (given !== undefined) {
      if (!/^[1-9]\d{0,8}$/.test(given)) throw new UsageError(`--if-version: “${given}” is no version.`);
      return Number(given);
    }
    if (path === undefined) return undefined;
    return z.object({ version: z.number() }).parse(await api.ask({ path })).version;
  }
}
