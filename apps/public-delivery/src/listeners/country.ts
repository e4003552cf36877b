import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Reader } from 'mmdb-lib';
import { z } from 'zod';

/** Either record of the two database families: ip-location-db or MaxMind's City and Country. */
const recordSchema = z.object({
  country_code: z.string().optional(),
  country: z.object({ iso_code: z.string().optional() }).optional(),
  subdivisions: z.array(z.object({ iso_code: z.string().optional() })).optional(),
});

export interface Place {
  /** ISO 3166-1 alpha-2 or "unknown". */
  readonly country: string;
  /** ISO 3166-2 without the country, or "unknown". */
  readonly region: string;
}

/** Country and region of an address, from memory. */
export type FindPlace = (address: string) => Place;

/**
 * Loads an MMDB; the bundled country list (ip-location-db, CC0) when no path is given.
 * Rejects with the file system's error when the file is missing.
 */
export async function loadPlaces(databasePath: string | undefined): Promise<FindPlace> {
  const file =
    databasePath ??
    createRequire(import.meta.url).resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb');
  const reader = new Reader<never>(await readFile(file));
  return (address) => {
    const record = recordSchema.safeParse(reader.get(address)).data;
    const country = record?.country_code ?? record?.country?.iso_code;
    return { country: country?.toUpperCase() ?? 'unknown', region: record?.subdivisions?.[0]?.iso_code ?? 'unknown' };
  };
}
