import type { Visit } from '../http/page-route.ts';
import { html, type Html } from './html.ts';

/** The status and the sentence of a page after a refused attempt. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** The refusal of an attempt that was one too many. */
export function refuseThrottled(message: string, waitSeconds: number, { response }: Pick<Visit, 'response'>): Refusal {
  response.set('Retry-After', String(waitSeconds));
  return { status: 429, message };
}

/** A refusal at the top of a form. */
export const refusalNote = (refusal: Refusal | undefined): Html | undefined =>
  refusal && html`<p class="note bad" role="alert">${refusal.message}</p>`;
