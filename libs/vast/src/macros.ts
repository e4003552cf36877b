import { formatDuration } from './duration.ts';

/** What an address may be told. Nothing in it is about a person. */
export interface MacroContext {
  /** The time that the address is told: of the call, or of what it is about. */
  readonly now: Date;
  /** A random whole number from 0 to 99,999,999. */
  readonly cacheBusting: number;
  /** Where the episode is, without ads. */
  readonly playheadMs?: number;
  readonly breakPosition?: 'pre' | 'mid' | 'post';
  readonly adType?: 'audio' | 'video' | 'hybrid';
  /** Names the serving: an id of ours that says nothing of who listens. */
  readonly adServingId?: string;
  /** Error code of VAST, where an error is reported. */
  readonly errorCode?: number;
}

/** Values of `[VASTVERSIONS]` (AdCOM 1.0, creative subtypes): VAST 2.0 to 4.2, each with its wrapper. */
const vastVersions = '2,3,5,6,7,8,11,12,13,14';
const breakPositions = { pre: '1', mid: '2', post: '3' };

const playhead = ({ playheadMs }: MacroContext) => (playheadMs === undefined ? undefined : formatDuration(playheadMs));

/** Macros with a value of ours; undefined where the context has none. */
const values: Readonly<Record<string, (context: MacroContext) => string | undefined>> = {
  CACHEBUSTING: ({ cacheBusting }) => String(cacheBusting).padStart(8, '0'),
  TIMESTAMP: ({ now }) => now.toISOString(),
  VASTVERSIONS: () => vastVersions,
  MEDIAPLAYHEAD: playhead,
  CONTENTPLAYHEAD: playhead,
  BREAKPOSITION: ({ breakPosition }) => breakPosition && breakPositions[breakPosition],
  ADTYPE: ({ adType }) => adType,
  ADSERVINGID: ({ adServingId }) => adServingId,
  ERRORCODE: ({ errorCode }) => errorCode?.toString(),
};

/** Macros about a person: their device, their address, their place, their player, what they watch or consented to. */
export const personalMacros: readonly string[] = [
  ...['IFA', 'IFATYPE', 'CLIENTUA', 'DEVICEUA', 'DEVICEIP', 'LATLONG', 'TRANSACTIONID', 'PAGEURL'],
  ...['PLAYERSTATE', 'INVENTORYSTATE', 'PLAYERSIZE', 'PLAYERCAPABILITIES', 'CLICKPOS', 'CLICKTYPE'],
  ...['LIMITADTRACKING', 'REGULATIONS', 'GDPRCONSENT', 'GPPSTRING', 'GPPSECTIONID'],
];

/** Macros of the list that no value is known for here. */
const unknownMacros = [
  ...['BLOCKEDADCATEGORIES', 'ADCATEGORIES', 'ADCOUNT', 'PLACEMENTTYPE', 'UNIVERSALADID', 'BREAKMAXDURATION'],
  ...['BREAKMAXADS', 'BREAKMINADLENGTH', 'BREAKMAXADLENGTH', 'SERVERUA', 'SERVERSIDE', 'DOMAIN', 'APPBUNDLE'],
  ...['APIFRAMEWORKS', 'EXTENSIONS', 'VERIFICATIONVENDORS', 'OMIDPARTNER', 'MEDIAMIME', 'ADPLAYHEAD', 'ASSETURI'],
  ...['CONTENTID', 'CONTENTURI', 'CONTENTCAT', 'PODSEQUENCE', 'REASON', 'STOREID', 'STOREURL'],
  'PLAYBACKMETHODS',
];

/** Every macro of the list that IAB Tech Lab keeps for VAST 4. */
export const knownMacros: ReadonlySet<string> = new Set([...Object.keys(values), ...personalMacros, ...unknownMacros]);

/** Values of macros that are not told (VAST 4.2, section 6). */
const unknown = '-1';
const withheld = '-2';

/** `[NAME]`, with brackets percent-encoded or not, or `%%NAME%%`. */
const macro = /(?:\[|%5[Bb])([A-Z][A-Z0-9_]*)(?:\]|%5[Dd])|%%([A-Z][A-Z0-9_]*)%%/g;

/** The address with `value(name)` in place of each macro. */
export const replaceMacros = (url: string, value: (name: string, written: string) => string): string =>
  url.replace(macro, (written, bracketed?: string, marked?: string) => value(bracketed ?? marked ?? '', written));

/** Items of a list are encoded one by one, the commas between them are not. */
const encoded = (text: string) => text.split(',').map(encodeURIComponent).join(',');

/**
 * An address with its macros filled and percent-encoded. Macros about a person become -2 (not told), others of the list without a value -1 (unknown);
 * names that are not on the list stay as they are.
 * @throws {RangeError} for a random number out of its range
 */
export function fillMacros(url: string, context: MacroContext): string {
  const { cacheBusting } = context;
  if (!Number.isInteger(cacheBusting) || cacheBusting < 0 || cacheBusting > 99_999_999)
    throw new RangeError(`[CACHEBUSTING] is no whole number of at most 8 digits: ${cacheBusting}.`);
  return replaceMacros(url, (name, written) => {
    if (personalMacros.includes(name)) return withheld;
    if (!knownMacros.has(name)) return written;
    const value = Object.hasOwn(values, name) ? values[name]!(context) : undefined;
    return value === undefined ? unknown : encoded(value);
  });
}
