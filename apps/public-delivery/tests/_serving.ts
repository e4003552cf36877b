import { createTokenKeys } from '@longwave/delivery-token';
import { newId } from '@longwave/ids';
import { createServingTokens, type ServingTokens } from '../src/reports/serving-token.ts';
import type { Ask } from './_ask.ts';
import { newListener } from './_ask.ts';
import { noAds, pickOf, type Bench } from './_support.ts';

/** A play with one ad, as a player knows it. */
export interface Served {
  readonly servingId: string;
  readonly decisionId: string;
  readonly startedAt: Date;
  readonly listener: Record<string, string>;
  /** Of its file. */
  readonly location: string;
}

/** Tokens of the service; another secret or host gives foreign ones. */
export const tokensOf = (
  bench: Bench,
  { secret = String(bench.environment['DELIVERY_TOKEN_SECRETS']), host = 'media.test' } = {},
): ServingTokens => createServingTokens(createTokenKeys([Buffer.from(secret, 'hex')]), host);

/** Lets a new listener play an enclosure whose decision has this ad, which is in the store. */
export async function serveOnce(bench: Bench, ask: Ask, enclosure: string, ad: Buffer, clickUrl = ''): Promise<Served> {
  const servingId = newId('srv');
  bench.serving.answer = async (request) => ({
    ...noAds(request),
    picks: [{ ...pickOf(ad, servingId), clickUrl }],
    servingPlanId: 'spl',
  });
  const listener = newListener();
  const { status, headers } = await ask(enclosure, listener);
  if (status !== 302) throw new Error(`the enclosure answers ${status}`);
  const { rows } = await bench.pool.query<{ decision_id: string; started_at: Date }>(
    `select decision_id, started_at from binding where ads->'pre/0'->>'serving_id' = $1`,
    [servingId],
  );
  return {
    servingId,
    decisionId: rows[0]!.decision_id,
    startedAt: rows[0]!.started_at,
    listener,
    location: String(headers.location),
  };
}
