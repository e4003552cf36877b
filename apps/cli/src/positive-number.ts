import { UsageError } from './command.ts';

/** The number of an option, or undefined when it was not typed. Throws `UsageError` for anything but a number above 0. */
export function positiveNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value)))
    throw new UsageError(`--${option} must be a number above 0, not “${text}”.`);
  return value;
}
