import { SaxesParser } from 'saxes';
import { VastError } from './vast-error.ts';

const maxDepth = 32;
const maxElements = 5_000;
/** Attributes of one element. */
const maxAttributes = 64;

/** An element of VAST. */
export interface XmlElement {
  /** Without a prefix. */
  readonly name: string;
  readonly attribute: (name: string) => string | undefined;
  /** Elements of VAST in it; elements of other namespaces are left out with all they hold. */
  readonly children: readonly XmlElement[];
  /** Text and CDATA of the element itself, without the white space around it. */
  readonly text: string;
}

/** Whether a document type declaration stands before the first element. It can stand nowhere else. */
function declaresType(text: string): boolean {
  const skipped = /\s+|<\?[^]*?\?>|<!--[^]*?-->/y;
  let from = 0;
  while (skipped.test(text)) from = skipped.lastIndex;
  return /^<!doctype/i.test(text.slice(from, from + 9));
}

/**
 * The outermost element. Namespaces are taken as they come: an element belongs to VAST when it has the namespace of the outermost one, or none.
 * @throws {VastError} 100 for what is not well-formed, declares a document type, uses an entity that XML does not know, or nests deeper than 32 elements,
 * or has more than 5,000 elements or 64 attributes at one
 */
export function readXml(document: string): XmlElement {
  const text = document.trimStart();
  if (declaresType(text)) throw new VastError(100, 'The document declares a document type (DTD).');
  const refuse = (fault: string) => {
    throw new VastError(100, `The document is no XML that is read here: ${fault}.`);
  };
  const parser = new SaxesParser({
    xmlns: true,
    position: false,
    resolvePrefix: (prefix: string) => `undeclared:${prefix}`,
  });
  let outermost: XmlElement | undefined;
  let namespace = '';
  let elements = 0;
  let attributesOfElement = 0;
  const open: { readonly children: XmlElement[]; readonly texts: string[] }[] = [];
  /** How many elements are open in one that is left out, with it. */
  let foreign = 0;

  parser.on('error', ({ message }) => refuse(message.replace(/\.$/, '').slice(0, 200)));
  parser.on('doctype', () => refuse('it declares a document type'));
  parser.on('opentagstart', () => void (attributesOfElement = 0));
  parser.on('attribute', () => {
    attributesOfElement += 1;
    if (attributesOfElement > maxAttributes) refuse(`an element has more than ${maxAttributes} attributes`);
  });
  parser.on('opentag', ({ local, uri, attributes }) => {
    elements += 1;
    if (elements > maxElements) refuse(`more than ${maxElements} elements`);
    if (open.length + foreign >= maxDepth) refuse(`more than ${maxDepth} elements inside each other`);
    if (!outermost) namespace = uri;
    if (foreign > 0 || (uri !== '' && uri !== namespace)) {
      foreign += 1;
      return;
    }
    const own = { children: [] as XmlElement[], texts: [] as string[] };
    const read: XmlElement = {
      name: local,
      attribute: (name) => (Object.hasOwn(attributes, name) ? attributes[name]!.value : undefined),
      children: own.children,
      get text() {
        return own.texts.join('').trim();
      },
    };
    outermost ??= read;
    open.at(-1)?.children.push(read);
    open.push(own);
  });
  parser.on('closetag', () => {
    if (foreign > 0) foreign -= 1;
    else open.pop();
  });
  for (const event of ['text', 'cdata'] as const)
    parser.on(event, (part) => {
      if (foreign === 0) open.at(-1)?.texts.push(part);
    });
  parser.write(text).close();
  return outermost ?? refuse('it has no root element');
}
