import { isObject } from '../form-value.ts';
import type { Schema } from '../type-forms.ts';

/** Whether a value narrows nothing: what the catalog takes for a dimension that is not named. */
function isOpen(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 'any') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every(isOpen);
}

/** Dimensions of a targeting that narrow it, in the order of the catalog. */
export const usedRules = ({ properties = {} }: Schema, value: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.keys(properties).filter((name) => !isOpen(value[name]));

/** What a rule begins with that somebody adds; nothing where it begins empty. */
export const firstRule = (name: string, zone: string): unknown =>
  name === 'dayparts' ? { time_zone: zone, hours: [] } : undefined;

/** Whether a schema is that of a targeting: dimensions with what is in and what is out, and hours of the week. */
export const isTargeting = ({ properties }: Schema): boolean =>
  properties?.['countries'] !== undefined && properties['dayparts'] !== undefined;

/** Examples of words that have a pattern; they are the same in every language. */
const examples: Readonly<Record<string, string>> = {
  '^[A-Z]{2}$': 'DE, AT, CH',
  '^[A-Z]{2}-[A-Z0-9]{1,3}$': 'DE-BY, US-CA',
  '^[a-z]{2,3}$': 'de, en',
};

/** An example of what a list of words takes; undefined where any word does. */
export const exampleOf = ({ items }: Schema): string | undefined => examples[items?.pattern ?? ''];
