import { createHash } from 'node:crypto';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import { createTurns } from '@longwave/worker-kit';
import type { Reconciliation, ReconciliationSource } from './reconciliation.ts';
import { dateOf, dayOf, type DayRange } from './reconciliation.ts';
import type { CountedRow } from './counted-row.ts';
import type { NewItem } from './item-table.ts';
import type { Ledger } from './read-ledger.ts';
import type { KnownServings } from './read-servings.ts';
import { spread } from './spread.ts';

type SourceFound = NonNullable<Reconciliation['found']>[number];
type Ambiguity =
  | 'none'
  | 'missing_theirs'
  | 'missing_ours'
  | 'basis_differs'
  | 'zone_unknown'
  | 'provisional'
  | 'duplicate_rows'
  | 'spread';

const maxUnknownIds = 50;
const halfDayMs = 43_200_000;

/** A line item of the scope. */
interface ScopedLineItem {
  readonly id: string;
  readonly campaignId: string;
  /** What it counts. */
  readonly basis: string;
}

/** Ids of a source, each with what it means here: one id may mean several things, and then it means none. */
export interface IdMap {
  readonly lineItems: ReadonlyMap<string, readonly string[]>;
  readonly campaigns: ReadonlyMap<string, readonly string[]>;
  readonly creatives: ReadonlyMap<string, readonly string[]>;
}

/** How fine the items of a source are. */
interface Grain {
  readonly byDay: boolean;
  readonly byCreative: boolean;
}

/** What an item is about. */
interface ItemKey {
  readonly lineItemId: string;
  readonly creativeId: string | null;
  readonly day: string | null;
}

const keyText = ({ lineItemId, creativeId, day }: ItemKey) => `${lineItemId} ${creativeId ?? ''} ${day ?? ''}`;

/** The id of an item: the same at every matching of a reconciliation. */
const itemIdOf = (source: string, key: ItemKey): string =>
  createHash('sha256')
    .update(`${source} ${keyText(key)}`)
    .digest('hex')
    .slice(0, 24);

