import { frameMs, nextSilence, type Silences } from './snap.ts';

/** A key that is pressed on a break. */
export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

/** What a key does with a break: moves it to a time, takes it away, plays its join. */
export type FlagDeed = { readonly toMs: number } | 'remove' | 'hear';

const arrows: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
const leaps: Readonly<Record<string, number>> = { PageDown: -10_000, PageUp: 10_000 };

/**
 * Arrows move by 0.1 s, with Shift by a second, with Alt by a frame; page keys by ten seconds; S to the next silence, with Shift to the one before.
 * Undefined for a key that does nothing here.
 */
export function flagDeed({ key, shiftKey, altKey }: KeyPress, atMs: number, silences: Silences): FlagDeed | undefined {
  const arrow = arrows[key];
  if (arrow !== undefined) return { toMs: atMs + arrow * (altKey ? frameMs : shiftKey ? 1000 : 100) };
  const leap = leaps[key];
  if (leap !== undefined) return { toMs: atMs + leap };
  if (key.toLowerCase() === 's') return { toMs: nextSilence(atMs, silences, !shiftKey) ?? atMs };
  if (key === 'Delete' || key === 'Backspace') return 'remove';
  return key === 'Enter' ? 'hear' : undefined;
}
