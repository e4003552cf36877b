import type { Connection, Reading } from './settings.ts';

/** What was typed after the name of a command. */
export interface Typed {
  /** In the order of `words`. */
  readonly words: readonly string[];
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Throws `UsageError` when settings are missing. */
  readonly connect: () => Connection;
}

/** One command of `longwave exchange`. */
export interface ExchangeCommand extends Reading {
  readonly name: string;
  /** Words after the name, each needed. */
  readonly words: readonly string[];
  readonly summary: string;
  /** By name: the placeholder of the value, and its meaning. */
  readonly options: Readonly<Record<string, readonly [value: string, meaning: string]>>;
  /** Options that the command cannot do without. */
  readonly needed: readonly string[];
  /** Answers what is printed as JSON, or nothing where the command has printed by itself. */
  readonly run: (typed: Typed) => Promise<unknown>;
}

export const streamOption = { stream: ['STREAM', 'the stream, such as show:1234'] } as const;
export const versionOption = {
  version: ['N', 'version of the subject (default: one more than the greatest in the stream)'],
} as const;

export const keepOption = {
  keep: ['FILE', 'appends the signed message to this file before it is sent; “submit FILE” sends it again, unchanged'],
} as const;

/** The version that was typed; undefined without one. */
export const typedVersion = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);
