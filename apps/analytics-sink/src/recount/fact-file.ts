import { once } from 'node:events';
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { deliveryFactSchema, type ByteRangeServed, type UserAgentSeen } from '@longwave/events';
import { z } from 'zod';
import { openPlain, readLines } from '../files/read-lines.ts';

/**
 * The first line of a fact file. Then come the facts as they travel on the bus, one a line, and a last line that says how many,
 * so that a file that was cut is noticed.
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

const trailerSchema = z.strictObject({
  kind: z.literal('end'),
  facts: z.int().min(0),
  user_agents: z.int().min(0),
});

type FileFact = ByteRangeServed | UserAgentSeen;

/** A file that is no whole fact file; the message names it and says what to do. */
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
  batches: AsyncIterable<readonly FileFact[]>,
  onFacts: (count: number) => void,
): Promise<{ readonly facts: number; readonly userAgents: number }> {
  const partial = `${file}.partial`;
  const lines = new PassThrough();
  const target = createWriteStream(partial, { mode: 0o600 });
  const written = file.endsWith('.gz') ? pipeline(lines, createGzip(), target) : pipeline(lines, target);
  const removeLeftover = () => rmSync(partial, { force: true });
  process.once('exit', removeLeftover);
  try {
    let facts = 0;
    let userAgents = 0;
    const fill = async () => {
      await write(lines, [header]);
      for await (const batch of batches) {
        const served = batch.filter((fact) => fact.kind === 'byte_range_served').length;
        facts += served;
        userAgents += batch.length - served;
        await write(lines, batch);
        onFacts(served);
      }
      await write(lines, [{ kind: 'end', facts, user_agents: userAgents } satisfies z.infer<typeof trailerSchema>]);
      lines.end();
    };
    await Promise.all([written, fill().catch((error: Error) => void lines.destroy(error))]);
    renameSync(partial, file);
    return { facts, userAgents };
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
    throw new UnusableFactFile(`${file}, line ${lineNumber}: not JSON. Export the facts again.`);
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
      throw new UnusableFactFile(`${file} is no fact file: make one with \`recount export\`.`);
    return parseLine(headerSchema, first, file, 1);
  }
  throw new UnusableFactFile(`${file} is empty: export the facts again.`);
}

/** The lines of a file; one that was cut or damaged is said to be unusable. */
async function* linesOf(file: string): AsyncGenerator<string[]> {
  try {
    yield* readLines(await openPlain(file));
  } catch (error) {
    if (!String((error as { code?: unknown }).code).startsWith('Z_')) throw error;
    throw new UnusableFactFile(`${file} is damaged or was cut: export the facts again.`, { cause: error });
  }
}

/** One fact of a file with the line it stands in. */
export interface FactLine {
  readonly fact: FileFact;
  readonly line: string;
}

/** The facts of a file, in groups, each checked. Throws `UnusableFactFile` also when the file was cut. */
export async function* readFactFile(file: string): AsyncGenerator<FactLine[]> {
  let lineNumber = 0;
  let trailer: z.infer<typeof trailerSchema> | undefined;
  const counted = { byte_range_served: 0, user_agent_seen: 0 };
  for await (const lines of linesOf(file)) {
    const group: FactLine[] = [];
    for (const line of lines) {
      lineNumber += 1;
      if (lineNumber === 1) continue;
      if (trailer) throw new UnusableFactFile(`${file} goes on after its end: export the facts again.`);
      if (line.startsWith('{"kind":"end"')) {
        trailer = parseLine(trailerSchema, line, file, lineNumber);
        continue;
      }
      const fact = parseLine(deliveryFactSchema, line, file, lineNumber);
      // What players report is kept apart from what was delivered, and is no part of a recount.
      if (fact.kind === 'delivery_event') throw new UnusableFactFile(`${file}, line ${lineNumber}: a delivery event.`);
      counted[fact.kind] += 1;
      group.push({ fact, line });
    }
    yield group;
  }
  if (trailer?.facts !== counted.byte_range_served || trailer.user_agents !== counted.user_agent_seen)
    throw new UnusableFactFile(`${file} is not whole: export the facts again.`);
}
