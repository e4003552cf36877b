import { isUtf8 } from 'node:buffer';
import type { ChangesInput } from '@longwave/command-catalog';
import { readAll, type GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import { transcriptLimits } from '@longwave/transcript';
import { z } from 'zod';
import { legalText, oneLine } from './feed-text.ts';
import { present } from './keep-valid.ts';

/** Fetches the small files beside an episode's audio. The import goes on without a file that fails. */
export interface ExtraFiles {
  /** Undefined when the file cannot be fetched, or is no UTF-8. */
  readonly fetchText: (url: string, signal: AbortSignal) => Promise<string | undefined>;
}

const timeoutMs = 10_000;
const maxBytes = transcriptLimits.characters * 4;
/**
 * After so many failures in a row (unreachable, too slow, broken off) a host gets no further requests: thousands of episodes must not wait
 * for it. An answer such as 404 is no failure.
 */
const maxFailures = 3;

export function createExtraFiles(fetch: GuardedFetch): ExtraFiles {
  const failures = new Map<string, number>();

  /** The file's bytes, or undefined when the host answers without it. Throws `media_not_fetchable` when it fails. */
  async function fetchBytes(url: string, signal: AbortSignal): Promise<Buffer | undefined> {
    using response = await fetch(url, { maxBytes, timeoutMs, signal });
    return response.status === 200 ? await readAll(response) : undefined;
  }

  return {
    fetchText: async (url, signal) => {
      const { host } = new URL(url);
      const failed = failures.get(host) ?? 0;
      if (failed >= maxFailures) return undefined;
      try {
        const bytes = await fetchBytes(url, signal);
        failures.delete(host);
        return bytes && decodeText(bytes);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        failures.set(host, failed + 1);
        return undefined;
      }
    },
  };
}

function decodeText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? legalText(new TextDecoder().decode(bytes)) : undefined;
}

const seconds = z.number().min(0).max(360_000);
const optionalUrl = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .optional()
  .catch(undefined);
/** JSON chapters of Podcasting 2.0 (version 1.2.0); a chapter that is not valid is left out. */
const chaptersFile = z.object({
  chapters: z.array(
    z
      .object({
        startTime: seconds,
        endTime: seconds.optional().catch(undefined),
        title: z.string().optional().catch(undefined),
        url: optionalUrl,
        img: optionalUrl,
        toc: z.boolean().optional().catch(undefined),
      })
      .optional()
      .catch(undefined),
  ),
});

type Chapters = ChangesInput<'episode.set_chapters'>['chapters'];

/** Chapters as the catalog writes them, in order, one for each start; undefined when the text is no chapters file. */
export function parseChaptersFile(text: string): Chapters | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const file = chaptersFile.safeParse(json);
  if (!file.success) return undefined;
  const byStart = new Map<number, Chapters[number]>();
  for (const chapter of file.data.chapters) {
    if (!chapter) continue;
    const startMs = Math.round(chapter.startTime * 1000);
    const endMs = chapter.endTime === undefined ? undefined : Math.round(chapter.endTime * 1000);
    const title = oneLine(chapter.title);
    // A chapter without a title only changes the picture; the catalog needs a title all the same.
    if (byStart.has(startMs)) continue;
    byStart.set(
      startMs,
      present({
        start_ms: startMs,
        title: title ?? `Chapter ${byStart.size + 1}`,
        end_ms: endMs !== undefined && endMs > startMs ? endMs : undefined,
        url: chapter.url,
        image_url: chapter.img,
        toc: title === undefined ? false : chapter.toc,
      }),
    );
  }
  return [...byStart.values()].sort((a, b) => a.start_ms - b.start_ms).slice(0, 1000);
}
