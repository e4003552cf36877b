import { bindingMs } from './bound-plays.ts';
import type { HlsPlay } from './hls-play-table.ts';

/** True within the 24 h of a play by HLS that was not ended for everybody. */
export const isRunningHlsPlay = ({ openedAt }: HlsPlay, playsEndBefore: Date | undefined, at: Date): boolean =>
  openedAt.getTime() > at.getTime() - bindingMs && !(playsEndBefore && openedAt < playsEndBefore);

/** The sequence of a listener's next play, behind those of the plays that are theirs; bindings and plays by HLS share it. */
export const nextSequence = (
  listenerKey: string,
  plays: readonly ({ readonly listenerKey: string; readonly sequence: number } | undefined)[],
): number => Math.max(-1, ...plays.map((play) => (play?.listenerKey === listenerKey ? play.sequence : -1))) + 1;
