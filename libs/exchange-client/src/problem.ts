import { z } from 'zod';

/** A problem document (RFC 9457) of the exchange; further members depend on the code. */
const problemSchema = z.looseObject({
  status: z.int(),
  code: z.string(),
  detail: z.string().default(''),
  trace_id: z.string().optional(),
  errors: z.array(z.looseObject({ path: z.string(), detail: z.string() })).optional(),
  field_path: z.string().optional(),
  index: z.int().min(0).optional(),
  expected_seq: z.int().optional(),
  expected_prev: z.string().nullable().optional(),
  accepted_digest: z.string().optional(),
  received_digest: z.string().optional(),
});
export type ExchangeProblemDocument = z.output<typeof problemSchema>;

/** The problem in an answer; undefined for any other text. */
export function tryParseProblem(text: string): ExchangeProblemDocument | undefined {
  try {
    return problemSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** What the sender can do about a place in the chain. */
function expectation({ expected_seq: seq, expected_prev: prev, ...digests }: ExchangeProblemDocument): string {
  const { accepted_digest: accepted, received_digest: received } = digests;
  const parts = [
    ...(seq === undefined ? [] : [`expected seq ${seq}`]),
    ...(prev === undefined ? [] : [`expected prev ${prev ?? 'null'}`]),
    ...(accepted === undefined ? [] : [`accepted ${accepted}`]),
    ...(received === undefined ? [] : [`received ${received}`]),
  ];
  return parts.length > 0 ? `; ${parts.join(', ')}` : '';
}

/** A problem in lines: its sentence, its code, every field that is wrong, and what the exchange expected. */
function problemText(problem: ExchangeProblemDocument): string {
  const { detail, code, errors = [], field_path: field } = problem;
  const path = field === undefined ? '' : ` at ${field}`;
  return [
    `${detail || 'The exchange refused the request.'} (${code}${path}${expectation(problem)})`,
    ...errors.filter((each) => !detail.includes(each.detail)).map((each) => `  ${each.path}: ${each.detail}`),
    ...(problem.trace_id === undefined ? [] : [`  Trace: ${problem.trace_id}`]),
  ].join('\n');
}

/** The exchange refused a request; sending it again would be refused, too. */
export class ExchangeRefusal extends Error {
  readonly code: string;
  readonly status: number;
  readonly problem: ExchangeProblemDocument;

  constructor(problem: ExchangeProblemDocument) {
    super(problemText(problem));
    this.problem = problem;
    this.code = problem.code;
    this.status = problem.status;
  }
}

/** The exchange gave no answer that settles the request, however often it was sent. */
export class ExchangeUnreachable extends Error {
  /** HTTP status of the last answer; undefined when there was none. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

/** One request got no answer that counts: its connection broke, its time was over, or no token could be had for it. */
export class NoAnswer extends Error {}
