import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

/** A problem document (RFC 9457) as far as this program shows it. */
const problemSchema = z.object({
  status: z.number(),
  code: z.string(),
  detail: z.string(),
  trace_id: z.string().optional(),
  operation_id: z.string().optional(),
  recovery_url: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), code: z.string(), detail: z.string() })).optional(),
});
export type ManagementProblem = z.infer<typeof problemSchema>;

/** A refusal of the Management API. The message names every wrong field, the operation that it is about, and where to look. */
export class Refusal extends Error {
  readonly code: string;
  /** Undefined for an answer that is no problem document. */
  readonly problem: ManagementProblem | undefined;

  constructor(text: string, status: number) {
    const { data: problem } = problemSchema.safeParse(tryJson(text));
    super(problem ? problemText(problem) : `The service answered ${status}: ${text.slice(0, 300)}`);
    this.problem = problem;
    this.code = problem?.code ?? 'unknown';
  }
}

/** A problem in lines: its sentence and code, every wrong field, and where to look. */
export function problemText({ detail, code, errors, ...references }: ManagementProblem): string {
  const shown = (errors ?? []).filter((each) => !detail.includes(each.detail));
  return [
    `${detail} (${code})`,
    ...shown.map((each) => `  ${each.path}: ${each.detail}`),
    ...(references.operation_id === undefined ? [] : [`  Operation: ${references.operation_id}`]),
    ...(references.recovery_url === undefined ? [] : [`  See: ${references.recovery_url}`]),
    ...(references.trace_id === undefined ? [] : [`  Trace: ${references.trace_id}`]),
  ].join('\n');
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where the API is, and a token that is good for a while. */
export type Access = () => Promise<{ readonly resource: string; readonly access_token: string }>;

export interface Request {
  readonly method?: 'GET' | 'POST';
  /** Below the API's base path, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

const maxTries = 6;
const maxWaitSeconds = 60;

/** Statuses after which the same request, with the same idempotency key, may be sent again. */
const isTemporary = (status: number, text: string) =>
  [429, 503, 504].includes(status) || (status === 409 && text.includes('"idempotency_in_progress"'));

/** Whether a request, or the renewal of the sign-in before it, was lost on the way: `fetch` gives such errors a cause. */
const isLost = (error: unknown): error is Error => {
  const { name, cause } = error as Error;
  return name === 'TypeError' && cause !== undefined;
};

/** A client of the Management API. It waits as long as the service asks, and sends a request without an answer again. */
export function openManagementApi(access: Access, tell: (line: string) => void) {
  async function send({ method = 'GET', path, headers, body }: Request): Promise<Response> {
    const { resource, access_token: token } = await access();
    return fetch(`${resource}${path}`, {
      method,
      redirect: 'error',
      headers: {
        Authorization: `Bearer ${token}`,
        Accept: 'application/json',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async function read(request: Request): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const answer = await send(request).then(
        async (response) => ({ response, text: await response.text() }),
        (error: unknown) => {
          if (!isLost(error)) throw error;
          return { error };
        },
      );
      const isLast = attempt === maxTries;
      if ('error' in answer) {
        if (isLast) throw new Error('The service does not answer.', { cause: answer.error });
      } else if (answer.response.ok) return answer.text;
      else if (isLast || !isTemporary(answer.response.status, answer.text))
        throw new Refusal(answer.text, answer.response.status);
      const asked = 'error' in answer ? null : answer.response.headers.get('retry-after');
      const seconds = Math.min(Number(asked ?? 0) || 2 ** (attempt - 1), maxWaitSeconds);
      tell(`The service ${'error' in answer ? 'did not answer' : 'is busy'}. Trying again in ${seconds} s.`);
      await pause(seconds * 1000);
    }
  }

  return {
    /** The text of a successful answer. Throws a `Refusal` for a problem that waiting does not mend. */
    read,

    /** The JSON of a successful answer. Throws a `Refusal` for a problem that waiting does not mend. */
    ask: async (request: Request): Promise<unknown> => tryJson(await read(request)),

    /** The events of a stream (text/event-stream), until the service ends it. */
    async *events(path: string, lastId?: string): AsyncGenerator<{ readonly id: string; readonly data: unknown }> {
      const headers = { Accept: 'text/event-stream', ...(lastId !== undefined && { 'Last-Event-ID': lastId }) };
      const response = await send({ path, headers });
      if (!response.ok) throw new Refusal(await response.text(), response.status);
      let event: { id: string; data: string[] } = { id: '', data: [] };
      for await (const line of createInterface({ input: Readable.fromWeb(response.body!) })) {
        if (line === '') {
          if (event.data.length > 0) yield { id: event.id, data: JSON.parse(event.data.join('\n')) };
          event = { id: event.id, data: [] };
        } else if (line.startsWith('id:')) event.id = line.slice(3).trim();
        else if (line.startsWith('data:')) event.data.push(line.slice(5).trim());
      }
    },
  };
}

export type ManagementApi = ReturnType<typeof openManagementApi>;
