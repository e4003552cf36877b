import { maxDescriptionBytes } from '@longwave/command-catalog';
import sanitizeHtml, { type IOptions } from 'sanitize-html';
import { refuseField } from '../workspace/refuse-field.ts';

/** Elements that podcast apps show: text formatting, lists, tables, links and images. None runs, embeds, styles or sends anything. */
const shown: IOptions = {
  allowedTags: [...sanitizeHtml.defaults.allowedTags, 'img', 'del', 'ins', 'details', 'summary'],
  allowedAttributes: {
    '*': ['lang', 'dir'],
    a: ['href', 'title', 'rel'],
    abbr: ['title'],
    blockquote: ['cite'],
    img: ['src', 'alt', 'title', 'width', 'height'],
    ol: ['start', 'type', 'reversed'],
    q: ['cite'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan'],
    time: ['datetime'],
  },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  allowProtocolRelative: false,
  exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !attribs['src'],
};
/** The same serialisation with nothing removed. */
const unchanged: IOptions = {
  allowedTags: false,
  allowedAttributes: false,
  allowedSchemesAppliedToAttributes: [],
  allowVulnerableTags: true,
};

/** The begin of a tag, an end tag, a comment or a declaration for an HTML parser (HTML, 13.2.5.6 tag open state). */
const tagStart = /<[a-z/!?]/gi;
/** Tags of real notes number some hundreds. Deeply nested ones take an HTML parser quadratic time. */
const maxTags = 10_000;
/** An HTML parser handles each of these characters by itself. More of them, escaped, are longer than notes may be. */
const pieceStart = /[<&]/g;
const maxPieces = 50_000;

/** The text without tags, in linear time, for markup that no person wrote. */
const textOf = (markup: string): string => markup.replace(/<[^<>]*>/g, ' ').replaceAll('<', '&lt;');

/**
 * Removes scripts, embedded pages, styles, forms, event handlers and addresses that are not of the web from HTML of strangers. Text
 * without any tag stays the same byte for byte.
 * @returns `removed`: whether anything but comments was removed
 */
export function sanitizeNotes(markup: string): { readonly notes: string; readonly removed: boolean } {
  const tags = markup.match(tagStart)?.length ?? 0;
  if (tags === 0) return { notes: markup, removed: false };
  if (tags > maxTags || markup.match(pieceStart)!.length > maxPieces) return { notes: textOf(markup), removed: true };
  const notes = sanitizeHtml(markup, shown);
  return { notes, removed: notes !== sanitizeHtml(markup, unchanged) };
}

interface WithNotes {
  readonly description?: string | undefined;
  readonly summary?: string | undefined;
}

/** The changes with sanitised notes. Throws `validation_failed` for notes that are too long after sanitising. */
export function withSafeNotes<C extends WithNotes>(changes: C, maxBytes: number): C {
  const safe: WithNotes = {
    ...safeField(changes, 'description', maxBytes),
    ...safeField(changes, 'summary', maxDescriptionBytes),
  };
  return { ...changes, ...safe };
}

function safeField(changes: WithNotes, field: keyof WithNotes, maxBytes: number): WithNotes {
  const markup = changes[field];
  if (markup === undefined) return {};
  const { notes } = sanitizeNotes(markup);
  if (Buffer.byteLength(notes) > maxBytes)
    refuseField(
      `/changes/${field}`,
      'too_long',
      `At most ${maxBytes} bytes are allowed, with special characters as HTML writes them.`,
    );
  return { [field]: notes };
}
