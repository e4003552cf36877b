import { once } from 'node:events';
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  byteRangeServedSchema,
  mediaRangeServedSchema,
  trackDescribedSchema,
  userAgentSeenSchema,
} from '@longwave/events';
import { z } from 'zod';
import { openPlain, readLines } from '../files/read-lines.ts';

/**
 * The first line of a fact file. The facts follow as they travel on the bus, one a line, with lines for what a part of all facts cannot
 * show, and a last line with their number, which reveals a cut file.
 */
const headerSchema = z.strictObject({
  kind: z.literal('fact_file'),
  format: z.literal(1),
  /** Downloads that began in [from, to) can be counted from it; null: no bound. It also has the facts around the range that they need. */
  from: z.iso.datetime().nullable(),
  to: z.iso.datetime().nullable(),
  workspace_id: z.string().nullable(),
  podcast_id: z.string().nullable(),
  /** Null when no fact was counted yet. */
  complete_until: z.iso.datetime().nullable(),
  exported_at: z.iso.datetime(),
  methodology_version: z.string(),
  lists_version: z.string(),
});

export type FactFileHeader = z.infer<typeof headerSchema>;

/** A key's day whose hold by rule 16 the facts of the file do not show. */
const velocityDaySchema = z.strictObject({
  kind: z.literal('velocity_day'),
  of: z.enum(['listener', 'address']),
  key: z.string(),
  /** UTC date. */
  day: z.iso.date(),
  /** False: a person has released it. True: it is held, also for downloads of podcasts that the file does not have. */
  held: z.boolean(),
});

/** A serving that was billed before the range, so it is not billed again. */
const billedBeforeSchema = z.strictObject({
  kind: z.literal('billed_before'),
  serving_id: z.string(),
  started_at: z.iso.datetime(),
});

const entrySchema = z.discriminatedUnion('kind', [
  byteRangeServedSchema,
  mediaRangeServedSchema,
  trackDescribedSchema,
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
  for (const { kind } of entries) {
    const isFact = kind === 'byte_range_served' || kind === 'media_range_served';
    trailer[isFact ? 'facts' : kind === 'user_agent_seen' ? 'user_agents' : 'others'] += 1;
  }
}

const emptyTrailer = (): Trailer => ({ kind: 'end', facts: 0, user_agents: 0, others: 0 });

/** The file is not a complete file of facts; the message says what to do. */
export class UnusableFactFile extends Error {}

async function write(to: Writable, lines: readonly object[]): Promise<void> {
  if (!to.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))) await once(to, 'drain');
}

/**
 * Writes a fact file under a temporary name and renames it when it is complete; a file with a name in `.gz` is compressed. An error leaves
 * no new file, and an older file of the name unchanged.
 * @param onFacts called with the number of facts of each batch
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

/** The lines of a file. Throws `UnusableFactFile` when its compression is damaged. */
async function* linesOf(file: string): AsyncGenerator<string[]> {
  try {
    yield* readLines(await openPlain(file));
  } catch (error) {
    if (!String((error as { code?: unknown }).code).startsWith('Z_')) throw error;
    throw new UnusableFactFile(`${file} is damaged or incomplete. Export the facts again.`, { cause: error });
  }
}

/** An entry of a file and its line. */
export interface FileLine {
  readonly entry: FileEntry;
  readonly line: string;
}

/** The parsed entries of a file, in groups. Throws `UnusableFactFile` also when the file was cut. */
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
