/** Whom somebody listens as. */
export interface ListeningAs {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** As the lists of user agents name it; empty for another one. */
  readonly app: string;
  readonly device: keyof typeof devices;
  /** An instant (ISO 8601); absent: now. */
  readonly at?: string | undefined;
}

/** Devices with the kind and the system that the lists know them by. */
export const devices = {
  iphone: { device: 'mobile', operating_system: 'iOS' },
  android: { device: 'mobile', operating_system: 'Android' },
  computer: { device: 'computer', operating_system: '' },
  speaker: { device: 'smart_speaker', operating_system: '' },
  car: { device: 'auto', operating_system: '' },
  tv: { device: 'smart_tv', operating_system: '' },
} as const;

/** Apps by the names of the lists, which are their own. */
export const apps = [
  ...['Apple Podcasts', 'Spotify', 'Overcast', 'Pocket Casts', 'Castro', 'AntennaPod', 'Podcast Addict'],
  ...['YouTube Music', 'Amazon Music', 'Safari', 'Chrome', 'Firefox'],
] as const;

/** All countries, by their codes. */
const codes =
  'ADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICKCLCMCNCOCRCUCVCWCXCYCZDEDJDKDMDODZECEEEGEHERESETFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGYHKHMHNHRHTHUIDIEILIMINIOIQIRISITJEJMJOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONPNRNUNZOMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZTCTDTFTGTHTJTKTLTMTNTOTRTTTVTWTZUAUGUMUSUYUZVAVCVEVGVIVNVUWFWSYEYTZAZMZW';

/** Countries with their names in a language, in the order of the names. */
export function countriesIn(language: string): readonly { readonly code: string; readonly name: string }[] {
  const names = new Intl.DisplayNames(language, { type: 'region' });
  const { compare } = new Intl.Collator(language);
  return codes
    .match(/../g)!
    .map((code) => ({ code, name: names.of(code) ?? code }))
    .toSorted((a, b) => compare(a.name, b.name));
}

/** The country of somebody whose browser asks for these languages; Germany where none says. */
export function countryOf(wished: readonly string[]): string {
  const regions = wished.map((tag) => {
    try {
      return new Intl.Locale(tag).region;
    } catch {
      return undefined;
    }
  });
  return regions.find((region) => region !== undefined && /^[A-Z]{2}$/.test(region)) ?? 'DE';
}

/** What is asked of REST v1. */
export const requestOf = ({ country, app, device, at }: ListeningAs) => ({
  ...{ country, ...(app !== '' && { app }) },
  device: devices[device].device,
  ...(devices[device].operating_system !== '' && { operating_system: devices[device].operating_system }),
  ...(at !== undefined && { at }),
});
