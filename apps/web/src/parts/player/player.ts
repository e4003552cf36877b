/** What is played: one recording, by an address that expires. */
export interface Sound {
  /** Tells recordings apart: the same sound goes on where it is. */
  readonly key: string;
  readonly title: string;
  readonly artist: string | undefined;
  readonly artworkUrl: string | undefined;
  readonly durationMs: number;
  /** Its address; a new one where the one before is refused. */
  readonly findUrl: (isNew: boolean) => Promise<string>;
}

export interface PlayerState {
  readonly isPlaying: boolean;
  readonly positionMs: number;
  /** 1 is the speed of the recording. */
  readonly rate: number;
  /** Whether the recording could not be had, even by a new address. */
  readonly hasFailed: boolean;
}

const atRest: PlayerState = { isPlaying: false, positionMs: 0, rate: 1, hasFailed: false };

/** The parts of an `<audio>` element that a player uses. */
export type AudioElement = Pick<
  HTMLAudioElement,
  'src' | 'currentTime' | 'playbackRate' | 'paused' | 'play' | 'pause' | 'addEventListener'
>;

/** Tells the system what plays, and takes the keys of keyboards and headphones. */
export interface MediaControls {
  readonly show: (sound: Sound, state: PlayerState) => void;
}

/**
 * A player around one `<audio>`. Nothing is loaded before somebody listens; an address that has expired is asked for anew, and what played goes on.
 * @param everyFrame calls back before each frame that the browser paints, until it is ended
 */
export function createPlayer(
  createAudio: () => AudioElement,
  everyFrame: (callback: () => void) => () => void,
  controls?: MediaControls,
) {
  let sound: Sound | undefined;
  let state = atRest;
  let audio: AudioElement | undefined;
  /** Whether the element has the address of the sound. */
  let isLoaded = false;
  let isRetried = false;
  let stopAtMs: number | undefined;
  let endFrames: (() => void) | undefined;
  const listeners = new Set<() => void>();

  const set = (changes: Partial<PlayerState>) => {
    state = { ...state, ...changes };
    if (sound && ('isPlaying' in changes || 'rate' in changes)) controls?.show(sound, state);
    for (const listener of listeners) listener();
  };

  const follow = () => {
    if (!audio || !isLoaded || audio.paused) return;
    const positionMs = Math.round(audio.currentTime * 1000);
    if (positionMs > state.positionMs) isRetried = false;
    if (stopAtMs !== undefined && positionMs >= stopAtMs) pause();
    if (positionMs !== state.positionMs) set({ positionMs });
  };

  const load = async (isNew: boolean) => {
    const wanted = sound;
    if (!audio || !wanted) return;
    const url = await wanted.findUrl(isNew);
    if (wanted !== sound) return;
    isLoaded = true;
    audio.src = url;
    audio.currentTime = state.positionMs / 1000;
    audio.playbackRate = state.rate;
  };

  const begin = async (isNew: boolean) => {
    try {
      if (!isLoaded || isNew) await load(isNew);
      if (state.isPlaying) await audio?.play();
    } catch (error) {
      // A play that a pause has ended is none that failed; what cannot be loaded comes as an event as well.
      if (!isLoaded && !(error instanceof DOMException && error.name === 'AbortError'))
        set({ isPlaying: false, hasFailed: true });
    }
  };

  function prepare(): AudioElement {
    if (audio) return audio;
    const element = createAudio();
    element.addEventListener('timeupdate', follow);
    element.addEventListener('ended', () => {
      pause();
      // The last time that is told lies a little before the end.
      set({ positionMs: sound?.durationMs ?? 0 });
    });
    element.addEventListener('error', () => {
      if (!isLoaded) return;
      isLoaded = false;
      if (isRetried) return void set({ isPlaying: false, hasFailed: true });
      isRetried = true;
      void begin(true);
    });
    audio = element;
    return element;
  }

  function pause(): void {
    stopAtMs = undefined;
    endFrames?.();
    endFrames = undefined;
    audio?.pause();
    if (state.isPlaying) set({ isPlaying: false });
  }

  function play(): void {
    if (!sound) return;
    prepare();
    if (state.hasFailed) isRetried = false;
    if (state.positionMs >= sound.durationMs) seek(0);
    endFrames ??= everyFrame(follow);
    set({ isPlaying: true, hasFailed: false });
    void begin(false);
  }

  function seek(ms: number): void {
    if (!sound) return;
    stopAtMs = undefined;
    const positionMs = Math.round(Math.min(Math.max(0, ms), sound.durationMs));
    if (audio && isLoaded) audio.currentTime = positionMs / 1000;
    set({ positionMs });
  }

  return {
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    state: (): PlayerState => state,
    /** Takes a sound; another one than before begins at its beginning, and does not play yet. */
    take: (next: Sound): void => {
      const isSame = sound?.key === next.key;
      if (!isSame) {
        pause();
        isLoaded = false;
        isRetried = false;
      }
      sound = next;
      if (!isSame) set({ ...atRest, rate: state.rate });
    },
    play,
    pause,
    toggle: () => (state.isPlaying ? pause() : play()),
    seek,
    /** Moves by milliseconds, forwards or back. */
    skip: (ms: number) => seek(state.positionMs + ms),
    /** Plays from one time to another, and stops there. */
    playSpan: (fromMs: number, toMs: number): void => {
      seek(fromMs);
      stopAtMs = toMs;
      play();
    },
    setRate: (rate: number): void => {
      if (audio) audio.playbackRate = rate;
      set({ rate });
    },
  };
}
