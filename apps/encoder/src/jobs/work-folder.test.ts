import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { openWorkFolder } from './work-folder.ts';

test('no other user of the machine may read what is not published yet', async () => {
  const outside = await mkdtemp(path.join(tmpdir(), 'work-'));
  try {
    const root = path.join(outside, 'encoder');
    const folder = await openWorkFolder(root);
    const modes = await Promise.all([root, folder].map(async (name) => (await stat(name)).mode & 0o077));
    expect(modes).toEqual([0, 0]);
  } finally {
    await rm(outside, { recursive: true });
  }
});
