import { choiceName } from '../../../commands/words.ts';
import { hasText, t } from '../../../messages/messages.ts';

/** Why a slot stayed empty; a code that these pages do not know yet is shown as it is. */
export function noAdReason(code: string | null): string {
  const key = `decisions.no_ad_${code ?? 'unknown'}`;
  return hasText(key) ? t(key) : (code ?? '').replaceAll('_', ' ');
}

/** What a kind of device or a way of playing is called; a code that these pages do not know yet is shown in words. */
export function askedName(what: 'device' | 'surface', code: string): string {
  const key = `decisions.${what}_${code}`;
  return hasText(key) ? t(key) : code.replaceAll('_', ' ');
}

/** What a step of a break is called. */
export function stageName(name: string): string {
  const key = `decisions.stage_${name}`;
  return hasText(key) ? t(key) : name.replaceAll('_', ' ');
}

const tiers = ['exclusive', 'sponsorship', 'guaranteed', 'non_guaranteed', 'house'] as const;
/** What line items of a tier are called. */
export const tierName = (tier: number): string => choiceName(tiers[tier] ?? String(tier));

/** The name of a country in a language; the code itself where it has none. */
export function countryName(code: string, language: string): string {
  try {
    return new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? code;
  } catch {
    return code;
  }
}
