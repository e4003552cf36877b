/** What the player uses of a browser. The programs of this repository have no types of browsers, so that no service can name `window`. */

/** Spans of seconds of a media element (HTML, TimeRanges). */
export interface TimeRanges {
  readonly length: number;
  start(index: number): number;
  end(index: number): number;
}

/** An `<audio>` element. */
export interface Sound extends EventTarget {
  src: string;
  currentTime: number;
  readonly playbackRate: number;
  controls: boolean;
  hidden: boolean;
  readonly dataset: Readonly<Record<string, string | undefined>>;
  /** Seconds; NaN while it is not known. */
  readonly duration: number;
  readonly paused: boolean;
  readonly ended: boolean;
  readonly readyState: number;
  readonly error: unknown;
  play(): Promise<void>;
  pause(): void;
  load(): void;
  removeAttribute(name: string): void;
  after(other: Sound): void;
}

/** Media Source Extensions. */
interface SourceBuffer extends EventTarget {
  readonly buffered: TimeRanges;
  appendBuffer(bytes: ArrayBuffer): void;
  remove(fromSeconds: number, toSeconds: number): void;
}

export interface MediaSource extends EventTarget {
  duration: number;
  readonly readyState: 'closed' | 'open' | 'ended';
  addSourceBuffer(type: string): SourceBuffer;
  endOfStream(): void;
}

export interface MediaSourceClass {
  new (): MediaSource;
  isTypeSupported(type: string): boolean;
}

/** Any other element of the page. */
interface PageElement extends EventTarget {
  hidden: boolean;
  disabled: boolean;
  value: string;
  max: string;
  textContent: string;
  setAttribute(name: string, value: string): void;
}

export interface Page {
  querySelector(selector: 'audio'): Sound;
  querySelector(selector: string): PageElement;
  createElement(name: 'audio'): Sound;
}
