import type { z } from 'zod';
import { ExchangeRefusal } from './problem.ts';
import type { SendRequest } from './send-request.ts';

/** Requests whose answers are JSON of a known form; throws a `ZodError` for any other. */
export function jsonCalls(send: SendRequest) {
  const read = async <T>(schema: z.ZodType<T>, path: string): Promise<T> =>
    schema.parse(JSON.parse(await send({ method: 'GET', path })));

  return {
    read,

    /** The pages of a list, one after another. */
    async *pages<T extends { readonly next_after: number | null }>(
      schema: z.ZodType<T>,
      path: string,
      { after, limit }: { readonly after: number; readonly limit: number },
    ): AsyncGenerator<T> {
      for (let next: number | null = after; next !== null;) {
        const page: T = await read(schema, `${path}?after=${next}&limit=${limit}`);
        yield page;
        next = page.next_after;
      }
    },

    /** Undefined for what the exchange does not know. */
    find: async <T>(schema: z.ZodType<T>, path: string): Promise<T | undefined> =>
      read(schema, path).catch((error: unknown) => {
        if (error instanceof ExchangeRefusal && error.status === 404) return undefined;
        throw error;
      }),

    post: async <T>(schema: z.ZodType<T>, path: string, body: object, idempotencyKey: string): Promise<T> => {
      const text = await send({ method: 'POST', path, body: Buffer.from(JSON.stringify(body)), idempotencyKey });
      return schema.parse(text === '' ? undefined : JSON.parse(text));
    },
  };
}
