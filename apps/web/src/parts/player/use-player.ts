import { useSyncExternalStore } from 'react';
import { backMs, forwardMs } from './player-keys.ts';
import { createPlayer, type PlayerState, type Sound } from './player.ts';

/** Calls back before each frame that the browser paints. */
function everyFrame(callback: () => void): () => void {
  let frame = 0;
  const next = () => {
    callback();
    frame = requestAnimationFrame(next);
  };
  frame = requestAnimationFrame(next);
  return () => cancelAnimationFrame(frame);
}

/** Shows what plays on the lock screen and in the bar of the system. */
function show(
  { title, artist = '', artworkUrl, durationMs }: Sound,
  { isPlaying, positionMs, rate }: PlayerState,
): void {
  if (!('mediaSession' in navigator)) return;
  const artwork = artworkUrl === undefined ? [] : [{ src: artworkUrl }];
  navigator.mediaSession.metadata = new MediaMetadata({ title, artist, artwork });
  navigator.mediaSession.playbackState = isPlaying ? 'playing' : 'paused';
  const position = Math.min(positionMs, durationMs) / 1000;
  navigator.mediaSession.setPositionState({ duration: durationMs / 1000, position, playbackRate: rate });
}

/** The one player of the console. */
export const player = createPlayer(() => new Audio(), everyFrame, { show });

if ('mediaSession' in navigator) {
  const take = (action: MediaSessionAction, deed: MediaSessionActionHandler) =>
    navigator.mediaSession.setActionHandler(action, deed);
  take('play', () => player.play());
  take('pause', () => player.pause());
  take('seekbackward', () => player.skip(backMs));
  take('seekforward', () => player.skip(forwardMs));
  take('seekto', ({ seekTime = 0 }) => player.seek((seekTime ?? 0) * 1000));
}

/** A part of the player's state: a component is shown anew when this part has another value. */
export const usePlayer = <T extends string | number | boolean>(select: (state: PlayerState) => T): T =>
  useSyncExternalStore(player.subscribe, () => select(player.state()));
