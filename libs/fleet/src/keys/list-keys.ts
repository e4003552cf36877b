import type { DataFolder } from '../data-folder.ts';
import { countAccepted } from './count-accepted.ts';
import { keyKinds, keyNames, type KeyKind, type KeyName } from './key-kinds.ts';
import { droppableFrom } from './rotation-plan.ts';
import { recordOf } from './rotation-records.ts';

/** The facts about a key that are shown: never the key. */
export interface KeyRow {
  readonly name: KeyName;
  readonly purpose: string;
  /** ISO 8601; undefined for one that is older than the notes about keys. */
  readonly made_at: string | undefined;
  /** Keys that are accepted, the newest one too; see `countAccepted`. */
  readonly accepted: number;
  /** From when `--finish` drops the oldest of those before; undefined where there is none, or what uses it decides. */
  readonly finish_from: string | undefined;
}

/** The facts about one key of an installation. */
export function rowOf(data: DataFolder, name: KeyName): KeyRow {
  const kind: KeyKind = keyKinds[name];
  const { made_at: madeAt, replaced_at: replaced } = recordOf(data.secrets, name);
  const oldest = replaced.at(-1);
  return {
    name,
    purpose: kind.purpose,
    made_at: madeAt,
    accepted: countAccepted(data, name),
    finish_from: oldest === undefined ? undefined : droppableFrom(kind, oldest)?.toISOString(),
  };
}

/** Every key of an installation. */
export const listKeys = (data: DataFolder): readonly KeyRow[] => keyNames.map((name) => rowOf(data, name));
