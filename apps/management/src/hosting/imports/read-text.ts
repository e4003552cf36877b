import { maxDescriptionBytes } from '@longwave/command-catalog';
import { importNotes, oneLine } from './feed-text.ts';
import { quoted, type ImportNotes } from './import-notes.ts';
import { firstText, type XmlNode } from './xml-node.ts';

/** The text of the first of these elements that has any; another text in a later one is noted as lost. */
function preferred(node: XmlNode, names: readonly string[], notes: ImportNotes): string | undefined {
  const found = names.flatMap((name) => {
    const text = firstText(node, name);
    return text === undefined ? [] : [{ name, text }];
  });
  const [first, ...others] = found;
  for (const { name, text } of others)
    if (text !== first!.text) notes.lost(name, `${first!.name} is used instead of ${quoted(text)}.`);
  return first?.text;
}

/** One line of text from the first of these elements that has any; a longer one is cut and noted. */
export function readLine(
  node: XmlNode,
  field: string,
  names: readonly string[],
  notes: ImportNotes,
  maxCharacters = 255,
): string | undefined {
  const line = oneLine(preferred(node, names, notes), Number.MAX_SAFE_INTEGER);
  if (line !== undefined && line.length > maxCharacters)
    notes.changed(field, `The text was cut to ${maxCharacters} characters.`);
  return oneLine(line, maxCharacters);
}

/** Text or HTML, sanitised and bounded; notes what that removes. */
function readNotes(field: string, text: string | undefined, maxBytes: number, notes: ImportNotes): string | undefined {
  if (text === undefined) return undefined;
  const { notes: kept, removed, cut } = importNotes(text, maxBytes);
  if (removed) notes.changed(field, 'Scripts, embeds, forms, styles or unsafe links were removed.');
  if (cut) notes.changed(field, `The text was cut to ${maxBytes} bytes.`);
  return kept;
}

/**
 * The texts about a channel or an item: the longest form becomes the description, a shorter one beside it the summary. A third that
 * differs from both is noted as lost.
 * @param order elements that hold the description, the best first
 */
export function readTexts(
  node: XmlNode,
  order: readonly string[],
  maxBytes: number,
  notes: ImportNotes,
): { readonly description: string; readonly summary: string | undefined; readonly subtitle: string | undefined } {
  const found = order.flatMap((name) => {
    const text = firstText(node, name);
    return text === undefined ? [] : [{ name, text }];
  });
  const subtitle = readLine(node, 'subtitle', ['itunes:subtitle'], notes);
  const [best, ...others] = found;
  const different = others.filter(({ text }) => text !== best?.text);
  const [short, ...rest] = different;
  for (const { name, text } of rest)
    if (text !== short!.text) notes.lost(name, `Another description is used instead of ${quoted(text)}.`);
  return {
    description: readNotes('description', best?.text ?? subtitle, maxBytes, notes) ?? '',
    summary: readNotes('summary', short?.text, maxDescriptionBytes, notes),
    subtitle,
  };
}

/** Words of itunes:keywords, without repetitions. */
export function readKeywords(node: XmlNode): string[] {
  const text = firstText(node, 'itunes:keywords', 'media:keywords') ?? '';
  return [...new Set(text.split(',').flatMap((word) => oneLine(word, 128) ?? []))];
}

/** The address of the picture of a channel or an item, from any element that may hold it; the largest of several sizes. */
export function readPicture(node: XmlNode): string | undefined {
  const attributes = (name: string, attribute: string) =>
    node.children(name).map((tag) => tag.attribute(attribute) ?? tag.text);
  const sizes = attributes('podcast:images', 'srcset')
    .flatMap((text) => text.split(','))
    .map((part) => /^\s*(\S+)\s+(\d+)w\s*$/.exec(part))
    .filter((match) => match !== null)
    .sort((a, b) => Number(b[2]) - Number(a[2]));
  const pictures = node.children('media:content').filter((tag) => tag.attribute('medium') === 'image');
  const candidates = [
    ...attributes('itunes:image', 'href'),
    ...attributes('podcast:image', 'href'),
    ...sizes.map(([, url]) => url!),
    ...attributes('googleplay:image', 'href'),
    ...node.children('image').flatMap((tag) => firstText(tag, 'url') ?? []),
    ...attributes('media:thumbnail', 'url'),
    ...pictures.map((tag) => tag.attribute('url') ?? ''),
  ];
  return candidates.map((text) => text.trim()).find((text) => text !== '');
}

/** A value as `parse` reads it; a text that it cannot read is noted as lost. */
export function readParsed<T>(
  node: XmlNode,
  field: string,
  names: readonly string[],
  parse: (text: string) => T | undefined,
  notes: ImportNotes,
): T | undefined {
  const text = preferred(node, names, notes);
  const value = text === undefined ? undefined : parse(text);
  if (text !== undefined && value === undefined) notes.lost(field, `${quoted(text)} is not valid here.`);
  return value;
}

/** Notes every non-empty element that nothing has read. */
export function noteUnread(node: XmlNode, remade: ReadonlySet<string>, notes: ImportNotes): void {
  for (const child of node.unread()) {
    const text = child.text.trim();
    if (child.name !== undefined && remade.has(child.name)) continue;
    if (text === '' && child.attributeCount === 0) continue;
    notes.lost(
      child.label,
      text === '' ? 'This service has no field for it.' : `This service has no field for it: ${quoted(text)}.`,
    );
  }
}
