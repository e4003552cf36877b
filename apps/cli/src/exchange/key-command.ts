import { writeFileSync } from 'node:fs';
import { newMachineKey, proveMachineKey, publicHalf } from '@longwave/exchange-client';
import { UsageError } from '../command.ts';
import type { ExchangeCommand } from './exchange-command.ts';

/** Writes a new file that only its owner can read. Throws `UsageError` for one that exists. */
function writeSecret(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw new UsageError(isTaken ? `${file} exists; a key is never overwritten.` : (error as Error).message);
  }
}

export const keyCommand: ExchangeCommand = {
  name: 'key new',
  words: ['FILE'],
  summary:
    'makes a key (Ed25519): the private half goes into a new file, the public half and the proof for machine_key.register are printed',
  options: {
    'workspace-id': ['WS', 'the workspace of the authority grant'],
    'authority-id': ['AGR', 'the authority grant; the proof is good for five minutes'],
  },
  needed: ['workspace-id', 'authority-id'],
  reads: 'nothing',
  run: async ({ words, values }) => {
    const key = await newMachineKey();
    const registration = { workspaceId: values['workspace-id']!, authorityId: values['authority-id']! };
    const proof = await proveMachineKey(key, registration);
    writeSecret(words[0]!, `${JSON.stringify(key)}\n`);
    return { authority_id: registration.authorityId, jwk: publicHalf(key), proof };
  },
};
