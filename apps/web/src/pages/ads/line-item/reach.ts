import { check } from '../../../commands/check.ts';
import { cleaned, isObject, type Draft } from '../../../commands/form-value.ts';
import type { Schema } from '../../../commands/type-forms.ts';
import type { Attributes, Resource } from '../../../api/management.ts';

/** The tenth, the fiftieth and the ninetieth of a hundred outcomes, in slots. */
export interface Outcomes {
  readonly p10: number;
  readonly p50: number;
  readonly p90: number;
}

/** Who would get less, in slots. */
interface Contending {
  readonly line_item_id: string;
  readonly loses: number;
  readonly of_goal?: number;
}

/** A forecast as the card reads it; its numbers are there once it is ready. */
export type Forecast = Resource<{
  readonly capacity?: Outcomes;
  readonly available?: Outcomes;
  readonly possible?: Outcomes;
  readonly contending?: readonly Contending[];
  readonly assumptions?: readonly string[];
  readonly problem?: { readonly detail: string };
}>;

/** Types of line items whose slots are promised or left over by number; others have shares of breaks. */
const countedTypes = ['guaranteed', 'non_guaranteed', 'house'];
const countedUnits = ['impressions', 'completes'];
/** Fields of a line item that a forecast of one that is only thought of takes over. */
const taken = ['priority', 'break_positions', 'frequency_caps', 'targeting'];

/**
 * The changes of `forecast.request` for a line item while somebody fills it in; undefined while its window or what is asked of it is missing or wrong.
 * @param schema of the line item's own command
 */
export function forecastOf(schema: Schema, draft: Draft): Attributes | undefined {
  const said = cleaned(schema, draft) as Draft;
  const { window, type, goal } = said;
  const asked = Object.fromEntries(taken.flatMap((name) => (said[name] === undefined ? [] : [[name, said[name]]])));
  const concerned = ['window', 'type', 'break_positions', 'frequency_caps', 'targeting'];
  const isWrong = check(schema, said).some(({ path }) => concerned.includes(path.split('/')[1] ?? ''));
  if (isWrong || !isObject(window) || typeof type !== 'string') return undefined;
  // A share of breaks is no number of slots: how many fit is the answer then.
  if (!countedTypes.includes(type)) {
    const { break_positions, targeting } = asked;
    return {
      kind: 'traffic',
      window,
      prospective: { ...(break_positions && { break_positions }), ...(targeting && { targeting }) },
    };
  }
  const { unit, quantity } = isObject(goal) ? goal : {};
  const isCounted = countedUnits.includes(String(unit)) && typeof quantity === 'number' && quantity >= 1;
  return { kind: 'availability', window, prospective: { type, ...asked, ...(isCounted && { quantity }) } };
}

/** How many are wanted; undefined where nobody said. */
export function wantedOf(request: Attributes): number | undefined {
  const { prospective } = request;
  const quantity = isObject(prospective) ? prospective['quantity'] : undefined;
  return typeof quantity === 'number' ? quantity : undefined;
}

/** What a forecast says of a wish: it fits, others would get less, or so many are left. */
export type Verdict = 'fits' | 'takes' | 'short';

/** Whether as many as are wanted can be had. Undefined where nobody said how many. */
export function verdictOf(
  { possible, available, contending = [] }: Forecast['attributes'],
  wanted: number | undefined,
): Verdict | undefined {
  if (wanted === undefined || possible === undefined || available === undefined) return undefined;
  if (wanted <= available.p50 && contending.length === 0) return 'fits';
  return wanted <= possible.p50 ? 'takes' : 'short';
}
