import { S3Error } from './s3-error.ts';

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** Content that is not escaped. */
export interface Markup {
  readonly markup: string;
}

type Content = string | number | boolean | Markup | readonly Markup[];

/** One element; content that is text is escaped. */
export function element(name: string, content: Content): Markup {
  return { markup: `<${name}>${render(content)}</${name}>` };
}

/** A whole document with this root element, in S3's namespace unless it is an error. */
export function xmlDocument(name: string, content: readonly Markup[]): string {
  const attribute = name === 'Error' ? '' : ` xmlns="${namespace}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name}${attribute}>${render(content)}</${name}>`;
}

function render(content: Content): string {
  if (typeof content !== 'object') return escapeXml(String(content));
  return Array.isArray(content) ? content.map((m: Markup) => m.markup).join('') : (content as Markup).markup;
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const entityNames = new Map(Object.entries(entities).map(([name, char]) => [char, name]));

function escapeXml(text: string): string {
  // Control characters may be part of a key.
  // eslint-disable-next-line no-control-regex
  return text.replace(/[<>&"'\u0000-\u001f]/g, (c) => `&${entityNames.get(c) ?? `#x${c.charCodeAt(0).toString(16)}`};`);
}

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name) return entities[name] ?? whole;
    const codePoint = hex ? parseInt(hex, 16) : Number(decimal);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : whole;
  });
}

/** Raw contents of the elements `name` inside `xml`, in order, in one pass. Not for nested elements of one name. */
function contents(xml: string, name: string): string[] {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const found: string[] = [];
  for (let at = 0; ;) {
    const from = xml.indexOf(open, at);
    const to = from < 0 ? -1 : xml.indexOf(close, from);
    if (to < 0) return found;
    found.push(xml.slice(from + open.length, to));
    at = to + close.length;
  }
}

/**
 * The children of a small S3 request document: for each element `item`, its `fields` as text.
 * @throws S3Error 400 `MalformedXML` for another root, no item at all, or a required field that is missing
 */
export function parseItems<F extends string>(
  xml: string,
  shape: { readonly root: string; readonly item: string; readonly fields: readonly F[] },
): Record<F, string>[] {
  const root = new RegExp(`^(?:<\\?xml[^>]*\\?>\\s*)?<${shape.root}(?:\\s[^>]*)?>`).exec(xml.trimStart());
  if (!root || !xml.trimEnd().endsWith(`</${shape.root}>`)) throw malformed();
  const items = contents(xml, shape.item);
  if (items.length === 0) throw malformed();
  return items.map((item) => {
    const fields = shape.fields.map((field) => {
      const text = contents(item, field)[0];
      if (text === undefined) throw malformed();
      return [field, unescapeXml(text)] as const;
    });
    return Object.fromEntries(fields) as Record<F, string>;
  });
}

const malformed = () => new S3Error(400, 'MalformedXML', 'The XML is not the document that was expected');
