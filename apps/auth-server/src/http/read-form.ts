import { Problem } from '@longwave/problems';
import express, { type Request, type Response } from 'express';

const type = 'application/x-www-form-urlencoded';
const readText = express.text({ limit: '64kb', type });

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
  const fields = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
  const entries = [...new Set(fields.keys())].map((name) => {
    const values = fields.getAll(name);
    return [name, values.length === 1 ? values[0]! : values] as const;
  });
  return Object.fromEntries(entries);
}
