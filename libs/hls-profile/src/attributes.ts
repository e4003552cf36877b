/** The value of an attribute (RFC 8216 §4.2). Quotation marks are part of the type: `NONE` and `"NONE"` are two things. */
export interface AttributeValue {
  /** Without quotation marks. */
  readonly text: string;
  readonly isQuoted: boolean;
}

export type Attributes = ReadonlyMap<string, AttributeValue>;

const attribute = /([A-Z0-9-]+)=(?:"([^"\r\n]*)"|([^",\s][^",\s]*))(?=,|$)/y;
/** What stands before the next comma that is not inside quotation marks. */
const upToComma = /(?:"[^"]*"?|[^",])*/y;

const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

function problemOf(text: string): string {
  if (text === '') return 'An attribute is missing before or after a comma. Take the comma away';
  if (/[“”„‟]/.test(text)) return `“${shorten(text)}” has typographic quotation marks. Write straight ones: "`;
  if (/^\s|\s$/.test(text))
    return `“${shorten(text)}” has a space before or after it. Attributes are separated by a comma alone`;
  return `“${shorten(text)}” is no attribute. Write NAME=value, and text in straight quotation marks`;
}

/**
 * Reads the attribute list of a tag. It never throws: what is no attribute is left out and named in `problems`.
 * @param text what stands after the colon of the tag
 */
export function parseAttributes(text: string): {
  readonly attributes: Attributes;
  readonly problems: readonly string[];
} {
  const attributes = new Map<string, AttributeValue>();
  const problems: string[] = [];
  for (let at = 0; at <= text.length;) {
    attribute.lastIndex = at;
    const found = attribute.exec(text);
    if (found) {
      const [whole, name, quoted, plain] = found;
      if (attributes.has(name!)) problems.push(`${name} stands there twice. Write it once`);
      else attributes.set(name!, { text: quoted ?? plain!, isQuoted: quoted !== undefined });
      at += whole.length + 1;
    } else {
      upToComma.lastIndex = at;
      const skipped = upToComma.exec(text)![0];
      problems.push(problemOf(skipped));
      at += skipped.length + 1;
    }
  }
  return { attributes, problems };
}

/** The text of an attribute in quotation marks; undefined when it is absent or has none. */
export function quotedOf(attributes: Attributes, name: string): string | undefined {
  const value = attributes.get(name);
  return value?.isQuoted ? value.text : undefined;
}

/** The text of an attribute without quotation marks; undefined when it is absent or has some. */
export function plainOf(attributes: Attributes, name: string): string | undefined {
  const value = attributes.get(name);
  return value && !value.isQuoted ? value.text : undefined;
}

/** A decimal number; undefined when the attribute is absent or something else. */
export function numberOf(attributes: Attributes, name: string): number | undefined {
  const text = plainOf(attributes, name);
  return text !== undefined && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}
