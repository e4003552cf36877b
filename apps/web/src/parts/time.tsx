import { usePlace } from '../shell/place.ts';
import { instantText, lengthText, spokenLength, utcText, type TimeForm } from './format.ts';

/** An instant in the zone of the page; pointing at it shows UTC. */
export function Time({ at, form = 'day' }: { readonly at: string; readonly form?: TimeForm }) {
  return (
    <time dateTime={at} title={utcText(at)} className="number">
      {instantText(at, form, usePlace())}
    </time>
  );
}

/** A length as players show it, read aloud in words. */
export function Length({ ms }: { readonly ms: number }) {
  const { language } = usePlace();
  return (
    <span className="number">
      <span aria-hidden>{lengthText(ms)}</span>
      <span className="hidden">{spokenLength(ms, language)}</span>
    </span>
  );
}
