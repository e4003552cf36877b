/** Values that tell something of the listener, and are hidden where few people have them. */
export const listenerFields = ['country', 'region', 'device', 'operatingSystem', 'app'] as const;
export type ListenerField = (typeof listenerFields)[number];

/** People a day from whom a value is shown. */
const minPeople = 50;
/** Kinds of marks. */
const markCount = 1024;

/** A play as far as it is counted. */
export interface CountedPlay extends Readonly<Record<ListenerField, string>> {
  readonly podcastId: string;
  /** Empty when there is none. */
  readonly listener: Buffer;
}

/** The plays of an hour of a workspace, counted. */
export interface ValueCounts {
  /** Plays by podcast. */
  readonly podcasts: Readonly<Record<string, number>>;
  /**
   * By value ("country\nDE") different marks of listeners that had it, as many as matter. A listener has one mark in a month, which many
   * share: so many marks are as many people, or more, and no mark names one.
   */
  readonly marks: Readonly<Record<string, readonly number[]>>;
}

/** The plays of a day of a workspace, counted. */
export interface DayCounts {
  readonly podcasts: Readonly<Record<string, number>>;
  /** The values that enough people had. */
  readonly common: ReadonlySet<string>;
}

export const valueKey = (field: ListenerField, value: string): string => `${field}\n${value}`;

const markOf = (code: Buffer) => code.readUInt16BE(code.length - 2) % markCount;

const addMark = (marks: number[], mark: number) => {
  if (marks.length < minPeople && !marks.includes(mark)) marks.push(mark);
};

/** Counts plays, one after the other. A play without a listener tells of no value how many people have it. */
export function createValueCounts() {
  const podcasts: Record<string, number> = {};
  const marks: Record<string, number[]> = {};
  return {
    podcasts,
    marks,
    add: (play: CountedPlay): void => {
      podcasts[play.podcastId] = (podcasts[play.podcastId] ?? 0) + 1;
      if (play.listener.length === 0) return;
      for (const field of listenerFields)
        if (play[field] !== '') addMark((marks[valueKey(field, play[field])] ??= []), markOf(play.listener));
    },
  };
}

/** Sums the hours of a day. Listeners have other marks in another month: those of two months are not added. */
export function sumDay(hours: readonly { readonly month: string; readonly counts: ValueCounts }[]): DayCounts {
  const podcasts: Record<string, number> = {};
  const common = new Set<string>();
  for (const { counts } of hours)
    for (const [id, plays] of Object.entries(counts.podcasts)) podcasts[id] = (podcasts[id] ?? 0) + plays;
  for (const ofMonth of Map.groupBy(hours, ({ month }) => month).values()) {
    const marks = new Map<string, number[]>();
    for (const { counts } of ofMonth)
      for (const [value, found] of Object.entries(counts.marks)) {
        const known = marks.get(value) ?? [];
        for (const mark of found) addMark(known, mark);
        marks.set(value, known);
      }
    for (const [value, { length }] of marks) if (length >= minPeople) common.add(value);
  }
  return { podcasts, common };
}
