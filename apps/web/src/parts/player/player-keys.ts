import { frameMs } from '../waveform/snap.ts';

/** A key that is pressed where a player listens. */
export interface PlayerKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** What a key does: begins or stops, or moves by milliseconds. */
type PlayerDeed = 'toggle' | { readonly skipMs: number };

/** How far the buttons, the keys J and L, and those of the system move. */
export const backMs = -15_000;
export const forwardMs = 30_000;

const deeds: Readonly<Record<string, PlayerDeed>> = {
  ' ': 'toggle',
  k: 'toggle',
  j: { skipMs: backMs },
  l: { skipMs: forwardMs },
  ',': { skipMs: -frameMs },
  '.': { skipMs: frameMs },
};

/** Controls that have a use of their own for letters or for the space bar. */
const takesText = ['INPUT', 'TEXTAREA', 'SELECT'];
const takesSpace = ['BUTTON', 'A', 'SUMMARY'];

/**
 * What a key does with the player, pressed on an element of such a name; undefined where the element has a use for the key itself. A slider has none for the
 * space bar.
 */
export function playerDeed({ key, ctrlKey, metaKey, altKey }: PlayerKey, element: string, isSlider: boolean) {
  if (ctrlKey || metaKey || altKey || takesText.includes(element)) return undefined;
  if (key === ' ' && takesSpace.includes(element) && !isSlider) return undefined;
  return deeds[key.toLowerCase()];
}
