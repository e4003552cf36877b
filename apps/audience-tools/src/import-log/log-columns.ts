import { logFields, type LogField } from './prefix-record.ts';

/**
 * The usual names of columns, lower-case letters and digits alone: OP3, oDL, Amazon CloudFront and S3, nginx, Apache, Cloudflare and others
 * use them. The first name that a log has is used.
 */
const usualNames: Readonly<Record<LogField, readonly string[]>> = {
  time: [
    'time',
    'timestamp',
    'datetime',
    'ts',
    'timeiso8601',
    'timelocal',
    'edgestarttimestamp',
    'eventtime',
    'requesttime',
    'startedat',
  ],
  url: [
    'url',
    'requesturl',
    'clientrequesturl',
    'csuristem',
    'clientrequesturi',
    'requesturi',
    'uri',
    'path',
    'enclosureurl',
  ],
  episode_id: ['episodeid', 'episode'],
  method: ['method', 'requestmethod', 'csmethod', 'clientrequestmethod', 'httpmethod'],
  status: ['status', 'scstatus', 'statuscode', 'httpstatus', 'edgeresponsestatus', 'responsestatus'],
  range: ['range', 'httprange', 'csrange', 'requestrange', 'rangeheader'],
  range_start: ['byterangestart', 'rangestart', 'scrangestart'],
  range_end: ['byterangeend', 'rangeend', 'scrangeend'],
  body_bytes: ['bodybytessent', 'bodybytes'],
  ip: ['ip', 'clientip', 'cip', 'remoteaddr', 'remoteip', 'ipaddress', 'address'],
  ip_hash: ['iphash', 'hashedipaddress', 'hashedip', 'encodedip'],
  user_agent: ['useragent', 'httpuseragent', 'csuseragent', 'clientrequestuseragent', 'agent', 'ua'],
  referer: ['referer', 'referrer', 'httpreferer', 'csreferer', 'clientrequestreferer'],
  purpose: ['secpurpose', 'purpose', 'xmoz', 'xpurpose'],
};

/** Columns that the user names: field → column. */
export type NamedColumns = Partial<Readonly<Record<LogField, string>>>;

/** Parses `time=ts,url=request`. Throws `RangeError` with a message for the user. */
export function parseColumns(text: string): NamedColumns {
  const named: Partial<Record<LogField, string>> = {};
  for (const pair of text.split(',')) {
    const [, field = '', column = ''] = /^([^=]*)=(.*)$/.exec(pair.trim()) ?? [];
    const known = logFields.find((one) => one === field);
    if (known === undefined || column === '')
      throw new RangeError(
        `--columns must be a list such as time=ts,url=request_url; “${pair}” is not part of one. Fields: ${logFields.join(', ')}.`,
      );
    named[known] = column;
  }
  return named;
}

const bare = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

export interface LogColumns {
  /** The fields of a record, by the values of its columns. */
  readonly read: (value: (column: string) => unknown) => Partial<Record<LogField, unknown>>;
  /** Required fields that no column gives. */
  readonly missing: readonly string[];
  /** Each field with its column. */
  readonly understood: readonly (readonly [field: LogField, column: string])[];
  readonly ignored: readonly string[];
}

/** The required fields; one of each group is enough. */
const neededFields: readonly (readonly LogField[])[] = [
  ['time'],
  ['url', 'episode_id'],
  ['ip', 'ip_hash'],
  ['user_agent'],
];

/** CloudFront's W3C extended log files percent-encode values of headers. */
function decodeHeader(value: unknown): unknown {
  try {
    return typeof value === 'string' ? decodeURIComponent(value) : value;
  } catch {
    return value;
  }
}

/** Finds the fields among a log's columns: by the names given, else by the usual names. `-` and an empty value mean absent. */
export function findColumns(names: readonly string[], named: NamedColumns): LogColumns {
  const byBareName = new Map(names.map((name) => [bare(name), name]));
  const columns = new Map<LogField, string>();
  for (const field of logFields) {
    const byHand = named[field];
    const found = byHand ?? usualNames[field].map((usual) => byBareName.get(usual)).find((name) => name !== undefined);
    if (found !== undefined && names.includes(found)) columns.set(field, found);
  }
  const missing = neededFields.filter((some) => !some.some((field) => columns.has(field)));
  // CloudFront has date and time of day in two columns.
  const date = names.find((name) => bare(name) === 'date');
  const understood = [...columns, ...(date === undefined ? [] : [['time', date] as const])];
  const read = new Set(understood.map(([, column]) => column));
  return {
    missing: missing.map((some) => some.join(' or ')),
    understood,
    ignored: names.filter((name) => !read.has(name)),
    read: (value) => {
      const fields: Partial<Record<LogField, unknown>> = {};
      for (const [field, column] of columns) {
        const own = value(column);
        if (own === '' || own === '-' || own === null || own === undefined) continue;
        fields[field] = /^cs\(/.test(column) ? decodeHeader(own) : own;
      }
      const clock = fields.time;
      if (date !== undefined && typeof clock === 'string' && /^\d{2}:\d{2}/.test(clock))
        fields.time = `${String(value(date))}T${clock}Z`;
      return fields;
    },
  };
}
