import { dateOf, mergePrefixMarks, type PrefixMark } from '@longwave/audience';
import { createPartitions, visitPartitions } from '../files/partitions.ts';
import type { RecordJudgement, createClassifyRecord } from './classify-records.ts';
import type { FileColumns } from './column-report.ts';
import type { LogFile } from './read-log.ts';

/** One of the `prefix_requests`: a listener, an episode and a UTC date. */
export interface PrefixRow extends PrefixMark {
  readonly listenerKey: string;
  readonly podcastId: string;
  readonly episodeId: string;
  /** UTC date. */
  readonly windowOn: string;
}

/** The outcome of the records of one file. */
export interface FileOutcome {
  readonly records: number;
  readonly judged: ReadonlyMap<RecordJudgement, number>;
  readonly malformed: number;
  /** The first 20 malformed records. */
  readonly problems: readonly { readonly line: number; readonly problem: string }[];
  readonly columns: FileColumns;
}

export interface GatheredRequests {
  readonly outcomes: readonly FileOutcome[];
  /** Every listener, episode and date once, in groups. It can be read once. */
  readonly rows: AsyncIterable<readonly PrefixRow[]>;
}

const maxProblems = 20;
/** Lines that are merged at once: some 100 MB of memory. */
const maxLines = 300_000;

async function spreadFile(
  { entries, columns }: LogFile,
  classify: ReturnType<typeof createClassifyRecord>,
  add: (key: string, line: string) => void,
  onRecords: (count: number) => void,
): Promise<FileOutcome> {
  const judged = new Map<RecordJudgement, number>();
  const problems: { line: number; problem: string }[] = [];
  let records = 0;
  let malformed = 0;
  for await (const group of entries) {
    for (const entry of group) {
      if ('problem' in entry) {
        malformed += 1;
        if (problems.length < maxProblems) problems.push({ line: entry.line, problem: entry.problem });
        continue;
      }
      const { judgement, kept } = classify(entry.record);
      judged.set(judgement, (judged.get(judgement) ?? 0) + 1);
      if (kept)
        add(
          `${kept.listenerKey} ${kept.podcastId} ${kept.episodeId} ${dateOf(kept.startedAtMs)}`,
          `${kept.startedAtMs} ${kept.firstTwo ? 1 : 0}`,
        );
    }
    records += group.length;
    onRecords(group.length);
  }
  return { records, judged, malformed, problems, columns: columns() };
}

/**
 * Classifies the records of files and merges those of one listener, episode and date in a bounded memory: counted records go into temporary
 * files, which hold no address and no user agent.
 * @param folder for the temporary files; removed by the caller
 */
export async function gatherRequests(
  files: readonly LogFile[],
  classify: ReturnType<typeof createClassifyRecord>,
  folder: string,
  onRecords: (count: number) => void,
): Promise<GatheredRequests> {
  const spread = createPartitions(folder);
  const outcomes: FileOutcome[] = [];
  for (const file of files) outcomes.push(await spreadFile(file, classify, spread.add, onRecords));
  const rows = async function* () {
    for await (const part of visitPartitions(spread, folder, maxLines)) {
      const marks = new Map<string, PrefixMark>();
      for await (const group of part.read())
        for (const [key, line] of group) {
          const [startedAtMs, firstTwo] = line.split(' ');
          const mark = { startedAtMs: Number(startedAtMs), firstTwo: firstTwo === '1' };
          const known = marks.get(key);
          marks.set(key, known ? mergePrefixMarks(known, mark) : mark);
        }
      yield [...marks].map(([key, mark]) => {
        const [listenerKey, podcastId, episodeId, windowOn] = key.split(' ') as [string, string, string, string];
        return { listenerKey, podcastId, episodeId, windowOn, ...mark };
      });
    }
  };
  return { outcomes, rows: rows() };
}
