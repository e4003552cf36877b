import { XMLParser } from 'fast-xml-parser';
import { legalText, unescapeXml } from './feed-text.ts';

/** One element, with what it holds by name. Names keep their prefix, as feeds write it: "itunes:image". */
export interface XmlNode {
  readonly children: (name: string) => readonly XmlNode[];
  /** Text and CDATA together, unescaped, without tags of its own; '' when there is none. */
  readonly text: string;
  /** Unescaped; undefined when absent. */
  readonly attribute: (name: string) => string | undefined;
}

type Raw = string | { readonly [name: string]: unknown };

/** Entities stay as they are, values stay texts, depth is bounded. */
const parser = () =>
  new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    textNodeName: '#text',
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
    processEntities: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    maxNestedTags: 40,
    isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
  });

const listOf = (value: unknown): readonly Raw[] => (Array.isArray(value) ? (value as Raw[]) : []);
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A document whose CDATA is escaped text: the parser would tear it from the text around it. Comments are left out. */
function withoutCdata(xml: string): string {
  const parts: string[] = [];
  let from = 0;
  const marks = /<!--|<!\[CDATA\[/g;
  for (let mark = marks.exec(xml); mark; mark = marks.exec(xml)) {
    const isComment = mark[0] === '<!--';
    const end = xml.indexOf(isComment ? '-->' : ']]>', marks.lastIndex);
    // The parser says what is wrong with a section that never ends.
    if (end < 0) break;
    parts.push(xml.slice(from, mark.index));
    if (!isComment) parts.push(xml.slice(marks.lastIndex, end).replace(/[&<>]/g, (character) => escapes[character]!));
    from = end + 3;
    marks.lastIndex = from;
  }
  return parts.join('') + xml.slice(from);
}

const joined = (value: unknown): string =>
  Array.isArray(value) ? value.join('') : typeof value === 'string' ? value : '';

function nodeOf(raw: Raw): XmlNode {
  const fields = typeof raw === 'string' ? { '#text': raw } : raw;
  const own = (name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined);
  return {
    children: (name) => listOf(own(name)).map(nodeOf),
    get text() {
      return legalText(unescapeXml(joined(own('#text'))));
    },
    attribute: (name) => {
      const value = own(`@${name}`);
      return typeof value === 'string' ? legalText(unescapeXml(value)) : undefined;
    },
  };
}

/** The root element of a piece of XML with this name. Throws when it is no XML, or nested too deep. */
export function parseXml(text: string, root: string): XmlNode | undefined {
  const parsed = parser().parse(withoutCdata(text)) as Raw;
  return nodeOf(parsed).children(root)[0];
}

/** Text of the first child of one of these names that has any, trimmed. */
export function firstText(node: XmlNode, ...names: readonly string[]): string | undefined {
  for (const name of names)
    for (const child of node.children(name)) {
      const text = child.text.trim();
      if (text !== '') return text;
    }
  return undefined;
}
