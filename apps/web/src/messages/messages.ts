import { setupI18n, type Messages } from '@lingui/core';
import type audio from './audio/en.json';
import type english from './en.json';
import type ads from './ads/en.json';
import type analytics from './analytics/en.json';
import type decisions from './decisions/en.json';
import type feed from './feed/en.json';
import type people from './people/en.json';
import type preview from './preview/en.json';
import type finance from './finance/en.json';
import type site from './site/en.json';
import type sound from './sound/en.json';

/** The texts of each area: a folder of that name, loaded with the pages of the area (`withTexts`). */
interface AreaTexts {
  readonly ads: typeof ads;
  readonly audio: typeof audio;
  readonly analytics: typeof analytics;
  readonly decisions: typeof decisions;
  readonly feed: typeof feed;
  readonly people: typeof people;
  readonly preview: typeof preview;
  readonly finance: typeof finance;
  readonly site: typeof site;
  readonly sound: typeof sound;
}
export type Area = keyof AreaTexts;

/** The name of one text of the console. */
export type MessageKey = keyof typeof english | { [A in Area]: keyof AreaTexts[A] }[Area];

/** What a text has places for. */
export type MessageValues = Readonly<Record<string, string | number | Date>>;

/** The languages that the console speaks, by their BCP 47 tags. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

const i18n = setupI18n();

/** The language of the texts that are shown. */
export const currentLanguage = (): Language => i18n.locale as Language;

/** Uses the compiled texts of a language from now on. Called once, before the first text is shown. */
export function activateTexts(language: Language, texts: Messages): void {
  i18n.loadAndActivate({ locale: language, messages: texts });
}

/** Uses further texts of the language that is shown. */
export function addTexts(texts: Messages): void {
  i18n.load(i18n.locale, texts);
}

/** The text of a key in the person's language. */
export const t = (key: MessageKey, values?: MessageValues): string => i18n._(key, values);

/** The first of the wished languages that the console speaks; English without one. */
export function chooseLanguage(wished: readonly string[]): Language {
  const known = wished.map((tag) => languages.find((language) => language === tag.toLowerCase().split('-')[0]));
  return known.find((language) => language !== undefined) ?? 'en';
}

/** Whether there is a text of a derived key: a newer service may know more than these pages. */
export const hasText = (key: string): key is MessageKey => i18n.messages[key] !== undefined;
