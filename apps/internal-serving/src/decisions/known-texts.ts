import type { Pool } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import { findKnownTexts, insertKnownTexts } from './known-texts-table.ts';
import { isPackedWord } from './packed-value.ts';

/** Texts that many decisions of a plan have in common, which packed decisions name by their places. */
export interface KnownTexts {
  /** Of its row; 0 for none. */
  readonly number: number;
  readonly texts: readonly string[];
  readonly places: ReadonlyMap<string, number>;
}

export const noTexts: KnownTexts = { number: 0, texts: [], places: new Map() };

/** A decision names texts that are not there. */
export class MissingTexts extends Error {}

export interface TextLists {
  /** The known texts for a decision of this plan, which is learned from. */
  forPlan(plan: string, list: unknown): KnownTexts;
  /** Rejects with `MissingTexts` when there is no such list. */
  get(number: number): Promise<readonly string[]>;
}

/** Plans and lists that are kept in memory: about 10 MB. */
const maxLists = 200;
/** PostgreSQL numbers no list beyond it. */
const maxNumber = 2 ** 31 - 1;
/** Decisions from which a list is made, and those that then use it before the next one is made. */
const samples = 64;
const uses = 10_000;
/** The most texts of a list, the decisions among the samples that must have one, and the longest one. */
const maxTexts = 500;
const minDecisions = 2;
const maxLength = 256;

interface Learning {
  known: KnownTexts;
  /** Decisions until the samples are complete. */
  left: number;
  readonly decisionsOf: Map<string, number>;
}

function collectTexts(value: unknown, texts: Set<string>): void {
  if (typeof value === 'string') {
    if (value.length <= maxLength && !isPackedWord(value)) texts.add(value);
  } else if (Array.isArray(value)) for (const each of value as readonly unknown[]) collectTexts(each, texts);
  else if (typeof value === 'object' && value !== null)
    for (const [name, each] of Object.entries(value) as [string, unknown][]) {
      collectTexts(name, texts);
      collectTexts(each, texts);
    }
}

/** Lists of known texts: each plan has one that is made from its own decisions, and every so often a new one. */
export function createTextLists(pool: Pool, onError: (error: unknown) => void): TextLists {
  const plans = new LRUCache<string, Learning>({ max: maxLists });
  const lists = new LRUCache<number, readonly string[]>({ max: maxLists });

  async function makeList(learning: Learning): Promise<void> {
    const texts = [...learning.decisionsOf]
      .filter(([, decisions]) => decisions >= minDecisions)
      .sort(([, a], [, b]) => b - a)
      .slice(0, maxTexts)
      .map(([text]) => text);
    learning.decisionsOf.clear();
    const number = await insertKnownTexts(pool, texts);
    lists.set(number, texts);
    learning.known = { number, texts, places: new Map(texts.map((text, place) => [text, place])) };
  }

  return {
    forPlan(plan, list) {
      const learning = plans.get(plan) ?? { known: noTexts, left: samples, decisionsOf: new Map<string, number>() };
      plans.set(plan, learning);
      learning.left--;
      if (learning.left < samples) {
        const texts = new Set<string>();
        collectTexts(list, texts);
        for (const text of texts) learning.decisionsOf.set(text, (learning.decisionsOf.get(text) ?? 0) + 1);
      }
      if (learning.left === 0) {
        learning.left = uses + samples;
        makeList(learning).catch(onError);
      }
      return learning.known;
    },

    async get(number) {
      if (number === noTexts.number) return noTexts.texts;
      const kept = lists.get(number);
      if (kept) return kept;
      const texts = number > maxNumber ? undefined : await findKnownTexts(pool, number);
      if (!texts) throw new MissingTexts(`known texts ${number} are missing`);
      lists.set(number, texts);
      return texts;
    },
  };
}
