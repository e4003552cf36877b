import { isMeant } from './check.ts';
import type { Schema } from './type-forms.ts';

/** Values of a form while one types: what is not filled in is undefined or an empty text. */
export type Draft = Readonly<Record<string, unknown>>;

/** Whether a value is an object with names, and no list. */
export const isObject = (value: unknown): value is Draft =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The form of a value with several forms: the one that was meant, else the first. */
export const meantForm = (schema: Schema, value: unknown): Schema => {
  const forms = schema.oneOf ?? schema.anyOf;
  return forms ? (forms.find((form) => isMeant(form, value)) ?? forms[0] ?? {}) : schema;
};

function cleanObject(schema: Schema, value: Draft, isRequired: boolean): Draft | undefined {
  const { properties = {}, required = [] } = schema;
  const entriesWith = (isNeeded: (name: string) => boolean) =>
    Object.entries(properties).flatMap(([name, of]) => {
      const clean = cleaned(of, value[name], isNeeded(name));
      return clean === undefined ? [] : [[name, clean] as const];
    });
  if (!isRequired && entriesWith(() => false).length === 0) return undefined;
  return Object.fromEntries(entriesWith((name) => required.includes(name)));
}

/** What is sent of a value: without spaces around texts, and without what was not filled in. Lists and groups that are needed are sent empty. */
export function cleaned(schema: Schema, value: unknown, isRequired = true): unknown {
  const form = meantForm(schema, value);
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim();
  if (form.type === 'array') {
    const items = (Array.isArray(value) ? value : [])
      .map((item) => cleaned(form.items ?? {}, item, false))
      .filter((item) => item !== undefined);
    return items.length > 0 || isRequired || Array.isArray(value) ? items : undefined;
  }
  if (form.type === 'object') return cleanObject(form, isObject(value) ? value : {}, isRequired);
  return value === null ? undefined : value;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const takesNull = ({ type, anyOf = [], oneOf = [] }: Schema): boolean =>
  type === 'null' || [...anyOf, ...oneOf].some(takesNull);

/** A field of a form beside what the resource has of it, both as they would be sent. */
const besides = ({ properties = {}, required = [] }: Schema, draft: Draft, attributes: Draft) =>
  Object.entries(properties).map(([name, of]) => {
    const isNeeded = required.includes(name);
    const [now, before] = [draft[name], attributes[name]].map((value) => cleaned(of, value, isNeeded));
    return { name, of, isNeeded, now, isChanged: !isSame(now, before) };
  });

/** The changes of a command: what it needs and what differs from what the resource has, null for what was emptied; everything, for a new one. */
export function changesOf(schema: Schema, draft: Draft, attributes: Draft | undefined): Draft {
  if (!attributes) return cleaned(schema, draft) as Draft;
  const sent = besides(schema, draft, attributes).flatMap(({ name, of, isNeeded, now, isChanged }) => {
    if (now !== undefined) return isNeeded || isChanged ? [[name, now]] : [];
    return isChanged && !isNeeded && takesNull(of) ? [[name, null]] : [];
  });
  return Object.fromEntries(sent) as Draft;
}

/** The fields that were emptied though the command can only change them: they would stay as they are without a word. */
export const keptFull = (schema: Schema, draft: Draft, attributes: Draft | undefined): readonly string[] =>
  attributes === undefined
    ? []
    : besides(schema, draft, attributes).flatMap(({ name, of, isNeeded, now, isChanged }) =>
        now === undefined && isChanged && !isNeeded && !takesNull(of) ? [name] : [],
      );

/** The fields that differ from what the resource has. */
export const changedFields = (schema: Schema, draft: Draft, attributes: Draft): readonly string[] =>
  besides(schema, draft, attributes).flatMap(({ name, isChanged }) => (isChanged ? [name] : []));

/** What the form of a command begins with: what the resource has of its fields. */
export const draftOf = ({ properties = {} }: Schema, attributes: Draft): Draft =>
  Object.fromEntries(
    Object.keys(properties).flatMap((name) => (attributes[name] === undefined ? [] : [[name, attributes[name]]])),
  );

/** An amount in micros as one types it: `18500000` is `18.5`. */
export function amountText(micros: unknown): string {
  if (typeof micros !== 'string' || !/^\d+$/.test(micros)) return '';
  const digits = micros.padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0+$/, '').padEnd(2, '0');
  return `${digits.slice(0, -6)}.${fraction}`;
}

/** A typed amount in micros; undefined for what is no amount. A comma is as good as a point. */
export function microsOf(text: string): string | undefined {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:[.,](\d{0,6}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return String(BigInt(whole + fraction.padEnd(6, '0')));
}

/** Texts of a list that is typed with commas. */
export const textsOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
