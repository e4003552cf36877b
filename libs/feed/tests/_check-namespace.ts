import { readFileSync } from 'node:fs';
import { XMLParser, XMLValidator } from 'fast-xml-parser';

interface AttributeRule {
  readonly required?: boolean;
  /** Not required beside these values. */
  readonly unless?: Readonly<Record<string, string>>;
  readonly pattern: string;
}
interface TagRule {
  readonly parents: readonly string[];
  readonly single?: boolean;
  readonly text?: string;
  readonly children?: readonly string[];
  readonly attributes?: Readonly<Record<string, AttributeRule>>;
}
interface Checklist {
  readonly patterns: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, TagRule>>;
}

/** One element as the parser keeps it: its own name is the key of its children, in order. */
type Element = Readonly<Record<string, unknown>> & { readonly ':@'?: Readonly<Record<string, string>> };

const checklist = JSON.parse(
  readFileSync(new URL('../cases/podcast-namespace.json', import.meta.url), 'utf8'),
) as Checklist;
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  trimValues: false,
});

const nameOf = (element: Element) => Object.keys(element).find((key) => key !== ':@')!;
const matches = (pattern: string, value: string) =>
  new RegExp(`^(?:${checklist.patterns[pattern] ?? pattern})$`).test(value);

function checkElement(element: Element, name: string, parent: string): string[] {
  const rule = checklist.tags[name];
  if (!rule) return [`${name} is not of the namespace`];
  const found: string[] = [];
  const attributes = element[':@'] ?? {};
  const children = element[name] as readonly Element[];
  if (!rule.parents.includes(parent)) found.push(`${name} in ${parent}`);
  for (const [key, { required, unless = {}, pattern }] of Object.entries(rule.attributes ?? {})) {
    const value = attributes[key];
    const spared = Object.entries(unless).some(([other, text]) => attributes[other] === text);
    if (value === undefined) {
      if (required && !spared) found.push(`${name} lacks ${key}`);
    } else if (!matches(pattern, value)) found.push(`${name} ${key}=${JSON.stringify(value)}`);
  }
  for (const key of Object.keys(attributes)) if (!rule.attributes?.[key]) found.push(`${name} has ${key}`);
  const elements = children.filter((child) => nameOf(child) !== '#text');
  const text = children
    .filter((child) => nameOf(child) === '#text')
    .map((child) => String(child['#text']))
    .join('');
  if (rule.text !== undefined) {
    if (!matches(rule.text, text)) found.push(`${name} says ${JSON.stringify(text)}`);
  } else if (text.trim() !== '') found.push(`${name} has text`);
  for (const child of elements) if (!rule.children?.includes(nameOf(child))) found.push(`${nameOf(child)} in ${name}`);
  if (rule.children && elements.length === 0) found.push(`${name} is empty`);
  return found;
}

function* walk(elements: readonly Element[], parent: string): Generator<string> {
  const counts = new Map<string, number>();
  for (const element of elements) {
    const name = nameOf(element);
    if (name === '#text') continue;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (name.startsWith('podcast:')) yield* checkElement(element, name, parent);
    const children = element[name];
    if (Array.isArray(children)) yield* walk(children as Element[], name);
  }
  for (const [name, count] of counts)
    if (count > 1 && checklist.tags[name]?.single) yield `${name} stands ${count} times in ${parent}`;
}

/** The violations of the Podcasting 2.0 namespace in a document, by cases/podcast-namespace.json. */
export function namespaceFindings(xml: string): string[] {
  const valid = XMLValidator.validate(xml);
  if (valid !== true) return [`not well-formed: ${valid.err.msg}`];
  return [...walk(parser.parse(xml) as Element[], '')];
}
