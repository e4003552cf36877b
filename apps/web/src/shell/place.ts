import { createContext, useContext, useMemo } from 'react';
import { useMe } from '../api/me.ts';
import { currentLanguage } from '../messages/messages.ts';
import type { TimePlace } from '../parts/format.ts';

const deviceZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Whether this browser knows a zone: one that it does not would stop every page. */
const isKnown = (zone: string) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

/** The zone of what a page is about, where that has one of its own: a workspace with its flights and days. It is named on the page. */
export const ZoneOfPage = createContext<string | undefined>(undefined);

/** In which zone and language a page shows times and numbers: the zone of what it is about, else that which the person chose, else that of the device. */
export function usePlace(): TimePlace {
  const own = useContext(ZoneOfPage);
  const person = useMe()?.timeZone;
  const chosen = own ?? person;
  return useMemo(() => {
    const zone = chosen !== undefined && isKnown(chosen) ? chosen : deviceZone;
    return { zone, language: currentLanguage() };
  }, [chosen]);
}
