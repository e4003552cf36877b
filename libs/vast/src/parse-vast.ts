import { errorUrlsOf, readInline, readWrapper } from './read-ad.ts';
import { readXml, type XmlElement } from './read-xml.ts';
import type { InlineAd, RefusedAd, VastDocument, WrapperAd } from './vast-document.ts';
import { VastError } from './vast-error.ts';

export const maxVastBytes = 256 * 1024;
const maxAds = 8;

function decode(bytes: Uint8Array): string {
  if (bytes.length > maxVastBytes)
    throw new VastError(100, `The document is larger than ${maxVastBytes} bytes, and was not read.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new VastError(100, 'The document is not encoded as UTF-8.');
  }
}

/** The version of a document that this library reads. */
function versionOf(document: XmlElement): string {
  if (document.name === 'VideoAdServingTemplate')
    throw new VastError(102, 'The document is VAST 1; 2.0 to 4.2 are read.');
  if (document.name !== 'VAST') throw new VastError(101, 'The outermost element of the document is not VAST.');
  const version = document.attribute('version')?.trim() ?? '';
  if (!/^(?:2\.0|3\.0|4\.[0-2])(?:\.\d)?$/.test(version))
    throw new VastError(
      102,
      `The document has the version ${JSON.stringify(version.slice(0, 20))}; VAST 2.0 to 4.2 are read.`,
    );
  return version;
}

type ReadAd = { readonly inline: InlineAd } | { readonly wrapper: WrapperAd } | { readonly refused: RefusedAd };

function readAd(ad: XmlElement): ReadAd {
  const bodies = ad.children.filter(({ name }) => name === 'InLine' || name === 'Wrapper');
  const [body] = bodies;
  try {
    if (!body || bodies.length > 1) throw new VastError(101, 'The ad does not hold one InLine or one Wrapper.');
    return body.name === 'InLine' ? { inline: readInline(ad, body) } : { wrapper: readWrapper(ad, body) };
  } catch (error) {
    if (!(error instanceof VastError)) throw error;
    const id = ad.attribute('id')?.slice(0, 255).toWellFormed();
    const errorUrls = body ? errorUrlsOf(body) : [];
    return { refused: { id, code: error.code, reason: error.message, errorUrls } };
  }
}

function readDocument(root: XmlElement, version: string): VastDocument {
  const ads = root.children.filter(({ name }) => name === 'Ad');
  if (ads.length > maxAds) throw new VastError(900, `The document has ${ads.length} ads; ${maxAds} are read at most.`);
  if (ads.length === 0) return { kind: 'empty', version, errorUrls: errorUrlsOf(root) };
  const read = ads.map(readAd);
  const inlines = read.flatMap((ad) => ('inline' in ad ? [ad.inline] : []));
  const wrappers = read.flatMap((ad) => ('wrapper' in ad ? [ad.wrapper] : []));
  const refusedAds = read.flatMap((ad) => ('refused' in ad ? [ad.refused] : []));
  const [wrapper] = wrappers;
  if (inlines.length > 0)
    return { kind: 'inline', version, ads: inlines, refusedAds, skippedWrappers: wrappers.length };
  if (wrapper) return { kind: 'wrapper', version, wrapper, refusedAds, skippedWrappers: wrappers.length - 1 };
  // An ad of the document was refused, because it has at least one.
  const { code, reason } = refusedAds[0]!;
  return { kind: 'refused', code, reason, errorUrls: refusedAds.flatMap(({ errorUrls }) => errorUrls) };
}

/**
 * Reads a document of a demand source: VAST 2.0 to 4.2, at most 256 KiB of UTF-8 and 8 ads. Never throws: a document that cannot be used is a
 * refusal with the error code of VAST. Elements that it does not know are skipped; addresses other than https ones are left out and counted.
 */
export function parseVast(bytes: Uint8Array): VastDocument {
  let errorUrls: readonly string[] = [];
  try {
    const root = readXml(decode(bytes));
    const version = versionOf(root);
    errorUrls = errorUrlsOf(root);
    return readDocument(root, version);
  } catch (error) {
    if (!(error instanceof VastError)) throw error;
    return { kind: 'refused', code: error.code, reason: error.message, errorUrls };
  }
}
