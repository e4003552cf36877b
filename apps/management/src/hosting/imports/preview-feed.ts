import type { GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import type { PreviewFeedResponse } from '@longwave/rpc/feed';
import { fetchFeed, frameOf, maxItems, piecesOf } from './fetch-feed.ts';
import { createFetchTurns } from './fetch-turns.ts';
import { whyLeftOut } from './imported-items.ts';
import type { ImportNote } from './import-notes.ts';
import { readItem } from './read-item.ts';

/** Feeds to look at that one process holds in memory at a time: those to import have places of their own. */
const maxFetches = 2;
/** Milliseconds that remain for reading the items. */
const reserveMs = 6_000;
/** Milliseconds that remain for the answer after reading the items. */
const answerMs = 2_000;
/** Items that a preview names as left out; it counts all. */
const maxNamed = 20;

/** Counts the items with a note of each kind about each field, the most frequent first. */
function countNotes(notesOfItems: readonly (readonly ImportNote[])[]) {
  const counts = new Map<string, { readonly kind: string; readonly field: string; items: number }>();
  for (const notes of notesOfItems)
    for (const key of new Set(notes.map(({ kind, field }) => `${kind} ${field}`))) {
      const [kind, field] = [key.slice(0, key.indexOf(' ')), key.slice(key.indexOf(' ') + 1)];
      const count = counts.get(key) ?? { kind, field, items: 0 };
      count.items += 1;
      counts.set(key, count);
    }
  return [...counts.values()].toSorted((a, b) => b.items - a.items || a.field.localeCompare(b.field)).slice(0, 200);
}

/** The caller that looks at a feed. */
type Onlooker = Pick<RpcContext, 'deadline' | 'signal'>;

/** Throws `timeout` when no answer would reach the caller any more: it has left, or its deadline is near. */
function assertAwaited({ deadline, signal }: Onlooker): void {
  if (signal.aborted || Date.now() >= deadline.getTime() - answerMs)
    throw new Problem('timeout', 'The feed could not be read in time. It can be imported without a preview.');
}

/**
 * What an import would make of the items of a feed. Each is read once, between other work, for as long as the caller waits: a feed of 50 MB takes many
 * seconds. Throws `timeout`.
 */
async function readItems(document: string, onlooker: Onlooker) {
  const pieces = piecesOf(document);
  const { namespaces } = frameOf(pieces);
  /** GUID → index of its first item. */
  const imported = new Map<string, number>();
  const notes: (readonly ImportNote[])[] = [];
  const leftOut: { readonly position: number; readonly title: string; readonly problem: string }[] = [];
  let audioBytes = 0;
  for (const [index, xml] of pieces.items.slice(0, maxItems).entries()) {
    assertAwaited(onlooker);
    const read = readItem(xml, namespaces);
    const position = index + 1;
    if (read.item && !imported.has(read.item.guid)) imported.set(read.item.guid, index);
    const problem = read.item ? whyLeftOut(read, index, imported) : read.problem;
    if (problem !== undefined) leftOut.push({ position, title: read.item?.title ?? '', problem });
    else {
      notes.push(read.item ? read.notes.list : read.notes);
      audioBytes += read.item?.enclosureBytes ?? 0;
      if (read.item && read.item.enclosureUrl === undefined)
        leftOut.push({ position, title: read.item.title, problem: 'The item names no file at a web address.' });
    }
    await new Promise((turn) => setImmediate(turn));
  }
  const beyond = Math.max(0, pieces.items.length - maxItems);
  return {
    noteCounts: countNotes(notes),
    leftOut: leftOut.slice(0, maxNamed),
    leftOutItems: leftOut.length + beyond,
    audioBytes,
  };
}

/**
 * Makes a function that says what `podcast.import_feed` would take over of a feed, and what it would not, and makes nothing. It is refused
 * where the import would be, but for a locked feed, which it shows as such. Throws `timeout` when the feed takes longer to read than the caller waits.
 */
export function createPreviewFeed(fetch: GuardedFetch) {
  const takeTurn = createFetchTurns(maxFetches);
  return (workspaceId: string, feedUrl: string, onlooker: Onlooker): Promise<PreviewFeedResponse> =>
    takeTurn(workspaceId, async () => {
      assertAwaited(onlooker);
      const endsAtMs = onlooker.deadline.getTime() - reserveMs;
      const { bytes, channel, itemCount } = await fetchFeed(fetch, feedUrl, {
        now: Date.now,
        endsAtMs,
        evenLocked: true,
      });
      const {
        title = '',
        author = '',
        description = '',
        language = '',
        artwork_url: artworkUrl = '',
      } = channel.settings;
      return {
        ...{ title, author, description, language, artworkUrl },
        isLocked: channel.locked,
        isBlocked: channel.blocked,
        items: itemCount,
        channelNotes: [...channel.notes.list],
        ...(await readItems(bytes.toString(), onlooker).then(({ audioBytes, ...rest }) => ({
          ...rest,
          audioBytes: BigInt(audioBytes),
        }))),
      };
    });
}

export type PreviewFeed = ReturnType<typeof createPreviewFeed>;
