import { Play } from 'lucide-react';
import { verdictName } from '../../../commands/words.ts';
import { t } from '../../../messages/messages.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { instantText, lengthText } from '../../../parts/format.ts';
import { player } from '../../../parts/player/use-player.ts';
import { usePlace } from '../../../shell/place.ts';
import { breakName } from '../audio/break-name.ts';
import { adName } from './ad-name.ts';
import { losersOf, reasonOf, type Candidate, type PlayedAd, type PlayedBreak } from './played.ts';
import type { Preview } from './preview-query.ts';
import styles from './preview.module.css';

/**
 * Why a slot has this ad, or none: every line item that was looked at for its break, with what decided.
 * @param nobody what is said where there is none
 */
function Why({
  question,
  candidates,
  nobody = t('preview.why_nobody'),
}: {
  readonly question: string;
  readonly candidates: readonly Candidate[] | null;
  readonly nobody?: string;
}) {
  return (
    <details className={styles.why}>
      <summary>{question}</summary>
      {candidates === null && <p>{t('preview.why_not_shown')}</p>}
      {candidates?.length === 0 && <p>{nobody}</p>}
      {candidates !== null && candidates.length > 0 && (
        <ul>
          {candidates.map(({ line_item: line, verdict, rank }, at) => (
            <li key={line?.id ?? at} className={verdict === 'won' ? styles.won : undefined}>
              <b>{line?.name ?? t('preview.a_line_item')}</b>
              <span>{verdict === 'won' && rank !== null ? t('preview.won', { rank }) : verdictName(verdict)}</span>
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

function AdRow({
  ad,
  of,
  candidates,
}: {
  readonly ad: PlayedAd;
  readonly of: PlayedBreak;
  readonly candidates: readonly Candidate[] | null;
}) {
  const name = adName(ad);
  return (
    <li className={styles.row}>
      <Button
        kind="quiet"
        size="small"
        square
        icon={Play}
        aria-label={t('preview.play_from', { name, position: lengthText(ad.startMs) })}
        onClick={() => player.playSpan(ad.startMs, ad.startMs + ad.durationMs)}
      />
      <span className={styles.name}>
        <b>{name}</b>
        <small>{[breakName(of), ad.line_item?.name].filter(Boolean).join(' · ')}</small>
      </span>
      <span className={styles.time}>{lengthText(ad.startMs)}</span>
      <span className={styles.time}>{t('preview.seconds', { seconds: Math.round(ad.durationMs / 1000) })}</span>
      <Why question={t('preview.why')} candidates={candidates} />
    </li>
  );
}

const EmptyRow = ({
  of,
  reason,
  candidates,
}: {
  readonly of: PlayedBreak;
  readonly reason: Preview['no_ad_reason'];
  readonly candidates: readonly Candidate[] | null;
}) => (
  <li className={styles.row}>
    <span className={styles.gap} />
    <span className={styles.name}>
      <b>{t('preview.empty', { slots: of.empty })}</b>
      <small>{reason === null ? breakName(of) : `${breakName(of)} · ${t(`preview.reason_${reason}`)}`}</small>
    </span>
    <span className={styles.time}>{lengthText(of.atMs)}</span>
    <span />
    <Why
      question={t('preview.why_none')}
      candidates={candidates && losersOf(candidates)}
      {...(reason !== null && { nobody: t(`preview.reason_${reason}`) })}
    />
  </li>
);

/** The ads of a play, and the slots that stayed empty, each with its reason. */
export function PlayCard({ preview, breaks }: { readonly preview: Preview; readonly breaks: readonly PlayedBreak[] }) {
  const place = usePlace();
  const { at, as_paced: asPaced, candidates, no_ad_reason: reason } = preview;
  const ofBreak = (key: string) => candidates && candidates.filter((each) => each.break_key === key);
  const firstEmpty = breaks.find(({ empty }) => empty > 0)?.key;
  return (
    <Card title={t('preview.in_play')} basis={t('preview.decided', { time: instantText(at, 'moment', place) })}>
      {breaks.length === 0 && <p>{t(reason === null ? 'preview.no_breaks' : `preview.reason_${reason}`)}</p>}
      <ul className={styles.rows}>
        {breaks.flatMap((of) => [
          ...of.ads.map((ad) => <AdRow key={`${of.key} ${ad.slot}`} {...{ ad, of }} candidates={ofBreak(of.key)} />),
          ...(of.empty > 0
            ? [
                <EmptyRow
                  key={`${of.key} empty`}
                  of={of}
                  reason={reasonOf(ofBreak(of.key), reason, candidates?.length === 0 || of.key === firstEmpty)}
                  candidates={ofBreak(of.key)}
                />,
              ]
            : []),
        ])}
      </ul>
      <p className={styles.note}>{t(asPaced ? 'preview.note_now' : 'preview.note_other')}</p>
    </Card>
  );
}
