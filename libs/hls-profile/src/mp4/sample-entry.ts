import { boxesIn, findBox, viewOf, type Box } from './boxes.ts';

/** How the samples of a track are encoded (ISO/IEC 14496-12 §8.5.2). */
export interface SampleEntry {
  /** As in `CODECS`: "mp4a.40.2", "avc1.64001f"; the type of the entry alone where this library reads no more. */
  readonly codec: string;
  /** Of audio. */
  readonly sampleRate?: number;
  readonly channels?: number;
  /** Of video, in pixels. */
  readonly width?: number;
  readonly height?: number;
}

const hex = (byte: number) => byte.toString(16).padStart(2, '0');

/** The descriptors of MPEG-4 (ISO/IEC 14496-1 §8.3.3): tag, and where the body stands. */
function* descriptorsIn(bytes: Uint8Array, start: number, end: number) {
  for (let at = start; at + 2 <= end;) {
    const tag = bytes[at]!;
    let [size, next] = [0, at + 1];
    for (let more = true; more && next < end; next += 1) {
      size = size * 128 + (bytes[next]! & 0x7f);
      more = bytes[next]! >= 0x80;
    }
    yield { tag, body: next, end: Math.min(next + size, end) };
    at = next + size;
  }
}

/** "mp4a.40.2" from the decoder configuration of an `esds`. */
function codecOfEsds(bytes: Uint8Array, { body, end }: Box): string {
  // ES descriptor: id and flags, with optional parts; then the decoder configuration with its own descriptors.
  for (const es of descriptorsIn(bytes, body + 4, end)) {
    const flags = bytes[es.body + 2]!;
    const optional = (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? bytes[es.body + 3]! + 1 : 0) + (flags & 0x20 ? 2 : 0);
    for (const config of descriptorsIn(bytes, es.body + 3 + optional, es.end)) {
      if (config.tag !== 4) continue;
      const objectType = bytes[config.body]!;
      if (objectType !== 0x40) return `mp4a.${hex(objectType)}`;
      for (const specific of descriptorsIn(bytes, config.body + 13, config.end)) {
        if (specific.tag !== 5) continue;
        const [first = 0, second = 0] = bytes.subarray(specific.body);
        const type = first >> 3;
        return `mp4a.40.${type === 31 ? 32 + ((first & 7) << 3) + (second >> 5) : type}`;
      }
    }
  }
  return 'mp4a';
}

/** Reads the first entry of an `stsd`. Throws `Mp4Error`, or `RangeError` past the last byte. */
export function readSampleEntry(bytes: Uint8Array, stsd: Box): SampleEntry | undefined {
  const view = viewOf(bytes);
  const [entry] = boxesIn(bytes, stsd.body + 8, stsd.end);
  if (!entry) return undefined;
  const { type, body } = entry;
  if (type === 'mp4a') {
    const inside = { ...entry, body: body + 28 };
    const esds = findBox(bytes, 'esds', inside);
    const codec = esds ? codecOfEsds(bytes, esds) : type;
    return { codec, channels: view.getUint16(body + 16), sampleRate: view.getUint32(body + 24) >>> 16 };
  }
  if (/^(avc[13]|hvc1|hev1|dvh1|dvhe|av01|vp09)$/.test(type)) {
    const size = { width: view.getUint16(body + 24), height: view.getUint16(body + 26) };
    const avcC = type.startsWith('avc') ? findBox(bytes, 'avcC', { ...entry, body: body + 78 }) : undefined;
    const profile = avcC && [...bytes.subarray(avcC.body + 1, avcC.body + 4)].map(hex).join('');
    return { codec: profile === undefined ? type : `${type}.${profile}`, ...size };
  }
  return { codec: type };
}
