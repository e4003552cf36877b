import { keyKinds, keyNames, type KeyKind, type KeyName } from './key-kinds.ts';
import { droppableFrom, type RotationRecord } from './rotation-plan.ts';
import { recordOf } from './rotation-records.ts';

/** The facts about a key that are shown: never the key. */
export interface KeyRow {
  readonly name: KeyName;
  readonly purpose: string;
  /** ISO 8601; undefined for one that is older than the notes about keys. */
  readonly made_at: string | undefined;
  /** Keys that are accepted, the newest one too. */
  readonly accepted: number;
  /** From when `--finish` drops the oldest of those before; undefined where there is none, or what uses it decides. */
  readonly finish_from: string | undefined;
}

export function rowOf(name: KeyName, { made_at: madeAt, replaced_at: replaced }: RotationRecord): KeyRow {
  const kind: KeyKind = keyKinds[name];
  const oldest = replaced.at(-1);
  return {
    name,
    purpose: kind.purpose,
    made_at: madeAt,
    accepted: replaced.length + 1,
    finish_from: oldest === undefined ? undefined : droppableFrom(kind, oldest)?.toISOString(),
  };
}

/** Every key of the installation with this folder of secrets. */
export const listKeys = (folder: string): readonly KeyRow[] =>
  keyNames.map((name) => rowOf(name, recordOf(folder, name)));
