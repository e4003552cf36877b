import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from 'node:crypto';
import { promisify } from 'node:util';
import { createGate } from '@longwave/service-kit';

const deriveKey = promisify(argon2);

/** OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, 2 passes, 1 lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const saltBytes = 16;
const hashBytes = 32;

type Cost = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism'>;

/** Hashes at a time: they run in the threads of the process (four), which look up names and read files too. */
const gate = createGate(2);

const derive = (password: string, salt: Buffer, parameters: Cost, tagLength: number): Promise<Buffer> =>
  gate(() =>
    deriveKey('argon2id', {
      // One password, however the keyboard composes its characters (NIST SP 800-63B-4, 3.1.1.2).
      message: Buffer.from(password.normalize('NFKC')),
      nonce: salt,
      tagLength,
      ...parameters,
    }),
  );

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/** The form in which hashes are stored (PHC string format). */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt, cost, hashBytes);
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(salt)}$${base64(hash)}`;
}

const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** A hash that no password has, which takes as long as any other: for a person who does not exist. */
const nobody = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(Buffer.alloc(saltBytes))}$${base64(Buffer.alloc(hashBytes))}`;

/** Whether a password is the stored one. Without a stored one the answer is no, after the same time. */
export async function isPassword(password: string, encoded: string = nobody): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', stored = ''] = form.exec(encoded) ?? [];
  if (memory === undefined) throw new Error('a stored password does not have the form of argon2id');
  const expected = Buffer.from(stored, 'base64');
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const hash = await derive(password, Buffer.from(salt, 'base64'), parameters, expected.length);
  return timingSafeEqual(hash, expected) && encoded !== nobody;
}

/** Whether a stored hash was made with other parameters than those of today. */
export const isOutdated = (encoded: string): boolean =>
  !encoded.startsWith(`$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$`);
