import { deliveryEventKinds, type DeliveryEventKind } from '@longwave/events';
import { z } from 'zod';
import { parseJson, parseRequest } from '../http/parse-request.ts';

/** The fields that a player chooses; ad, line item and price are those of the serving. */
export interface Report {
  readonly event: DeliveryEventKind;
  readonly sequence: number;
  /** When it happened, by the player's clock. */
  readonly reportedAt: string | undefined;
}

export interface TokenReport extends Report {
  readonly token: string;
}

/** Reports in one request. */
const maxReports = 50;
const maxSequence = 65_535;

const event = z.enum(deliveryEventKinds);
const sequence = z.int().min(0).max(maxSequence);
const at = z.iso.datetime({ offset: true });

const querySchema = z.object({
  e: event.optional(),
  n: z
    .string()
    .regex(/^\d{1,5}$/)
    .transform(Number)
    .pipe(sequence)
    .optional(),
  f: z.literal('gif').optional(),
});
const bodySchema = z.strictObject({ event: event.optional(), sequence: sequence.optional(), at: at.optional() });
const batchSchema = z.strictObject({
  events: z
    .array(z.strictObject({ token: z.string().max(500), event, sequence: sequence.default(0), at: at.optional() }))
    .min(1)
    .max(maxReports),
});

/**
 * Reads one report from the query (`e`, `n`, `f`) and the body, which wins and may be empty. Other parameters of the query are ignored,
 * other fields of the body refused. Throws `malformed_json` or `validation_failed`, both 400.
 */
export function readReport(query: unknown, body: string): Report & { readonly wantsGif: boolean } {
  const inQuery = parseRequest(querySchema, query);
  const inBody = body === '' ? {} : parseRequest(bodySchema, parseJson(body));
  return {
    event: parseRequest(event, inBody.event ?? inQuery.e),
    sequence: inBody.sequence ?? inQuery.n ?? 0,
    reportedAt: inBody.at,
    wantsGif: inQuery.f !== undefined,
  };
}

/** The reports of `{"events": [{token, event, sequence?, at?}]}`. Throws as `readReport` does. */
export function readReports(body: string): TokenReport[] {
  return parseRequest(batchSchema, parseJson(body)).events.map(({ at: reportedAt, ...rest }) => ({
    ...rest,
    reportedAt,
  }));
}
