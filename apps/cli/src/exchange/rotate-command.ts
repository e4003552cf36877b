import { keepOption, streamOption, versionOption, type ExchangeCommand } from './exchange-command.ts';
import { tell } from './tell.ts';
import { place } from './place-message.ts';

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** The end of an overlap: a time, a day (UTC), or a length from now. The schema of the message refuses anything else. */
export function overlapEnd(text: string, now: Date): string {
  const [, count, unit] = /^(\d{1,4})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined)
    return new Date(now.getTime() + Number(count) * unitMs[unit as keyof typeof unitMs]).toISOString();
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
}

export const rotateCommand: ExchangeCommand = {
  name: 'rotate',
  words: [],
  summary:
    'puts another registered key in the place of one. --kid and --key-file name the new key, which signs the message and everything after it; it also ends the hold of a stream',
  options: {
    ...{ ...streamOption, ...versionOption, ...keepOption },
    retire: ['KEY', 'ID of the key that is replaced (key_…)'],
    until: ['TIME|LENGTH', 'until then both keys sign: 2026-12-31T00:00:00Z, 2026-12-31, or 12h, 7d, 2w from now'],
    cause: ['TEXT', 'why'],
  },
  needed: ['stream', 'retire', 'until', 'cause'],
  reads: 'connection and key',
  run: async (typed) => {
    const { retire, until, cause } = typed.values;
    const { authority_id: sourceId, kid } = typed.connect().settings;
    const { stream, sourceVersion } = await place(typed, 'authority', sourceId);
    const body = {
      retire_kid: retire!,
      successor_kid: kid!,
      overlap_until: overlapEnd(until!, new Date()),
      cause: cause!,
    };
    const [result] = await stream.append([{ schema: 'authority-rotation/1', sourceId, sourceVersion, body }]);
    tell(
      `${retire!} signs until ${body.overlap_until}. From now on sign by ${kid!}: name it and its file in your settings.`,
    );
    return result;
  },
};
