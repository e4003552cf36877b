import type { LogColumns } from './log-columns.ts';
import { logFields, type LogField } from './prefix-record.ts';

/** The columns of a log that were understood and those that were not, and the effects of absent fields. */
export interface FileColumns {
  readonly understood: readonly { readonly field: LogField; readonly column: string }[];
  readonly not_understood: readonly string[];
  readonly absent: readonly { readonly field: LogField; readonly effect: string }[];
}

export interface ColumnReport {
  /** Adds the columns of a file, or of one more shape of its records. */
  readonly note: (columns: Pick<LogColumns, 'understood' | 'ignored'>) => void;
  readonly read: () => FileColumns;
}

const effects: Partial<Readonly<Record<LogField, string>>> = {
  method: 'every record is counted as a GET request',
  status: 'requests that were answered with an error are counted too',
  range: 'probes of two bytes are counted as requests',
  ip: 'rule 12 (data centers and similar networks) cannot be applied, because the addresses are hashed',
  referer: 'rule 13 (pages that preload) cannot be applied',
  purpose: 'rule 9 (announced prefetches) cannot be applied',
};

/** A field in place of another one. */
const standIns: Partial<Readonly<Record<LogField, LogField>>> = { range: 'range_start' };

/** Whether a text looks like the name of a column. Addresses, times, numbers and most user agents do not, so they are never shown. */
export const isColumnName = (text: string) =>
  /^[A-Za-z_][\w ()-]{0,63}(\.[A-Za-z_][\w-]{0,63})*$/.test(text) && !/\d{4}/.test(text);

const maxNames = 100;

/** Collects the columns of one file. */
export function createColumnReport(): ColumnReport {
  const understood = new Map<string, { readonly field: LogField; readonly column: string }>();
  const ignored = new Set<string>();
  return {
    note: (columns) => {
      for (const [field, column] of columns.understood) understood.set(`${field} ${column}`, { field, column });
      for (const name of columns.ignored)
        if (ignored.size < maxNames) ignored.add(isColumnName(name) ? name : '(a name that is not shown)');
    },
    read: () => {
      const present = new Set([...understood.values()].map(({ field }) => field));
      const isAbsent = (field: LogField) => !present.has(field) && !present.has(standIns[field] ?? field);
      const absent = logFields.flatMap((field) => {
        const effect = effects[field];
        if (effect === undefined || !isAbsent(field)) return [];
        return field === 'range' && present.has('body_bytes')
          ? [{ field, effect: 'only answers of one or two bytes are recognized as probes' }]
          : [{ field, effect }];
      });
      return {
        understood: [...understood.values()].sort((a, b) => logFields.indexOf(a.field) - logFields.indexOf(b.field)),
        not_understood: [...ignored].sort(),
        absent,
      };
    },
  };
}
