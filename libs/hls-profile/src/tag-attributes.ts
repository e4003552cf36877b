import type { Attributes, AttributeValue } from './attributes.ts';

type ValueType = 'quoted' | 'integer' | 'float' | 'word' | 'resolution' | 'quotedOrNone';

const isOf: Readonly<Record<ValueType, (value: AttributeValue) => boolean>> = {
  quoted: ({ isQuoted }) => isQuoted,
  integer: ({ text, isQuoted }) => !isQuoted && /^\d{1,20}$/.test(text),
  float: ({ text, isQuoted }) => !isQuoted && /^-?\d+(\.\d+)?$/.test(text),
  word: ({ isQuoted }) => !isQuoted,
  resolution: ({ text, isQuoted }) => !isQuoted && /^\d+x\d+$/.test(text),
  quotedOrNone: ({ text, isQuoted }) => isQuoted || text === 'NONE',
};

const written: Readonly<Record<ValueType, string>> = {
  quoted: 'text in straight quotation marks: "…"',
  integer: 'a whole number without quotation marks',
  float: 'a number without quotation marks',
  word: 'a word without quotation marks',
  resolution: 'WIDTHxHEIGHT without quotation marks',
  quotedOrNone: 'NONE without quotation marks, or the name of a group in them',
};

interface TagAttributes {
  /** Attributes that the standard demands. */
  readonly required: readonly string[];
  readonly types: Readonly<Record<string, ValueType>>;
}

const streamTypes = {
  BANDWIDTH: 'integer',
  'AVERAGE-BANDWIDTH': 'integer',
  SCORE: 'float',
  CODECS: 'quoted',
  RESOLUTION: 'resolution',
  'HDCP-LEVEL': 'word',
  'VIDEO-RANGE': 'word',
  VIDEO: 'quoted',
} as const;

/** RFC 8216 §4.3, and Appendix D of draft-pantos-hls-rfc8216bis for interstitials. Attributes that are not named here are not judged. */
const tagAttributes: Readonly<Record<string, TagAttributes>> = {
  'EXT-X-STREAM-INF': {
    required: ['BANDWIDTH'],
    types: {
      ...streamTypes,
      'FRAME-RATE': 'float',
      AUDIO: 'quoted',
      SUBTITLES: 'quoted',
      'CLOSED-CAPTIONS': 'quotedOrNone',
    },
  },
  'EXT-X-I-FRAME-STREAM-INF': { required: ['BANDWIDTH', 'URI'], types: { ...streamTypes, URI: 'quoted' } },
  'EXT-X-MEDIA': {
    required: ['TYPE', 'GROUP-ID', 'NAME'],
    types: {
      TYPE: 'word',
      URI: 'quoted',
      'GROUP-ID': 'quoted',
      LANGUAGE: 'quoted',
      'ASSOC-LANGUAGE': 'quoted',
      NAME: 'quoted',
      DEFAULT: 'word',
      AUTOSELECT: 'word',
      FORCED: 'word',
      'INSTREAM-ID': 'quoted',
      CHARACTERISTICS: 'quoted',
      CHANNELS: 'quoted',
    },
  },
  'EXT-X-SESSION-DATA': {
    required: ['DATA-ID'],
    types: { 'DATA-ID': 'quoted', VALUE: 'quoted', URI: 'quoted', LANGUAGE: 'quoted' },
  },
  'EXT-X-MAP': { required: ['URI'], types: { URI: 'quoted', BYTERANGE: 'quoted' } },
  'EXT-X-DATERANGE': {
    required: ['ID', 'START-DATE'],
    types: {
      ID: 'quoted',
      CLASS: 'quoted',
      'START-DATE': 'quoted',
      'END-DATE': 'quoted',
      DURATION: 'float',
      'PLANNED-DURATION': 'float',
      CUE: 'quoted',
      'X-ASSET-URI': 'quoted',
      'X-ASSET-LIST': 'quoted',
      'X-RESUME-OFFSET': 'float',
      'X-PLAYOUT-LIMIT': 'float',
      'X-SNAP': 'quoted',
      'X-RESTRICT': 'quoted',
      'X-TIMELINE-OCCUPIES': 'quoted',
      'X-TIMELINE-STYLE': 'quoted',
      'X-CONTENT-MAY-VARY': 'quoted',
    },
  },
};

/** What the standard says against the attributes of a tag, in sentences without a full stop. */
export function attributeProblems(tag: string, attributes: Attributes): readonly string[] {
  const rule = tagAttributes[tag];
  if (!rule) return [];
  return [
    ...rule.required.filter((name) => !attributes.has(name)).map((name) => `${tag} has no ${name}. Add it`),
    ...[...attributes].flatMap(([name, value]) => {
      const type = Object.hasOwn(rule.types, name) ? rule.types[name] : undefined;
      return type === undefined || isOf[type](value) ? [] : [`${name} of ${tag} must be ${written[type]}`];
    }),
  ];
}
