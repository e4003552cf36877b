/** Elements that notes of a feed may have. */
export const noteTags = ['p', 'br', 'strong', 'em', 'a', 'ul', 'ol', 'li'] as const;
export type NoteTag = (typeof noteTags)[number];

/** Notes as data: texts, and elements with what is inside. */
export type NoteNode =
  string | { readonly tag: NoteTag; readonly href?: string | undefined; readonly inside: readonly NoteNode[] };

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? all;
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : all;
  });
}

const aliases: Readonly<Record<string, NoteTag>> = { b: 'strong', i: 'em' };
const isNoteTag = (name: string): name is NoteTag => (noteTags as readonly string[]).includes(name);

/** Addresses that a person may open: of the web and of mail, nothing that a browser would run. */
function safeAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const address = decode(text).trim();
  return /^(https?:\/\/|mailto:)/i.test(address) ? address : undefined;
}

interface Open {
  readonly tag: NoteTag;
  readonly href?: string | undefined;
  readonly inside: NoteNode[];
}

/**
 * Reads notes, which are HTML that was reduced to `noteTags` when they came in. What else is found is dropped and its text is kept, so a
 * page can show notes of anybody without trusting them. Elements that nobody closes end with the notes.
 */
export function parseNotes(html: string): readonly NoteNode[] {
  const all: NoteNode[] = [];
  const open: Open[] = [];
  const add = (node: NoteNode) => (open.at(-1)?.inside ?? all).push(node);
  for (const [token, slash, rawName, attributes] of html.matchAll(
    /<(\/?)([a-z][a-z\d]*)((?:\s(?:"[^"]*"|'[^']*'|[^'">])*)?)\/?>|<!--[\s\S]*?-->|[^<]+|</gi,
  )) {
    if (rawName === undefined) {
      if (!token.startsWith('<!--')) add(decode(token));
      continue;
    }
    const name = rawName.toLowerCase();
    const tag = aliases[name] ?? name;
    if (!isNoteTag(tag)) continue;
    if (slash === '/') {
      const at = open.findLastIndex((each) => each.tag === tag);
      if (at >= 0) open.splice(at);
      continue;
    }
    const href = tag === 'a' ? /\shref\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(attributes ?? '') : null;
    const node: Open = { tag, inside: [], ...(tag === 'a' && { href: safeAddress(href?.[1] ?? href?.[2]) }) };
    add(node);
    if (tag !== 'br') open.push(node);
  }
  return all;
}
