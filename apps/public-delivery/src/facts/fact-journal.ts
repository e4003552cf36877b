import { writeSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '@longwave/service-kit';

export interface FactJournalOptions {
  /** One folder per process. */
  readonly folder: string;
  /** Hands lines on; rejects while the bus is down, and is then called again with the same lines. */
  readonly publish: (lines: readonly string[]) => Promise<void>;
  readonly logger: Logger;
  readonly flushEveryMs: number;
  /** An entirely published journal of at least this size starts again from nothing. */
  readonly rewindBytes: number;
}

export interface FactJournal extends AsyncDisposable {
  /**
   * Takes one line, without waiting; it is in the file within moments, with the others of this turn, and published after the next flush. A
   * line of more than 512 KiB is refused, which is logged.
   */
  append(line: string): void;
  /** Takes lines and resolves when they are in the file, so that no end of the process loses them. Rejects when the disk does not take them, or a line is too large. */
  keep(lines: readonly string[]): Promise<void>;
  /** Publishes the lines in the file. Resolves true when none is left. */
  flush(): Promise<boolean>;
  /** Bytes in the file that are not published. */
  backlogBytes(): number;
}

/** Entries that wait for the end of the turn or for the file to be cut; further facts are lost and counted in the log, or refused. */
const maxWaiting = 200_000;
const batchBytes = 1 << 20;
/** Far above every fact. A batch has a whole line, and Kafka takes it. */
const maxLineBytes = 1 << 19;
const newline = 0x0a;

interface Waiting {
  readonly lines: readonly string[];
  readonly written?: PromiseWithResolvers<void>;
}

/**
 * A write-ahead file of facts. Lines are appended at once (so `kill -9` of the process loses none that reached the file), synced
 * at each flush, then published from the file, which bounds memory however long the bus is down. Lines that were not published when
 * the process ended are published at the next start; readers drop repetitions by fact id.
 */
export async function openFactJournal({
  folder,
  publish,
  logger,
  flushEveryMs,
  rewindBytes,
}: FactJournalOptions): Promise<FactJournal> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(path.join(folder, 'facts.jsonl'), 'a+', 0o600);
  let written = (await file.stat()).size;
  let synced = 0;
  let published = 0;
  let waiting: Waiting[] = [];
  let lost = 0;
  let failing = false;
  let isTruncating = false;
  let flushing: Promise<boolean> | undefined;
  let stopped = false;
  let scheduled: NodeJS.Immediate | undefined;

  // A crash or a full disk may have cut the last line; it must not swallow the next one.
  let torn = written > 0;

  /** Gives all that waits to the kernel, which costs less than to hand it to another thread. */
  function write(): void {
    if (isTruncating || waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    let text = torn ? '\n' : '';
    for (const { lines } of batch) for (const line of lines) text += `${line}\n`;
    const bytes = Buffer.from(text);
    try {
      for (let at = 0; at < bytes.length;) {
        const length = writeSync(file.fd, bytes, at);
        at += length;
        written += length;
      }
      torn = false;
      for (const each of batch) each.written?.resolve();
    } catch (error) {
      torn = true;
      for (const each of batch) {
        if (each.written) each.written.reject(error);
        else lost += each.lines.length;
      }
      logger.error({ err: error }, 'facts.journal_failed');
    }
  }

  /** Writes at the end of this turn of the event loop: one write takes what all requests of the turn add. */
  function schedule(): void {
    scheduled ??= setImmediate(() => {
      scheduled = undefined;
      write();
    });
  }

  /** The next whole lines that are synced, and how many bytes they take. */
  async function readBatch(): Promise<{ lines: string[]; sizeBytes: number }> {
    const length = Math.min(batchBytes, synced - published);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, published);
    const end = buffer.subarray(0, bytesRead).lastIndexOf(newline) + 1;
    if (end === 0 && bytesRead === batchBytes) {
      // Of an earlier release, or damaged. What is left of the line is unreadable for `publish`.
      logger.error({ sizeBytes: bytesRead }, 'facts.too_large');
      return { lines: [], sizeBytes: bytesRead };
    }
    return {
      lines: buffer
        .toString('utf8', 0, end)
        .split('\n')
        .filter((line) => line !== ''),
      sizeBytes: end,
    };
  }

  async function publishAll(): Promise<boolean> {
    write();
    if (lost > 0) {
      logger.error({ facts: lost }, 'facts.lost');
      lost = 0;
    }
    if (written > synced) {
      const size = written;
      await file.datasync();
      synced = size;
    }
    while (published < synced) {
      const { lines, sizeBytes } = await readBatch();
      if (sizeBytes === 0) break;
      if (lines.length > 0) await publish(lines);
      published += sizeBytes;
    }
    const done = () => published === written && waiting.length === 0;
    if (done() && written > 0 && (stopped || written >= rewindBytes)) {
      // Lines wait meanwhile: they would be cut off too.
      isTruncating = true;
      await file
        .truncate(0)
        .then(() => void (written = synced = published = 0))
        .finally(() => (isTruncating = false));
      write();
    }
    return done();
  }

  function flush(): Promise<boolean> {
    flushing ??= publishAll()
      .then((done) => {
        if (failing) logger.info({}, 'facts.publishing_again');
        failing = false;
        return done;
      })
      .catch((error: unknown) => {
        if (!failing) logger.warn({ err: error }, 'facts.publish_failed');
        failing = true;
        return false;
      })
      .finally(() => (flushing = undefined));
    return flushing;
  }

  function isTooLarge(line: string): boolean {
    // A character has at most three bytes.
    if (line.length * 3 <= maxLineBytes) return false;
    const sizeBytes = Buffer.byteLength(line);
    if (sizeBytes > maxLineBytes) logger.error({ sizeBytes }, 'facts.too_large');
    return sizeBytes > maxLineBytes;
  }

  const timer = setInterval(() => void flush(), flushEveryMs);
  return {
    append: (line) => {
      if (isTooLarge(line)) return;
      if (waiting.length >= maxWaiting) lost++;
      else waiting.push({ lines: [line] });
      schedule();
    },
    keep: (lines) => {
      const written = Promise.withResolvers<void>();
      if (lines.some(isTooLarge)) written.reject(new Error('a line is too large'));
      else if (waiting.length >= maxWaiting) written.reject(new Error('too much waits for the disk'));
      else waiting.push({ lines, written });
      schedule();
      return written.promise;
    },
    flush,
    backlogBytes: () => written - published,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await flushing;
      stopped = true;
      await flush();
      clearImmediate(scheduled);
      await file.close();
    },
  };
}
