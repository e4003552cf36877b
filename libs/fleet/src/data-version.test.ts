import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { removeDataFolder, temporaryDataFolder, type DataFolder } from './data-folder.ts';
import { claimVersion, NewerData } from './data-version.ts';

let data: DataFolder;
beforeEach(() => {
  data = temporaryDataFolder();
});
afterEach(() => removeDataFolder(data));

const noted = () => JSON.parse(readFileSync(data.inside('version.json'), 'utf8')) as unknown;

test('a data folder that a newer release has used is refused, in words, and left as it was', () => {
  claimVersion(data, '0.10.0');
  expect(() => claimVersion(data, '0.9.3')).toThrow(NewerData);
  expect(() => claimVersion(data, '0.9.3')).toThrow(
    `${data.root} was used by Longwave 0.10.0, and this is 0.9.3, which cannot read its data. Start version 0.10.0 or a newer one`,
  );
  expect(() => claimVersion(data, '0.10.1')).not.toThrow();
  claimVersion(data, '1.0.0');
  expect(() => claimVersion(data, '0.11.0')).toThrow(NewerData);
  expect(noted()).toEqual({ version: '1.0.0' });
});

test('patches of one release go both ways, because they change no data', () => {
  claimVersion(data, '0.5.2');
  claimVersion(data, '0.5.1');
  expect(noted()).toEqual({ version: '0.5.1' });
});

test('a folder of an older release, or without a note, or with a damaged one, is taken and noted', () => {
  claimVersion(data, '0.5.0');
  claimVersion(data, '0.6.0');
  expect(noted()).toEqual({ version: '0.6.0' });
  writeFileSync(data.inside('version.json'), '');
  claimVersion(data, '0.5.0');
  expect(noted()).toEqual({ version: '0.5.0' });
});
