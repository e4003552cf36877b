import type { ObjectStore } from '@longwave/object-store';
import { frameOf, maxItems, piecesOf } from './fetch-feed.ts';
import { readItem, type ReadableItem } from './read-item.ts';
import type { Namespaces } from './xml-node.ts';

/** A feed as `podcast.import_feed` stored it. */
export async function readStoredFeed(store: ObjectStore, storageKey: string) {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.get(storageKey)) chunks.push(chunk as Buffer);
  const pieces = piecesOf(Buffer.concat(chunks).toString());
  return { items: pieces.items, frame: frameOf(pieces) };
}

/** GUID → index of the item that is imported: the first, which is the newest and the one that apps show. */
export async function findImportedItems(
  items: readonly string[],
  namespaces: Namespaces,
): Promise<Map<string, number>> {
  const imported = new Map<string, number>();
  for (const [index, xml] of items.slice(0, maxItems).entries()) {
    const { item } = readItem(xml, namespaces);
    if (item && !imported.has(item.guid)) imported.set(item.guid, index);
    // A large feed is parsed piece by piece between other work.
    await new Promise((turn) => setImmediate(turn));
  }
  return imported;
}

/** Why the item at an index is not imported; undefined when it is. */
export function whyLeftOut(
  { item: { guid } }: ReadableItem,
  index: number,
  imported: ReadonlyMap<string, number>,
): string | undefined {
  const importedIndex = imported.get(guid);
  if (importedIndex === index) return undefined;
  return importedIndex === undefined
    ? `Only the newest ${maxItems} items are imported.`
    : `It has the same guid as item ${importedIndex + 1}, which is imported.`;
}
