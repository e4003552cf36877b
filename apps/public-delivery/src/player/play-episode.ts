import type { Sound } from './browser.ts';
import { getText, openStream, type Stream } from './open-stream.ts';
import { parseAssetList, type Asset, type Break } from './playlists.ts';
import { dueBreak, loadLimit } from './schedule.ts';

/** What is shown. Times are seconds. */
interface PlayerState {
  readonly mode: 'idle' | 'loading' | 'content' | 'ad' | 'ended' | 'failed';
  /** The listener wants to hear, also while it loads. */
  readonly wanted: boolean;
  /** Of the content, or of the ad. */
  readonly position: number;
  readonly duration: number;
  /** "1 of 2" while an ad plays. */
  readonly place: string;
}

export interface EpisodePlayer {
  toggle(): void;
  /** To a place in the content, in seconds; not while an ad plays. */
  seek(seconds: number): void;
  state(): PlayerState;
}

export interface PlayEpisodeOptions {
  readonly content: Sound;
  /** A second element, so that the content stays loaded where it stops. */
  readonly ad: Sound;
  readonly hlsUrl: string;
  /** The same episode with the same ads in one file, for when HLS fails. */
  readonly mp3Url: string;
  readonly onChange: () => void;
}

/** So long may an ad, or the question for ads, stand still. */
const patienceMs = 10_000;
/** The content stands where no more is loaded, which is the break: browsers stop so long before the last sample at most. */
const stallSeconds = 0.3;
const haveFutureData = 3;

/**
 * Plays an episode by HLS with the ads of its breaks. The content is loaded up to the next break only, so it stands there by itself until the ads
 * were played. Ads that cannot be had are left out; where the content cannot, the MP3 goes on.
 */
export function playEpisode({ content, ad, hlsUrl, mp3Url, onChange }: PlayEpisodeOptions): EpisodePlayer {
  let mode: PlayerState['mode'] = 'idle';
  let [wanted, place] = [false, ''];
  let stream: Stream | undefined;
  const played = new Set<Break>();
  /** The ads that were offered: where, and how long. */
  const offered: { readonly at: number; readonly seconds: number }[] = [];

  function playNow(sound: Sound): void {
    const { src } = sound;
    sound.play().catch(({ name }: Error) => {
      // The browser wants another touch first.
      if (name === 'NotAllowedError') wanted = false;
      if (name === 'NotSupportedError' && sound === content && sound.src === src) fail();
      onChange();
    });
  }

  function proceed(): void {
    goOn();
    onChange();
  }

  /** Begins a break that is due, or lets the content go on. */
  function goOn(): void {
    if (mode !== 'content' || !wanted) return;
    const slack = content.readyState < haveFutureData ? stallSeconds * content.playbackRate : 0;
    const position = content.ended ? Infinity : content.currentTime + slack;
    const due = stream && dueBreak(stream.media.breaks, played, position);
    if (due) return void playBreak(due);
    if (!content.ended) {
      if (content.paused) playNow(content);
      return;
    }
    wanted = false;
    mode = 'ended';
  }

  async function playBreak(due: Break): Promise<void> {
    mode = 'ad';
    content.pause();
    for (const each of stream!.media.breaks) if (each.at <= due.at) played.add(each);
    // What is behind the break loads while the ads play.
    stream!.wake();
    const ads = await listAds(due).catch(() => []);
    offered.push(...ads.map(({ seconds }) => ({ at: due.at, seconds })));
    for (const [index, { url }] of ads.entries()) {
      place = `${index + 1} of ${ads.length}`;
      onChange();
      await playAd(url).catch(() => undefined);
    }
    place = '';
    mode = 'content';
    proceed();
  }

  async function listAds({ listUrl }: Break): Promise<readonly Asset[]> {
    const list = await getText(listUrl, AbortSignal.timeout(patienceMs), 2);
    return parseAssetList(list.text, list.url);
  }

  /** Resolves at the end of the ad; rejects when it cannot be loaded or stands still. */
  async function playAd(url: string): Promise<void> {
    const { promise: over, resolve, reject } = Promise.withResolvers<void>();
    const listening = new AbortController();
    const on = (name: string, listener: () => void) =>
      ad.addEventListener(name, listener, { signal: listening.signal });
    let [last, lastAt] = [-1, Date.now()];
    const watch = setInterval(() => {
      const isMoving = !wanted || ad.currentTime !== last;
      if (isMoving) [last, lastAt] = [ad.currentTime, Date.now()];
      else if (Date.now() - lastAt > patienceMs) reject(new Error('stands still'));
    }, 1_000);
    on('ended', resolve);
    on('error', () => reject(new Error('cannot be played')));
    let open: Stream | undefined;
    openStream(ad, url, () => Infinity, reject).then((opened) => {
      if (listening.signal.aborted) return opened.close();
      open = opened;
      if (wanted) playNow(ad);
    }, reject);
    try {
      await over;
    } finally {
      listening.abort();
      clearInterval(watch);
      open?.close();
      ad.removeAttribute('src');
      ad.load();
    }
  }

  async function begin(): Promise<void> {
    offered.length = 0;
    mode = 'loading';
    onChange();
    try {
      stream = await openStream(content, hlsUrl, ({ breaks }) => loadLimit(breaks, played), playMp3);
      mode = 'content';
      proceed();
    } catch {
      playMp3();
    }
  }

  /** Goes on at the same place of the MP3, which has the ads of HLS inside. */
  function playMp3(): void {
    const position = content.currentTime;
    stream?.close();
    stream = undefined;
    content.src = mp3Url;
    const heard = offered.filter(({ at }) => at <= position + stallSeconds);
    content.currentTime = heard.reduce((sum, { seconds }) => sum + seconds, position);
    // While an ad plays, it goes on.
    if (mode === 'ad') return;
    mode = 'content';
    proceed();
  }

  function fail(): void {
    if (stream) return playMp3();
    if (mode !== 'content') return;
    wanted = false;
    mode = 'failed';
    onChange();
  }

  const active = () => (mode === 'ad' ? ad : content);
  for (const sound of [content, ad]) {
    // Also by a key of the keyboard or the screen of a phone.
    sound.addEventListener('play', () => {
      if (sound.paused) return;
      if (sound === active()) wanted = true;
      else sound.pause();
      proceed();
    });
    sound.addEventListener('pause', () => {
      if (sound === active() && sound.paused && !sound.ended && sound.readyState > 0) wanted = false;
      onChange();
    });
    sound.addEventListener('timeupdate', proceed);
  }
  for (const name of ['waiting', 'ended', 'durationchange']) content.addEventListener(name, proceed);
  // That of an earlier source may come late.
  content.addEventListener('error', () => content.error && fail());

  return {
    toggle() {
      if (mode === 'idle' || mode === 'failed') {
        wanted = true;
        return void begin();
      }
      if (mode === 'ended') {
        content.currentTime = 0;
        mode = 'content';
      }
      wanted = !wanted;
      if (!wanted) active().pause();
      else if (mode === 'ad') playNow(ad);
      proceed();
    },
    seek(seconds) {
      if (mode !== 'content' && mode !== 'ended') return;
      content.currentTime = seconds;
      mode = 'content';
      proceed();
    },
    state: () => ({
      ...{ mode, wanted, place },
      position: active().currentTime,
      duration: (mode !== 'ad' && stream?.media.segments.at(-1)!.end) || active().duration,
    }),
  };
}
