import { httpsUrlFault } from './https-url.ts';
import { knownMacros, replaceMacros } from './macros.ts';

type TrackingTemplate =
  | {
      readonly kind: 'template';
      /** As it was given; `fillMacros` makes an address of it. */
      readonly url: string;
      /** Names of its macros, each once, in their order. */
      readonly macros: readonly string[];
    }
  | {
      readonly kind: 'refused';
      /** One sentence. */
      readonly reason: string;
    };

/** An address of a tracking endpoint that somebody wrote down: https, macros of the list only, and these only in its path and query. */
export function parseTrackingTemplate(text: string): TrackingTemplate {
  const refuse = (reason: string): TrackingTemplate => ({ kind: 'refused', reason });
  const fault = httpsUrlFault(text);
  if (fault !== undefined) return refuse(`The tracking address ${fault}.`);
  if (text.includes('#')) return refuse('The tracking address has a fragment (#…), which is never sent.');
  const macros = new Set<string>();
  const rest = replaceMacros(text, (name) => {
    macros.add(name);
    return '0';
  });
  const foreign = [...macros].find((name) => !knownMacros.has(name));
  if (foreign !== undefined)
    return refuse(`The tracking address has a macro that VAST 4.2 does not know: [${foreign}].`);
  // The host may be an IPv6 address.
  const [, place = ''] = /^https:\/\/[^/?]*(.*)$/is.exec(rest) ?? [];
  if (/[[\]{}]|%%|\$\{/.test(place))
    return refuse('The tracking address has brackets or percent signs that are no macro; write [NAME] or %%NAME%%.');
  if (/%(?![\da-f]{2})/i.test(place)) return refuse('The tracking address has a % that begins no percent-encoding.');
  return { kind: 'template', url: text, macros: [...macros] };
}
