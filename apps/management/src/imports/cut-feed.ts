/** A feed in pieces that are parsed one by one, so that a large one never holds up the service. */
export interface FeedPieces {
  /** The channel without its items. */
  readonly channel: string;
  /** One `<item>…</item>` each, in the order of the feed. */
  readonly items: readonly string[];
}

/** Far more than are imported; what comes after is not looked at. */
const itemsMax = 20_000;

const marks = /<!--|<!\[CDATA\[|<item(?=[\s>])|<\/item\s*>/g;

/**
 * Cuts an RSS document at its items; comments and CDATA are passed over. Undefined when it is no RSS, or when it declares
 * entities: no podcast feed needs them, and expanding them is an attack.
 */
export function cutFeed(document: string): FeedPieces | undefined {
  const start = document.search(/<(?:rss|rdf:RDF)[\s>]/);
  if (start < 0 || /<!ENTITY/i.test(document.slice(0, start))) return undefined;
  const channelAt = document.indexOf('<channel', start);
  if (channelAt < 0) return undefined;

  const items: string[] = [];
  const outside: string[] = [];
  let itemAt = -1;
  let keptTo = channelAt;
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
      if (items.length === itemsMax) return { channel: outside.join(''), items };
    }
  }
  if (itemAt < 0) outside.push(document.slice(keptTo));
  return { channel: outside.join(''), items };
}
