/** A feed in pieces that are parsed one by one, so that a large feed never blocks the service. */
export interface FeedPieces {
  /** The document without its prolog and its items. */
  readonly frame: string;
  /** One `<item>…</item>` each, in the order of the feed. */
  readonly items: readonly string[];
}

/** The reason for which a document cannot be cut. */
export type CutFault = 'no_rss' | 'own_declarations';

/** Far more than are imported; later items are ignored. */
const maxItems = 20_000;
/** Characters before the feed itself: declaration, document type, comments. */
const maxProlog = 100_000;

const marks = /<!--|<!\[CDATA\[|<item(?=[\s>])|<\/item\s*>/g;
/** A document type with declarations of its own (XML 1.0, 2.8: internal subset). */
const ownDeclarations = /<!DOCTYPE[^[>]{0,2000}\[/i;

/**
 * Cuts an RSS document at its items; skips comments and CDATA. It accepts a document type and never fetches it, but refuses one with
 * declarations of its own: expanding declared entities is an attack, and omitting them loses text.
 */
export function cutFeed(document: string): FeedPieces | CutFault {
  const start = document.search(/<(?:rss|rdf:RDF)[\s>]/);
  if (ownDeclarations.test(document.slice(0, start < 0 ? 10_000 : Math.min(start, maxProlog))))
    return 'own_declarations';
  const channelAt = start < 0 || start > maxProlog ? -1 : document.indexOf('<channel', start);
  if (channelAt < 0) return 'no_rss';

  const items: string[] = [];
  const outside: string[] = [];
  let itemAt = -1;
  let keptTo = start;
  marks.lastIndex = channelAt;
  for (let mark = marks.exec(document); mark; mark = marks.exec(document)) {
    const [found] = mark;
    if (found === '<!--' || found === '<![CDATA[') {
      const end = document.indexOf(found === '<!--' ? '-->' : ']]>', mark.index);
      if (end < 0) break;
      marks.lastIndex = end + 3;
    } else if (found === '<item') {
      if (itemAt >= 0) continue;
      itemAt = mark.index;
      outside.push(document.slice(keptTo, itemAt));
    } else if (itemAt >= 0) {
      keptTo = marks.lastIndex;
      items.push(document.slice(itemAt, keptTo));
      itemAt = -1;
      if (items.length === maxItems) return { frame: outside.join(''), items };
    }
  }
  if (itemAt < 0) outside.push(document.slice(keptTo));
  return { frame: outside.join(''), items };
}