/** Sums by item. */
class Sums {
  readonly #units = new Map<string, { readonly key: ItemKey; units: number }>();
  add(key: ItemKey, units: number): void {
    const text = keyText(key);
    const sum = this.#units.get(text);
    if (sum) sum.units += units;
    else this.#units.set(text, { key, units });
  }
  of(key: ItemKey): number {
    return this.#units.get(keyText(key))?.units ?? 0;
  }
  has(key: ItemKey): boolean {
    return this.#units.has(keyText(key));
  }
  entries() {
    return [...this.#units.values()];
  }
  get size(): number {
    return this.#units.size;
  }
}

/**
 * Our units by item: hours of the ledger in the days of a zone, and what earlier reconciliations have adjusted. An adjustment of a day is
 * divided among the creatives of that day, because it names none. Others have the event loop in between.
 */
export async function sumOurs(
  { hours, adjustments }: Ledger,
  days: DayRange,
  timeZone: string,
  { byDay, byCreative }: Grain,
): Promise<Sums> {
  const { dayAt } = daysOf(timeZone);
  const datesHere = new Map<string, string>();
  /** The date here that has most of a date of another zone. */
  const dateHere = (date: string, zone: string): string => {
    if (zone === timeZone) return date;
    const known = datesHere.get(`${date} ${zone}`);
    const here = known ?? dateOf(dayAt(daysOf(zone).startMs(dayOf(date)) + halfDayMs));
    if (known === undefined) datesHere.set(`${date} ${zone}`, here);
    return here;
  };
  const dayOfHour = new Map<number, number>();
  const sums = new Sums();
  const turn = createTurns();
  for (const { lineItemId, creativeId, hourMs, units } of hours) {
    await turn();
    const day = dayOfHour.get(hourMs) ?? dayAt(hourMs);
    dayOfHour.set(hourMs, day);
    if (day < days.first || day >= days.end) continue;
    sums.add({ lineItemId, creativeId: byCreative ? creativeId : null, day: byDay ? dateOf(day) : null }, units);
  }
  const [first, end] = [dateOf(days.first), dateOf(days.end)];
  const ofDay = Map.groupBy(byCreative ? sums.entries() : [], ({ key }) => `${key.lineItemId} ${key.day ?? ''}`);
  for (const { lineItemId, day: theirDate, timeZone: zone, quantity } of adjustments) {
    await turn();
    const date = dateHere(theirDate, zone);
    if (date < first || date >= end) continue;
    const day = byDay ? date : null;
    const creatives = ofDay.get(`${lineItemId} ${day ?? ''}`) ?? [];
    if (creatives.length === 0) sums.add({ lineItemId, creativeId: null, day }, quantity);
    const shares = spread(
      quantity,
      creatives.map(({ units }) => units),
    );
    for (const [index, { key }] of creatives.entries()) sums.add(key, shares[index]!);
  }
  return sums;
}

/** Whether the items of a source are by creative. */
export const isByCreative = (source: ReconciliationSource): boolean =>
  'columns' in source && source.columns.creative !== undefined;

/** Whether the rows of a source may name servings. */
const isByServing = (source: ReconciliationSource): boolean =>
  'columns' in source && source.columns.serving !== undefined;

/** Whether the items of a source are by day and by creative. */
const grainOf = (source: ReconciliationSource, rows: readonly CountedRow[]): Grain => ({
  byDay: source.time_zone !== undefined && rows.some(({ day }) => day !== undefined),
  byCreative: isByCreative(source),
});

/** What the rows of a source say by item, and which items were made of rows that came twice or were spread. */
interface Theirs {
  readonly sums: Sums;
  /** Our units whose servings the rows name; undefined for a source without servings. */
  readonly matched: Sums | undefined;
  readonly duplicated: ReadonlySet<string>;
  readonly spread: ReadonlySet<string>;
  readonly found: SourceFound;
}

/** Rows of a source about the same line item or campaign, creative and day, as one number. */
interface RowTotal {
  readonly lineItemIds: readonly string[];
  readonly creativeId: string | null;
  readonly day: string | null;
  units: number;
  /** Servings of the rows that have a unit of ours. */
  matched: number;
  isRepeated: boolean;
}

interface RowMeaning {
  /** Of a line item, or of a campaign. */
  readonly id: string;
  readonly creativeId: string | null;
  readonly isCampaign?: boolean;
  /** An id that leads to nothing here, or to several things; then the others say nothing. */
  readonly strange?: string;
}

/** What the ids of a row mean here. */
function meaningOf({ serving, lineItem, campaign, creative }: CountedRow, ids: IdMap): RowMeaning {
  const isCampaign = lineItem === undefined && campaign !== undefined;
  const [id, ...others] = (isCampaign ? ids.campaigns.get(campaign) : ids.lineItems.get(lineItem ?? '')) ?? [];
  if (id === undefined || others.length > 0)
    return { id: '', creativeId: null, strange: lineItem ?? campaign ?? serving! };
  const creatives = creative === undefined ? [null] : (ids.creatives.get(creative) ?? []);
  return creatives.length === 1
    ? { id, creativeId: creatives[0]!, isCampaign }
    : { id, creativeId: null, strange: creative! };
}

/**
 * Sums the rows of a source by what they are about, so that a campaign in 200,000 rows is divided among its line items once a day. A row whose
 * serving we know is of its line item and creative, and of the day of our unit: both sides have counted the same thing, whenever they did.
 */
async function sumRows(
  source: ReconciliationSource,
  rows: readonly CountedRow[],
  { lineItems, ids, servings, days, timeZone, grain }: MatchedAbout & { readonly grain: Grain },
): Promise<{ readonly totals: Iterable<RowTotal>; readonly found: SourceFound }> {
  const inScope = new Set(lineItems.map(({ id }) => id));
  const ofCampaign = Map.groupBy(lineItems, ({ campaignId }) => campaignId);
  const [first, end] = [dateOf(days.first), dateOf(days.end)];
  const { dayAt } = daysOf(source.time_zone ?? timeZone);
  const totals = new Map<string, RowTotal>();
  const seen = new Set<string>();
  const unknown = new Map<string, { id: string; line: number; units: number }>();
  const found = { outside_period: 0, outside_scope: 0, unknown_rows: 0 };
  const turn = createTurns();

  for (const row of rows) {
    await turn();
    const { units } = row;
    const serving = row.serving === undefined ? undefined : servings.get(row.serving);
    const date = serving?.hourMs === undefined ? row.day : dateOf(dayAt(serving.hourMs));
    if (date !== undefined && (date < first || date >= end)) {
      found.outside_period += 1;
      continue;
    }
    const { id, creativeId, isCampaign, strange }: RowMeaning = serving
      ? { id: serving.lineItemId, creativeId: grain.byCreative ? serving.creativeId : null }
      : meaningOf(row, ids);
    if (strange !== undefined) {
      found.unknown_rows += 1;
      const known = unknown.get(strange);
      if (known) known.units += units;
      else if (unknown.size < maxUnknownIds) unknown.set(strange, { id: strange, line: row.line, units });
      continue;
    }
    if (isCampaign ? !ofCampaign.has(id) : !inScope.has(id)) {
      found.outside_scope += 1;
      continue;
    }
    const raw = JSON.stringify([row.serving, ...(serving ? [] : [row.lineItem, row.campaign, row.creative, date])]);
    const isRepeated = seen.has(raw);
    seen.add(raw);
    const day = grain.byDay ? (date ?? null) : null;
    const text = keyText({ lineItemId: id, creativeId, day });
    const total = totals.get(text);
    const matched = serving?.hourMs === undefined || isRepeated || units === 0 ? 0 : 1;
    if (total) {
      total.units += units;
      total.matched += matched;
      total.isRepeated ||= isRepeated;
    } else {
      const lineItemIds = isCampaign ? ofCampaign.get(id)!.map((one) => one.id) : [id];
      totals.set(text, { lineItemIds, creativeId, day, units, matched, isRepeated });
    }
  }
  return {
    totals: totals.values(),
    found: { name: source.name, rows: rows.length, ...found, unknown_ids: [...unknown.values()] },
  };
}

/** Sums the rows of a source by item. Undefined when there are more than `maxItems` of them. */
async function sumTheirs(
  source: ReconciliationSource,
  rows: readonly CountedRow[],
  about: MatchedAbout & { readonly grain: Grain; readonly ours: Sums },
): Promise<Theirs | undefined> {
  const { totals, found } = await sumRows(source, rows, about);
  const sums = new Sums();
  const matched = isByServing(source) ? new Sums() : undefined;
  const [duplicated, spreadOver] = [new Set<string>(), new Set<string>()];
  const turn = createTurns();
  for (const { lineItemIds, creativeId, day, units, matched: exact, isRepeated } of totals) {
    await turn();
    const keys = lineItemIds.map((lineItemId) => ({ lineItemId, creativeId, day }));
    const shares = spread(
      units,
      keys.map((key) => about.ours.of(key)),
    );
    for (const [index, key] of keys.entries()) {
      sums.add(key, shares[index]!);
      matched?.add(key, exact);
      if (isRepeated) duplicated.add(keyText(key));
      if (keys.length > 1) spreadOver.add(keyText(key));
    }
    if (sums.size > about.maxItems) return undefined;
  }
  return { sums, matched, duplicated, spread: spreadOver, found };
}

/** Whether a difference is beyond the tolerance: more than the smallest one, and more than the per cent of our number. */
export const isBeyond = (
  ours: number,
  theirs: number,
  { tolerancePct, smallest }: { readonly tolerancePct: number; readonly smallest: number },
): boolean => {
  const delta = Math.abs(theirs - ours);
  return delta > smallest && delta * 100 > Math.abs(ours) * tolerancePct;
};

/** What a source is matched with. */
interface MatchedAbout {
  readonly lineItems: readonly ScopedLineItem[];
  /** What the ids of the source mean here. */
  readonly ids: IdMap;
  /** The servings that its rows name. */
  readonly servings: KnownServings;
  readonly ledger: Ledger;
  /** Days of the period; they are counted in the zone of the source, else in that of the reconciliation. */
  readonly days: DayRange;
  /** Of the reconciliation. */
  readonly timeZone: string;
  readonly tolerancePct: number;
  readonly smallest: number;
  readonly provisional: boolean;
  /** The most items that the source may make. */
  readonly maxItems: number;
}

/**
 * The items of one source: every line item, creative and day for which the source or our ledger has units. Undefined when they are more than
 * `maxItems`, which it learns before they are in memory. Others have the event loop in between.
 */
export async function matchSource(
  source: ReconciliationSource,
  rows: readonly CountedRow[],
  about: MatchedAbout,
): Promise<{ readonly items: readonly NewItem[]; readonly found: SourceFound } | undefined> {
  const grain = grainOf(source, rows);
  const ours = await sumOurs(about.ledger, about.days, source.time_zone ?? about.timeZone, grain);
  const theirs = ours.size > about.maxItems ? undefined : await sumTheirs(source, rows, { ...about, grain, ours });
  if (!theirs) return undefined;
  const basisOf = new Map(about.lineItems.map(({ id, basis }) => [id, basis]));
  const isZoneUnknown = source.time_zone === undefined;
  const keys = new Map([...ours.entries(), ...theirs.sums.entries()].map(({ key }) => [keyText(key), key]));
  if (keys.size > about.maxItems) return undefined;

  const ambiguityOf = (
    text: string,
    key: ItemKey,
    counted: { readonly ours: number; readonly theirs: number },
  ): Ambiguity => {
    if (theirs.duplicated.has(text)) return 'duplicate_rows';
    if (!theirs.sums.has(key)) return 'missing_theirs';
    if (counted.ours === 0 && counted.theirs > 0) return 'missing_ours';
    if (basisOf.get(key.lineItemId) !== source.counting_basis) return 'basis_differs';
    if (isZoneUnknown) return 'zone_unknown';
    if (theirs.spread.has(text)) return 'spread';
    return about.provisional ? 'provisional' : 'none';
  };

  const items: NewItem[] = [];
  const turn = createTurns();
  for (const [text, key] of keys) {
    await turn();
    const counted = { ours: ours.of(key), theirs: theirs.sums.of(key) };
    if (counted.ours === 0 && counted.theirs === 0) continue;
    const ambiguity = ambiguityOf(text, key, counted);
    const beyond = isBeyond(counted.ours, counted.theirs, about);
    items.push({
      item_id: itemIdOf(source.name, key),
      source: source.name,
      ...{ line_item_id: key.lineItemId, creative_id: key.creativeId, day: key.day, ...counted },
      matched: theirs.matched?.of(key) ?? null,
      ours_basis: basisOf.get(key.lineItemId) ?? 'unknown',
      theirs_basis: source.counting_basis,
      ...{ ambiguity, beyond, verdict: ambiguity === 'none' && !beyond ? 'ours' : null },
    });
  }
  return { items, found: theirs.found };
}

const isForPeople = ({ verdict }: NewItem) => verdict === null;

/** Items in the order in which people decide them: those without a verdict, the largest differences first. */
export const inOrder = (items: readonly NewItem[]): NewItem[] =>
  items.toSorted(
    (a, b) =>
      Number(isForPeople(b)) - Number(isForPeople(a)) ||
      Number(b.beyond) - Number(a.beyond) ||
      Math.abs(b.theirs - b.ours) - Math.abs(a.theirs - a.ours) ||
      (a.item_id < b.item_id ? -1 : 1),
  );

/** Sums over items. */
export const totalsOf = (items: readonly NewItem[]): NonNullable<Reconciliation['totals']> => ({
  items: items.length,
  ours: items.reduce((sum, { ours }) => sum + ours, 0),
  theirs: items.reduce((sum, { theirs }) => sum + theirs, 0),
  for_people: items.filter(isForPeople).length,
  undecided: items.filter(isForPeople).length,
  undecided_beyond: items.filter((item) => isForPeople(item) && item.beyond).length,
});
