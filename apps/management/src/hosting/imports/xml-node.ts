import { SaxesParser } from 'saxes';
import { legalText, namedCharacters, withoutCdata } from './feed-text.ts';
import { elementName, undeclaredNamespace } from './xml-names.ts';

/** An element of a feed. */
export interface XmlNode {
  /** Name in the document, with its own prefix. */
  readonly label: string;
  /** Name for `children`; undefined for an element of an unknown namespace. */
  readonly name: string | undefined;
  /** Children of one name, such as "title" or "itunes:image": the prefix stands for the namespace, whatever the document calls it. */
  readonly children: (name: string) => readonly XmlNode[];
  /** Children that were not read by name so far, elements of unknown namespaces included. */
  readonly unread: () => readonly XmlNode[];
  /** Text and CDATA of the element and of its descendants; '' when they hold no text. */
  readonly text: string;
  /** Undefined when absent. */
  readonly attribute: (name: string) => string | undefined;
  readonly attributeCount: number;
}

/** Prefix → address, as declared around a piece of a document. */
export type Namespaces = Readonly<Record<string, string>>;

export interface ParsedXml {
  readonly node: XmlNode;
  /** The fault of a piece that is not well-formed, which was read up to it; undefined for a well-formed one. */
  readonly fault: string | undefined;
  /** Declared at the requested element and around it. */
  readonly namespaces: Namespaces;
}

/** Only hostile feeds nest deeper. */
const maxDepth = 40;
/** Elements of one piece. */
const maxElements = 20_000;
const maxFaults = 100;
/** Attributes of one element. */
const maxAttributes = 1_000;
/** Real feeds declare about ten around their items; each item is parsed with them. */
const maxNamespaces = 100;
const maxNamespaceCharacters = 10_000;

/** Throws when a document declares more namespaces around its items than any feed uses. */
function boundNamespaces(namespaces: Namespaces): void {
  const declared = Object.entries(namespaces);
  if (declared.length > maxNamespaces) throw new Error(`more than ${maxNamespaces} namespaces`);
  const characters = declared.reduce((sum, [prefix, uri]) => sum + prefix.length + uri.length, 0);
  if (characters > maxNamespaceCharacters)
    throw new Error(`namespaces of more than ${maxNamespaceCharacters} characters`);
}

interface Element extends XmlNode {
  readonly own: {
    readonly byName: Map<string, Element[]>;
    readonly all: Element[];
    readonly texts: (string | Element)[];
  };
}

function createElement(label: string, name: string | undefined, attributes: ReadonlyMap<string, string>): Element {
  const own: Element['own'] = { byName: new Map(), all: [], texts: [] };
  const read = new Set<Element>();
  return {
    own,
    label,
    name,
    attributeCount: attributes.size,
    children: (name) => {
      const found = own.byName.get(name) ?? [];
      for (const child of found) read.add(child);
      return found;
    },
    unread: () => own.all.filter((child) => !read.has(child)),
    get text() {
      return own.texts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
    },
    attribute: (name) => attributes.get(name),
  };
}

/**
 * Parses one piece of a feed: an item, or a document without its items. Recognises namespaces by their address, never expands entities that
 * the document declares, and reads a piece that is not well-formed up to its fault. Throws when the piece nests deeper than 40 elements or
 * has more than 20,000 elements, 100 faults, 1,000 attributes at one element or 100 namespaces. Undefined without an element.
 * @param inner the requested child of the outermost element, such as the channel of a document
 * @param outer namespaces that are declared around the piece
 */
export function parseXml(text: string, inner?: string, outer: Namespaces = {}): ParsedXml | undefined {
  const parser = new SaxesParser({
    xmlns: true,
    position: false,
    additionalNamespaces: { ...outer },
    resolvePrefix: undeclaredNamespace,
  });
  parser.ENTITIES = namedCharacters;
  const top = createElement('', undefined, new Map());
  const path: Element[] = [top];
  const namespaces: Record<string, string> = { ...outer };
  // RSS 2.0 has no namespace, but some feeds give it one.
  let coreUri = '';
  let elements = 0;
  const faults: string[] = [];
  parser.on('error', ({ message }) => {
    faults.push(message);
    if (faults.length > maxFaults) throw new Error(`no XML: ${message}`);
  });
  let attributesOfElement = 0;
  parser.on('opentagstart', () => {
    attributesOfElement = 0;
  });
  parser.on('attribute', () => {
    attributesOfElement += 1;
    if (attributesOfElement > maxAttributes) throw new Error(`an element of more than ${maxAttributes} attributes`);
  });
  parser.on('opentag', ({ name, prefix, local, uri, attributes, ns }) => {
    elements += 1;
    if (path.length > maxDepth) throw new Error(`more than ${maxDepth} elements inside each other`);
    if (elements > maxElements) throw new Error(`more than ${maxElements} elements`);
    if (path.length === 1 || (path.length === 2 && local === inner)) {
      Object.assign(namespaces, ns);
      boundNamespaces(namespaces);
    }
    const values = new Map<string, string>();
    for (const { name: attribute, value } of Object.values(attributes))
      if (!/^xmlns(?::|$)/.test(attribute)) values.set(attribute, legalText(value));
    const { own } = path.at(-1)!;
    const isCore = prefix === '' && (path.length === 1 || uri === coreUri);
    if (isCore) coreUri = uri;
    const known = elementName(isCore ? '' : uri, local);
    const element = createElement(name, known, values);
    if (known !== undefined) {
      const alike = own.byName.get(known);
      if (alike) alike.push(element);
      else own.byName.set(known, [element]);
    }
    own.all.push(element);
    own.texts.push(element);
    path.push(element);
  });
  parser.on('closetag', () => void path.pop());
  parser.on('text', (part) => void path.at(-1)!.own.texts.push(legalText(part)));
  parser.write(withoutCdata(text)).close();
  const [outermost] = top.own.all;
  const node = inner === undefined ? outermost : outermost?.children(inner)[0];
  return node && { node, fault: faults[0], namespaces };
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
