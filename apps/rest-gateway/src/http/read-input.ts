import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import { Problem, parseOrProblem } from '@longwave/problems';
import express, { type Request, type Response } from 'express';
import type { z } from 'zod';

const limit = 1_048_576;
const formType = 'application/x-www-form-urlencoded';
/** A decoder would replace what is not UTF-8 in silence. */
const verify = (_request: unknown, _response: unknown, body: Buffer, charset: string) => {
  if (/^utf-?8$/i.test(charset) && !isUtf8(body)) throw new Error('not UTF-8');
};
const readJson = express.json({ limit, verify });
const readForm = express.text({ limit, type: formType, verify });
const maxFormFields = 1_000;

/** A body as it came; a form's values are texts that still need their types. */
export interface RawBody {
  readonly value: unknown;
  readonly form: boolean;
}

export const noBody: RawBody = { value: {}, form: false };

/** The bytes that a form's text stands for. */
const percentDecoded = (text: string): Buffer =>
  Buffer.from(
    Buffer.from(text)
      .toString('latin1')
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  );

/** Every field by its own name, `__proto__` too, so that the schema checks all of them. */
function parseForm(text: string): RawBody {
  if (text.split('&', maxFormFields + 2).length > maxFormFields)
    throw new Problem('payload_too_large', `The form has more than ${maxFormFields} fields.`);
  if (!isUtf8(percentDecoded(text))) throw new Problem('malformed_json', notUtf8);
  return { value: parse(text, '&', '=', { maxKeys: 0 }), form: true };
}

const notUtf8 = 'The body is not valid UTF-8.';

function bodyProblem(error: unknown): unknown {
  const { type, status } = error as { type?: string; status?: number };
  if (status === 413) return new Problem('payload_too_large', 'The body is larger than 1 MiB.');
  if (status === 415) return new Problem('unsupported_media_type', 'This charset or encoding is not supported.');
  if (type === 'entity.verify.failed') return new Problem('malformed_json', notUtf8);
  if (type === 'entity.parse.failed') return new Problem('malformed_json', 'The body is not valid JSON.');
  if (status !== undefined && status < 500) return new Problem('malformed_json', 'The body could not be read.');
  return error;
}

/** Whether a chunked body is empty; what it has is discarded. */
async function isEmpty(request: Request): Promise<boolean> {
  let empty = true;
  try {
    for await (const _part of request.iterator({ destroyOnReturn: false })) {
      empty = false;
      break;
    }
  } catch (cause) {
    throw new Problem('malformed_json', 'The body could not be read.', { cause });
  }
  request.resume();
  return empty;
}

/**
 * Reads at most 1 MiB of JSON or form. Throws `payload_too_large`, `malformed_json` or `unsupported_media_type`.
 * @param options.onlyJson refuses forms: a page of another site can send one
 */
export async function readBody(
  request: Request,
  response: Response,
  { onlyJson }: { readonly onlyJson: boolean },
): Promise<RawBody> {
  const { 'content-length': length, 'transfer-encoding': chunked } = request.headers;
  if (chunked === undefined && (length === undefined || length === '0')) return noBody;
  const form = !onlyJson && Boolean(request.is(formType));
  if (!form && !request.is('application/json')) {
    if (chunked !== undefined && (await isEmpty(request))) return noBody;
    throw new Problem('unsupported_media_type', `Send application/json${onlyJson ? '' : ` or ${formType}`}.`);
  }
  await new Promise<void>((resolve, reject) =>
    (form ? readForm : readJson)(request, response, (error?: unknown) =>
      error ? reject(bodyProblem(error)) : resolve(),
    ),
  );
  const body = request.body as unknown;
  return form ? parseForm(typeof body === 'string' ? body : '') : { value: body, form };
}

/** The kind of a field below `optional`, `default` and `nullable`. */
function kindOf(schema: unknown): string {
  const { type, innerType } = (schema as z.ZodType).def as { type: string; innerType?: unknown };
  return innerType === undefined ? type : kindOf(innerType);
}

const booleans = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

function fromText(kind: string | undefined, value: unknown): unknown {
  if (kind === 'array') return Array.isArray(value) ? value : [value];
  if (typeof value !== 'string') return value;
  if (kind === 'number' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (kind === 'boolean') return booleans.get(value) ?? value;
  return value;
}

/** Gives a form's or a query's texts the types that the schema wants; only a list is named `name[]`. A text that fits no type stays a text, for the schema to refuse. */
function typeTexts(schema: z.ZodObject, texts: unknown): Record<string, unknown> {
  const kinds = new Map(Object.entries(schema.shape).map(([name, field]) => [name, kindOf(field)]));
  return Object.fromEntries(
    Object.entries(texts as object).map(([name, value]) => {
      const listed = name.endsWith('[]') ? name.slice(0, -2) : name;
      const field = kinds.get(listed) === 'array' ? listed : name;
      return [field, fromText(kinds.get(field), value)];
    }),
  );
}

/** The parsed body. Throws `validation_failed` naming every wrong or unknown field. */
export const parseBody = <T extends z.ZodObject>(schema: T, body: RawBody): z.output<T> =>
  parseOrProblem(schema, body.form ? typeTexts(schema, body.value) : body.value);

/** Parameters that come by query or body; the body wins. Throws `validation_failed` naming every wrong or unknown one. */
export function parseParameters<T extends z.ZodObject>(schema: T, query: object, body: RawBody): z.output<T> {
  const { value } = body;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return parseBody(schema, body);
  return parseOrProblem(schema, { ...typeTexts(schema, query), ...(body.form ? typeTexts(schema, value) : value) });
}

/** The parsed query. Throws `validation_failed` naming every wrong or unknown parameter. */
export const parseQuery = <T extends z.ZodObject>(schema: T, query: unknown): z.output<T> =>
  parseOrProblem(schema, typeTexts(schema, query));
