import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

/** The APIs that the command line signs in to. */
export const signInApis = ['mcp', 'management'] as const;
export type SignInApi = (typeof signInApis)[number];

const session = z.strictObject({
  /** `{base_url}`: the authorization server. */
  issuer: z.url(),
  /** The API: the audience of the access token. */
  resource: z.url(),
  scope: z.string(),
  access_token: z.string(),
  /** RFC 3339. */
  expires_at: z.iso.datetime(),
  refresh_token: z.string().optional(),
});
export type Session = z.infer<typeof session>;

const file = z.partialRecord(z.enum(signInApis), session);

/** One sign-in for each API, in a file that only this user can read. */
export interface SessionFile {
  readonly path: string;
  read(api: SignInApi): Session | undefined;
  /** Stores a sign-in, or removes it. */
  write(api: SignInApi, session: Session | undefined): void;
  /**
   * Runs `work` while no other process has the file: a refresh token works once, and a second use would end the sign-in (RFC 9700
   * §4.14.2).
   */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

/** The folder of settings of a user (XDG Base Directory Specification). */
const settingsFolder = (environment: NodeJS.ProcessEnv) =>
  path.join(environment['XDG_CONFIG_HOME'] || path.join(os.homedir(), '.config'), 'longwave');

/** A lock of a process that was killed counts no longer than this. */
const staleMs = 60_000;
const pollMs = 50;

export function openSessionFile(environment: NodeJS.ProcessEnv = process.env): SessionFile {
  const folder = settingsFolder(environment);
  const target = path.join(folder, 'sign-in.json');
  const lock = `${target}.lock`;

  function readAll(): z.infer<typeof file> {
    let text: string;
    try {
      text = readFileSync(target, 'utf8');
    } catch {
      return {};
    }
    const parsed = file.safeParse(JSON.parse(text));
    if (!parsed.success) throw new Error(`${target} cannot be read. Remove it and sign in again.`);
    return parsed.data;
  }

  function tryLock(): boolean {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      mkdirSync(lock);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > staleMs) rmSync(lock, { recursive: true, force: true });
      return false;
    }
  }

  return {
    path: target,
    read: (api) => readAll()[api],
    write(api, next) {
      const { [api]: _former, ...others } = readAll();
      const sessions = next ? { ...others, [api]: next } : others;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const draft = `${target}.${process.pid}`;
      writeFileSync(draft, `${JSON.stringify(sessions, null, 2)}\n`, { mode: 0o600 });
      chmodSync(draft, 0o600);
      renameSync(draft, target);
    },
    async exclusively(work) {
      while (!tryLock()) await pause(pollMs);
      try {
        return await work();
      } finally {
        rmSync(lock, { recursive: true, force: true });
      }
    },
  };
}
