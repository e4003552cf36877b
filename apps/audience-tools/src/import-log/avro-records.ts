import { pipeline, Transform } from 'node:stream';
import { inflateRaw } from 'node:zlib';
import avro from 'avsc';
import { openPlain } from '../files/read-lines.ts';

const syncBytes = 16;

/** Keeps the last bytes of a stream. */
function keepTail(bytes: number): { readonly stream: Transform; readonly tail: () => Buffer } {
  let kept = Buffer.alloc(0);
  const stream = new Transform({
    transform: (chunk: Buffer, _, done) => {
      kept = Buffer.concat([kept, chunk]).subarray(-bytes);
      done(null, chunk);
    },
  });
  return { stream, tail: () => kept };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** A name by the rules of Avro (1.11, Names): forbidden characters become `_`. */
const validName = (name: string) => name.replace(/[^\w.]/g, '_').replace(/(^|\.)(?=\d)/g, '$1_');

const primitives = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string']);

/**
 * A schema with names that Avro allows. Some writers do not check names: oDL, which uses fastavro, calls its records "oDL Events". Decoding
 * does not depend on names.
 */
function withValidNames(schema: unknown): unknown {
  if (typeof schema === 'string') return primitives.has(schema) ? schema : validName(schema);
  if (Array.isArray(schema)) return schema.map(withValidNames);
  if (!isObject(schema)) return schema;
  const { aliases: _, ...rest } = schema;
  return Object.fromEntries(
    Object.entries(rest).map(([key, value]) => {
      if ((key === 'name' || key === 'namespace') && typeof value === 'string') return [key, validName(value)];
      if (key === 'type' || key === 'items' || key === 'values') return [key, withValidNames(value)];
      if (key === 'fields' && Array.isArray(value)) return [key, value.map(withoutDefault)];
      return [key, value];
    }),
  );
}

/** A field of a record without its default, which only readers with another schema need. */
function withoutDefault(field: unknown): unknown {
  if (!isObject(field)) return field;
  const { default: _, ...rest } = field;
  return withValidNames(rest);
}

/**
 * The records of an object container file (Avro 1.11), uncompressed or deflated. Every block ends with the marker that the header names.
 * Throws `RangeError` when the end of the file is missing, and the decoder's error when it is not such a file.
 */
export async function* readAvroRecords(file: string): AsyncGenerator<ReadonlyMap<string, unknown>> {
  const decoder = new avro.streams.BlockDecoder({
    codecs: { ...avro.streams.BlockDecoder.defaultCodecs(), deflate: inflateRaw },
    parseHook: (schema: unknown) => avro.Type.forSchema(withValidNames(schema) as avro.Schema),
  });
  let marker: Buffer | undefined;
  decoder.once('metadata', (_type: unknown, _codec: unknown, header: { readonly sync: Buffer }) => {
    marker = Buffer.from(header.sync);
  });
  const { stream, tail } = keepTail(syncBytes);
  // Errors of each stream reach the reader of the last one.
  const records = pipeline(await openPlain(file), stream, decoder, () => undefined);
  for await (const value of records as AsyncIterable<unknown>)
    yield new Map(isObject(value) ? Object.entries(value) : []);
  if (!marker?.equals(tail())) throw new RangeError('the end of the file is missing');
}
