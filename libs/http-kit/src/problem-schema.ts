import { z } from 'zod';

/** A problem document (RFC 9457), as `problemDocument` writes it. */
export const problemSchema = z.strictObject({
  type: z.string().describe('`urn:longwave:problem:…`, stable.'),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe('What is wrong and what to do; never anything private.'),
  code: z.string().describe('The short code, stable.'),
  instance: z.string().describe('This occurrence: `urn:longwave:request:` and the trace ID.'),
  trace_id: z.string().describe('Name it when you report the problem.'),
  operation_id: z.string().optional().describe('The operation that it is about.'),
  receipt_id: z.string().optional().describe('The receipt that it is about.'),
  provider: z
    .strictObject({
      external_receipt: z.string().nullable().describe('The provider’s own reference; null when it gave none.'),
      ambiguity: z
        .enum(['none', 'unknown', 'conflicting'])
        .optional()
        .describe(
          'unknown: the provider may or may not have acted. conflicting: its statements contradict each other.',
        ),
    })
    .optional()
    .describe('The part that a provider outside the service has; only where one was asked.'),
  subject: z
    .strictObject({ type: z.string(), id: z.string().nullable(), version: z.int() })
    .optional()
    .describe('The resource that it is about, with its current version.'),
  errors: z
    .array(
      z.strictObject({
        path: z.string().describe('JSON Pointer into the body, or below `/query` or `/headers`.'),
        code: z.string(),
        detail: z.string(),
      }),
    )
    .optional()
    .describe('The fields that are wrong.'),
  limit: z.strictObject({ needed_ms: z.int() }).optional().describe('Encoding time that the refused work takes.'),
  retry: z
    .strictObject({
      class: z.enum(['never', 'after_fix', 'after_read', 'after_delay', 'poll']),
      after_seconds: z.number().optional(),
    })
    .describe('When the request may be sent again.'),
  recovery_url: z.string().optional().describe('An address that helps: of the subject, the operation or the catalog.'),
});
