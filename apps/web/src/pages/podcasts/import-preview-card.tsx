import type { paths } from '../../generated/openapi.d.ts';
import { currentLanguage, t } from '../../messages/messages.ts';
import { Card, Pairs } from '../../parts/card.tsx';
import { languageName, sizeText } from '../../parts/format.ts';
import styles from './import-page.module.css';

/** What `POST /podcasts/import/preview` answers. */
type ImportPreview = paths['/podcasts/import/preview']['post']['responses'][200]['content']['application/json'];

const fieldsOf = (fields: ImportPreview['changed']) =>
  fields.map(({ field, items }) => t('import.field_items', { field, items })).join(', ');

const noted = (notes: ImportPreview['channel']['lost']) => notes.map(({ field, detail }) => `${field}: ${detail}`);

/** Items that would have no audio, and what of the others would not come along. */
function Losses({
  preview: { failing, failing_items: items, channel, changed, lost },
}: {
  readonly preview: ImportPreview;
}) {
  const ofChannel = [...noted(channel.changed), ...noted(channel.lost)];
  return (
    <>
      <Pairs
        of={[
          [t('import.changed_fields'), fieldsOf(changed)],
          [t('import.lost_fields'), fieldsOf(lost)],
        ]}
      />
      {ofChannel.length > 0 && (
        <ul className={styles.notes} lang="en">
          {ofChannel.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {failing > 0 && (
        <>
          <p>{t('import.failing', { failing })}</p>
          <ul className={styles.notes}>
            {items.map(({ position, title, problem }) => (
              <li key={position}>
                {position}. <span className="voice">{title}</span> <span lang="en">{problem}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** What a feed has, before anything of it is made here. Its artwork is an address: no picture of another host is loaded. */
export function ImportPreviewCard({ preview }: { readonly preview: ImportPreview }) {
  const { title, author, language, artwork_url: artwork, total, audio_bytes: bytes, locked, blocked } = preview;
  const own = currentLanguage();
  return (
    <Card title={t('import.preview')} basis={preview.feed_url}>
      <div className={styles.summary}>
        <p role="status" className={styles.left}>
          <span className="voice">{title}</span>
        </p>
        {locked && (
          <div className={styles.locked} role="alert">
            <b>{t('import.locked')}</b>
            <p>{t('import.locked_help')}</p>
          </div>
        )}
        {blocked && <p>{t('import.blocked')}</p>}
        <Pairs
          of={[
            [t('import.items'), total],
            [t('import.size'), bytes === undefined ? t('import.size_unknown') : sizeText(bytes, own)],
            [t('import.author'), author],
            [t('import.language'), language && languageName(language, own)],
            [t('import.artwork'), artwork && <span className={styles.why}>{artwork}</span>],
          ]}
        />
        <Losses preview={preview} />
      </div>
    </Card>
  );
}
