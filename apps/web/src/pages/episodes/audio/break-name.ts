import { t } from '../../../messages/messages.ts';
import { positionText } from '../../../parts/waveform/position.ts';
import type { NamedBreak } from './breaks.ts';

/** What a break is called: `Pre-roll`, `Mid 2`. */
export const breakName = ({ kind, number }: Pick<NamedBreak, 'kind' | 'number'>): string =>
  t(`audio.break_${kind}`, { number });

/** A break in a line: `Mid 2 at 16:42.3, 2 ads`. */
export const breakLine = (of: NamedBreak): string =>
  t('audio.break_line', { name: breakName(of), position: positionText(of.positionMs), ads: of.slots });
