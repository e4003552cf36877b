import { Problem } from '@longwave/problems';
import express, { type Request, type Response } from 'express';

const type = 'application/x-www-form-urlencoded';
const readText = express.text({ limit: '64kb', type });
const maxFields = 1_000;

/** The fields of a form as they were sent; one that is there several times is a list. Throws for another content type. */
export async function readForm(
  request: Request,
  response: Response,
): Promise<Readonly<Record<string, string | readonly string[]>>> {
  if (!request.is(type)) throw new Problem('unsupported_media_type', 'Send the form of the page.');
  await new Promise<void>((resolve, reject) =>
    readText(request, response, (error?: unknown) => {
      if (error === undefined) return resolve();
      const isTooLarge = (error as { status?: number }).status === 413;
      reject(
        new Problem(isTooLarge ? 'payload_too_large' : 'malformed_request', 'The form cannot be read.', {
          cause: error,
        }),
      );
    }),
  );
  const text = typeof request.body === 'string' ? request.body : '';
  if (text.split('&', maxFields + 1).length > maxFields)
    throw new Problem('payload_too_large', `The form has more than ${maxFields} fields.`);
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = fields.get(name);
    fields.set(name, earlier === undefined ? value : [earlier, value].flat());
  }
  return Object.fromEntries(fields);
}
