/** The report's note about a field of a channel or an item that the import changed or lost. */
export interface ImportNote {
  /** `changed`: kept in another form; `lost`: not kept. */
  readonly kind: 'changed' | 'lost';
  /** Our name of the field, or the feed's name of an element that has no field: "itunes:order". */
  readonly field: string;
  /** A sentence for the podcaster. */
  readonly detail: string;
}

export interface ImportNotes {
  readonly changed: (field: string, detail: string) => void;
  readonly lost: (field: string, detail: string) => void;
  readonly list: readonly ImportNote[];
}

/** Notes of one channel or item: people read the report. */
const maxNotes = 60;
const maxDetail = 300;
const maxQuote = 80;

/** A text as a sentence quotes it. */
export function quoted(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return `“${line.length > maxQuote ? `${line.slice(0, maxQuote - 1).toWellFormed()}…` : line}”`;
}

/** Collects notes without repetitions; a last one says that there were more. */
export function createNotes(): ImportNotes {
  const list: ImportNote[] = [];
  const add = (kind: ImportNote['kind'], field: string, text: string) => {
    const detail = text.slice(0, maxDetail).toWellFormed();
    if (list.length > maxNotes || list.some((note) => note.field === field && note.detail === detail)) return;
    if (list.length === maxNotes)
      list.push({ kind: 'lost', field: 'report', detail: 'There were more notes than this report can hold.' });
    else list.push({ kind, field: field.slice(0, 100), detail });
  };
  return {
    changed: (field, detail) => add('changed', field, detail),
    lost: (field, detail) => add('lost', field, detail),
    list,
  };
}
