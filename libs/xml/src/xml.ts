/** Code points that XML 1.0 §2.2 does not allow in any form, lone surrogates included. */
const illegal =
  // eslint-disable-next-line no-control-regex -- control characters are what is removed
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text without the characters XML forbids. */
export const legalText = (text: string): string => text.replace(illegal, '');

/** Text for element content, or for a quoted attribute of HTML. */
export const escapeXml = (text: string): string =>
  legalText(text).replace(/[&<>"']/g, (character) => escapes[character]!);

/** The value of a quoted attribute, with line breaks and tabs as references: a reader turns plain ones into spaces (XML 1.0 §3.3.3). */
const escapeAttribute = (text: string): string =>
  escapeXml(text).replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);

/** A CDATA section that holds any text: `]]>` is split over two sections. */
const cdata = (text: string): string => `<![CDATA[${legalText(text).replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;

export type Attributes = Readonly<Record<string, string | number | undefined>>;

function tag(name: string, attributes: Attributes): string {
  const pairs = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return [name, ...pairs.map(([key, value]) => `${key}="${escapeAttribute(String(value))}"`)].join(' ');
}

/** An element with text, which is escaped; nothing when there is no text. */
export function textElement(
  name: string,
  text: string | number | undefined,
  attributes: Attributes = {},
): readonly string[] {
  return text === undefined || text === '' ? [] : [`<${tag(name, attributes)}>${escapeXml(String(text))}</${name}>`];
}

/** An element with text that may be missing. */
export const taggedElement = (name: string, text: string | undefined, attributes: Attributes): string =>
  textElement(name, text, attributes)[0] ?? emptyElement(name, attributes);

/** An element whose text may be markup for a later reader, kept in CDATA. */
export function cdataElement(name: string, text: string | undefined, attributes: Attributes = {}): readonly string[] {
  return text === undefined || text === '' ? [] : [`<${tag(name, attributes)}>${cdata(text)}</${name}>`];
}

/** The start of an element that is closed elsewhere. */
export const openElement = (name: string, attributes: Attributes): string => `<${tag(name, attributes)}>`;

/** An element without content. */
export const emptyElement = (name: string, attributes: Attributes): string => `<${tag(name, attributes)}/>`;

/** An element around the lines of its children. */
export function element(name: string, attributes: Attributes, lines: readonly string[]): readonly string[] {
  return [`<${tag(name, attributes)}>`, ...lines, `</${name}>`];
}
