import type { DataFolder } from '../data-folder.ts';
import { countAuthorities } from '../development-ca.ts';
import { readTexts } from '../secrets.ts';
import { keyPaths, readKeys } from './key-files.ts';
import { isFileKey, isTextKey, textKeys, type KeyName } from './key-kinds.ts';

const countTexts = (stored: string | undefined) => stored?.split(',').length ?? 0;

function countIn({ secrets, tls }: DataFolder, name: KeyName): number {
  if (isFileKey(name)) {
    const { own, shared } = keyPaths(secrets, name);
    return Math.max(readKeys(own).length, readKeys(shared).length);
  }
  if (isTextKey(name)) return countTexts(readTexts(secrets)[textKeys[name]]);
  if (name === 'listeners') return countTexts(readTexts(secrets).listener);
  if (name === 'object-store') return (readTexts(secrets).formerS3?.length ?? 0) + 1;
  return name === 'ca' ? countAuthorities(tls) : 1;
}

/** How many keys of that name are accepted, the newest one too: those that are there, whatever the notes about them say. */
export const countAccepted = (data: DataFolder, name: KeyName): number => Math.max(1, countIn(data, name));
