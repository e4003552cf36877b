import { fieldsOf, instantIn } from '../parts/form/zone-time.ts';

/** What the two controls of an instant hold: `2026-03-29` and `02:30`, each empty while nothing is typed. */
export interface TypedInstant {
  readonly day: string;
  readonly time: string;
}

/**
 * The value of a typed instant: ISO 8601 in UTC, the first of two that clocks show; undefined where nothing is typed. Of half a time, or one that clocks
 * jump over, it is the text itself, which the check refuses: left out, a change that is meant for later would take effect at once.
 */
export function heldInstant({ day, time }: TypedInstant, zone: string): string | undefined {
  if (day === '' && time === '') return undefined;
  const at = instantIn(day, time, zone);
  if (at.kind === 'one') return at.at;
  return at.kind === 'fold' ? at.first : `${day}T${time}`;
}

/** What the controls show of a value. */
export function typedInstant(held: unknown, zone: string): TypedInstant {
  if (typeof held !== 'string') return { day: '', time: '' };
  if (held.endsWith('Z') && !Number.isNaN(Date.parse(held))) return fieldsOf(held, zone);
  const [day = '', time = ''] = held.split('T');
  return { day, time };
}
