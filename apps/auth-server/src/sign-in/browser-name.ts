/** What identifies a browser in its user agent: the first that is there, because they all claim to be older ones. */
const browsers = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrom(?:e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const systems = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

const firstOf = (table: readonly (readonly [RegExp, string])[], text: string) =>
  table.find(([pattern]) => pattern.test(text))?.[1];

/** A browser as its user knows it: “Firefox on Linux”. */
export function browserName(userAgent = ''): string {
  const text = userAgent.slice(0, 512);
  const [browser, system] = [firstOf(browsers, text), firstOf(systems, text)];
  return `${browser ?? 'A browser'}${system === undefined ? '' : ` on ${system}`}`;
}
