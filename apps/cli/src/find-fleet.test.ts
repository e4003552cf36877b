import path from 'node:path';
import { expect, test } from '@jest/globals';
import { defaultDataFolder } from '@longwave/fleet/running';
import { dataFolderOfTool } from './find-fleet.ts';

test('the data folder is that of LONGWAVE_DATA, as for npm start, and else that of the checkout', () => {
  try {
    process.env['LONGWAVE_DATA'] = 'elsewhere';
    expect(dataFolderOfTool()).toBe(path.resolve('elsewhere'));
    process.env['LONGWAVE_DATA'] = '';
    expect(dataFolderOfTool()).toBe(defaultDataFolder);
  } finally {
    delete process.env['LONGWAVE_DATA'];
  }
});
