import type { findingCodes } from '@longwave/command-catalog';

/** A row of a source: what it counted for one of its ids. */
export interface CountedRow {
  /** Line of the file, or place of the evidence row from 1 on. */
  readonly line: number;
  /** Our id of the serving that was counted. */
  readonly serving?: string;
  readonly lineItem?: string;
  readonly campaign?: string;
  readonly creative?: string;
  /** YYYY-MM-DD; absent where the source names no day. */
  readonly day?: string;
  readonly units: number;
}

/** Why a line is not a row. */
export interface Finding {
  readonly line?: number;
  /** One that the command which records findings takes. */
  readonly code: (typeof findingCodes)[number];
  readonly detail: string;
}

/** The rows of a source, or what is wrong with it: one wrong line makes the whole source unreadable. */
export type SourceRows = { readonly rows: readonly CountedRow[] } | { readonly findings: readonly Finding[] };
