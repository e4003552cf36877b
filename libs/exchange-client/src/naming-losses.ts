import { NoAnswer } from './problem.ts';

/**
 * A `fetch` that reads the whole answer, and throws `NoAnswer` for whatever breaks before its end.
 * @param whom begins the sentence of the error: "The exchange at https://…"
 */
export const namingLosses =
  (outside: typeof fetch, whom: string): typeof fetch =>
  async (input, init) => {
    try {
      const response = await outside(input, init);
      const { status, headers } = response;
      const body = await response.arrayBuffer();
      return new Response(body.byteLength === 0 ? null : body, { status, headers });
    } catch (cause) {
      throw new NoAnswer(`${whom} does not answer.`, { cause });
    }
  };
