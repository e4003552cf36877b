import type { Answer } from '../../../api/queries.ts';
import type { MessageKey } from '../../../messages/messages.ts';
import { parsePosition, positionText } from '../../../parts/waveform/position.ts';
import type { Stretch } from '../../../parts/waveform/waveform.tsx';

type Chapter = Answer<'/episodes/{id}/chapters'>['chapters'][number];

/** A chapter as it is typed. `more` is what the page does not show, and keeps. */
export interface ChapterRow {
  readonly start: string;
  readonly title: string;
  readonly url: string;
  readonly more: Readonly<Pick<Chapter, 'end_ms' | 'image_url' | 'toc'>>;
}

/** A row as a form keeps it: one text, so that versions of a list can be compared. */
export const rowText = (row: ChapterRow): string => JSON.stringify(row);
export const rowOf = (text: string): ChapterRow => JSON.parse(text) as ChapterRow;

export const textsOfChapters = (chapters: readonly Chapter[]): readonly string[] =>
  chapters.map(({ start_ms: startMs, title, url = '', ...more }) =>
    rowText({ start: startText(startMs), title, url, more }),
  );

/** A start to the tenth of a second, or to the millisecond where it is more exact. */
const startText = (ms: number): string =>
  ms % 100 === 0
    ? positionText(ms)
    : `${positionText(ms - (ms % 1000)).replace(/\.0$/, '')}.${String(ms % 1000).padStart(3, '0')}`;

/** The chapters of rows without a fault, in order. An end that no longer lies behind its start goes. */
export const chaptersOf = (texts: readonly string[]): Chapter[] =>
  texts
    .map(rowOf)
    .map(({ start, title, url, more: { end_ms: endMs, ...more } }) => {
      const startMs = parsePosition(start) ?? 0;
      return {
        ...{ start_ms: startMs, title: title.trim() },
        ...(endMs !== undefined && endMs > startMs && { end_ms: endMs }),
        ...(url.trim() !== '' && { url: url.trim() }),
        ...more,
      };
    })
    .toSorted((a, b) => a.start_ms - b.start_ms);

const isWeb = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** What is wrong with a row; undefined for one that may be saved. */
export function rowFault(row: ChapterRow, rows: readonly ChapterRow[], durationMs: number): MessageKey | undefined {
  const startMs = parsePosition(row.start);
  if (startMs === undefined) return 'audio.chapter_time';
  if (startMs >= durationMs) return 'audio.chapter_outside';
  if (rows.some((other) => other !== row && parsePosition(other.start) === startMs)) return 'audio.chapter_twice';
  if (row.title.trim() === '') return 'audio.chapter_title_missing';
  return row.url.trim() === '' || isWeb(row.url.trim()) ? undefined : 'audio.chapter_address';
}

/** Chapters as stretches: each lasts to its end, else to the next one, the last to the end. */
export const stretchesOf = (chapters: readonly Chapter[], durationMs: number): Stretch[] =>
  chapters.map(({ title, start_ms: startMs, end_ms: endMs }, at) => ({
    ...{ title, startMs },
    endMs: endMs ?? chapters[at + 1]?.start_ms ?? durationMs,
  }));

/** The stretches of rows while they are typed: those whose start can be read. */
export const stretchesOfRows = (texts: readonly string[], durationMs: number): Stretch[] =>
  stretchesOf(
    chaptersOf(texts.filter((text) => (parsePosition(rowOf(text).start) ?? durationMs) < durationMs)),
    durationMs,
  );
