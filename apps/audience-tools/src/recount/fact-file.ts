import { once } from 'node:events';
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { byteRangeServedSchema, userAgentSeenSchema } from '@longwave/events';
import { z } from 'zod';
import { openPlain, readLines } from '../files/read-lines.ts';

/**
 * The first line of a fact file. Then come the facts as they travel on the bus, one a line, with what a part of all facts cannot know by
 * itself, and a last line that says how many, so that a file that was cut is noticed.
 */
const headerSchema = z.strictObject({
  kind: z.literal('fact_file'),
  format: z.literal(1),
  /** The downloads that can be counted from it began in [from, to); null: no bound. Facts around the range are there too. */
  from: z.iso.datetime().nullable(),
  to: z.iso.datetime().nullable(),
  workspace_id: z.string().nullable(),
  podcast_id: z.string().nullable(),
  /** RFC 3339; null when no fact was counted yet. */
  complete_until: z.iso.datetime().nullable(),
  exported_at: z.iso.datetime(),
  methodology_version: z.string(),
  lists_version: z.string(),
});

export type FactFileHeader = z.infer<typeof headerSchema>;

/** A key's day whose velocity (rule 16) these facts do not decide. */
const velocityDaySchema = z.strictObject({
  kind: z.literal('velocity_day'),
  of: z.enum(['listener', 'address']),
  key: z.string(),
  /** UTC date. */
  day: z.iso.date(),
  /** False: a person has released it. True: it is held for downloads of other podcasts as well, which a file of one does not have. */
  held: z.boolean(),
});

/** A serving whose earliest billed delivery is before the range: it is not billed again. */
const billedBeforeSchema = z.strictObject({
  kind: z.literal('billed_before'),
  serving_id: z.string(),
  started_at: z.iso.datetime(),
});

const entrySchema = z.discriminatedUnion('kind', [
  byteRangeServedSchema,
  userAgentSeenSchema,
  velocityDaySchema,
  billedBeforeSchema,
]);

export type FileEntry = z.infer<typeof entrySchema>;
export type VelocityDayEntry = z.infer<typeof velocityDaySchema>;
export type BilledBefore = z.infer<typeof billedBeforeSchema>;

const trailerSchema = z.strictObject({
  kind: z.literal('end'),
  facts: z.int().min(0),
  user_agents: z.int().min(0),
  others: z.int().min(0),
});
type Trailer = z.infer<typeof trailerSchema>;

function addToTrailer(trailer: Trailer, entries: readonly { readonly kind: FileEntry['kind'] }[]): void {
  for (const { kind } of entries)
    trailer[kind === 'byte_range_served' ? 'facts' : kind === 'user_agent_seen' ? 'user_agents' : 'others'] += 1;
}

const emptyTrailer = (): Trailer => ({ kind: 'end', facts: 0, user_agents: 0, others: 0 });

/** A file that is not a complete file of facts; the message names it and says what to do. */
export class UnusableFactFile extends Error {}

async function write(to: Writable, lines: readonly object[]): Promise<void> {
  if (!to.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))) await once(to, 'drain');
}

/**
 * Writes a fact file under a temporary name and gives it its own when it is whole; a name that ends in `.gz` is compressed. After
 * an error nothing is left, and an older file of that name is as it was.
 * @param onFacts told how many facts each batch had
 */
export async function writeFactFile(
  file: string,
  header: FactFileHeader,
  batches: AsyncIterable<readonly FileEntry[]>,
  onFacts: (count: number) => void,
): Promise<Readonly<Trailer>> {
  const partial = `${file}.partial`;
  const lines = new PassThrough();
  const target = createWriteStream(partial, { mode: 0o600 });
  const written = file.endsWith('.gz') ? pipeline(lines, createGzip(), target) : pipeline(lines, target);
  const removeLeftover = () => rmSync(partial, { force: true });
  process.once('exit', removeLeftover);
  try {
    const trailer = emptyTrailer();
    const fill = async () => {
      await write(lines, [header]);
      for await (const batch of batches) {
        const before = trailer.facts;
        addToTrailer(trailer, batch);
        await write(lines, batch);
        onFacts(trailer.facts - before);
      }
      await write(lines, [trailer]);
      lines.end();
    };
    await Promise.all([written, fill().catch((error: Error) => void lines.destroy(error))]);
    renameSync(partial, file);
    return trailer;
  } finally {
    removeLeftover();
    process.off('exit', removeLeftover);
  }
}

function parseLine<T>(schema: z.ZodType<T>, line: string, file: string, lineNumber: number): T {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new UnusableFactFile(`${file}, line ${lineNumber} is not JSON. Export the facts again.`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UnusableFactFile(
    `${file}, line ${lineNumber}: ${issue?.path.join('.') || 'the line'}: ${issue?.message}. Export the facts with this version.`,
  );
}

/** The header of a fact file. Throws `UnusableFactFile`, or the file system's error. */
export async function readFactFileHeader(file: string): Promise<FactFileHeader> {
  for await (const [first = ''] of linesOf(file)) {
    if (!first.startsWith('{"kind":"fact_file"'))
      throw new UnusableFactFile(`${file} is not a file of facts. Make one with \`recount export\`.`);
    return parseLine(headerSchema, first, file, 1);
  }
  throw new UnusableFactFile(`${file} is empty. Export the facts again.`);
}

/** The lines of a file; one that was cut or damaged is said to be unusable. */
async function* linesOf(file: string): AsyncGenerator<string[]> {
  try {
    yield* readLines(await openPlain(file));
  } catch (error) {
    if (!String((error as { code?: unknown }).code).startsWith('Z_')) throw error;
    throw new UnusableFactFile(`${file} is damaged or incomplete. Export the facts again.`, { cause: error });
  }
}

/** One entry of a file with the line it stands in. */
export interface FileLine {
  readonly entry: FileEntry;
  readonly line: string;
}

/** The entries of a file, in groups, each checked. Throws `UnusableFactFile` also when the file was cut. */
export async function* readFactFile(file: string): AsyncGenerator<FileLine[]> {
  let lineNumber = 0;
  let trailer: Trailer | undefined;
  const counted = emptyTrailer();
  for await (const lines of linesOf(file)) {
    const group: FileLine[] = [];
    for (const line of lines) {
      lineNumber += 1;
      if (lineNumber === 1) continue;
      if (trailer) throw new UnusableFactFile(`${file} goes on after its end: export the facts again.`);
      if (line.startsWith('{"kind":"end"')) trailer = parseLine(trailerSchema, line, file, lineNumber);
      else group.push({ entry: parseLine(entrySchema, line, file, lineNumber), line });
    }
    addToTrailer(
      counted,
      group.map(({ entry }) => entry),
    );
    yield group;
  }
  if (JSON.stringify(trailer) !== JSON.stringify(counted))
    throw new UnusableFactFile(`${file} is not complete. Export the facts again.`);
}
