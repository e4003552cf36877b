import { hasText, t } from '../messages/messages.ts';

const lastPart = (type: string) => type.split('.')[1] ?? type;

/** The text of a derived key; the last part of the key itself, in words, where these pages have none. */
const derived = (key: string): string => (hasText(key) ? t(key) : lastPart(key).replaceAll('_', ' '));

/** What a field of a command is called. */
export const fieldName = (field: string): string => derived(`field.${field}`);
/** What an attribute is called where its value is shown: without what only a form has to say. */
export function attributeName(name: string): string {
  const key = `attribute.${name}`;
  return hasText(key) ? t(key) : fieldName(name);
}
/** What one of the values of a field is called. */
export const choiceName = (value: string): string => derived(`enum.${value}`);
/** What a lifecycle state is called. */
export const stateName = (state: string): string => derived(`lifecycle.${state}`);
/** What the resources of a type are called, on a list of them. */
export const typeName = (type: string): string => derived(`types.${type}`);
/** What one resource of a type is called, inside a sentence. */
export const nounName = (type: string): string => derived(`noun.${type}`);
/** What a command is called: `Book`; by what it makes, `New line item`. To halt is to act at once, whatever that makes. */
export const commandName = (type: string, makes?: string): string =>
  makes === undefined || type === 'serving.halt'
    ? derived(`do.${lastPart(type)}`)
    : t('ads.new', { noun: nounName(makes) });
/** What was decided about a line item for a break, and why. */
export const verdictName = (code: string): string => derived(`verdict.${code}`);
