import { useState } from 'react';
import { currentLanguage, t } from '../../../messages/messages.ts';
import { Field } from '../../../parts/field.tsx';
import { fieldsOf, instantIn } from '../../../parts/form/zone-time.ts';
import { zoneName } from '../../../parts/format.ts';
import { usePlace } from '../../../shell/place.ts';
import { apps, countriesIn, devices, type ListeningAs } from './listening-as.ts';
import styles from './preview.module.css';

interface Choosing {
  readonly as: ListeningAs;
  readonly onChange: (as: ListeningAs) => void;
}

/** When the play begins: now, or a day and a time of the page's zone. Of a time that clocks show twice it is the first. */
function WhenFields({ as, onChange }: Choosing) {
  const { zone } = usePlace();
  const [fields, setFields] = useState<{ readonly day: string; readonly time: string }>();
  const change = (next: { readonly day: string; readonly time: string } | undefined) => {
    setFields(next);
    const found = next && instantIn(next.day, next.time, zone);
    const at = found?.kind === 'one' ? found.at : found?.kind === 'fold' ? found.first : undefined;
    if (!next || at !== undefined) onChange({ ...as, at });
  };
  const isGap = fields !== undefined && instantIn(fields.day, fields.time, zone).kind === 'gap';
  return (
    <>
      <Field label={t('preview.when')}>
        {(control) => (
          <select
            {...control}
            value={fields ? 'other' : 'now'}
            onChange={(event) =>
              change(event.target.value === 'now' ? undefined : fieldsOf(new Date().toISOString(), zone))
            }
          >
            <option value="now">{t('preview.now')}</option>
            <option value="other">{t('preview.other_time')}</option>
          </select>
        )}
      </Field>
      {fields && (
        <>
          <Field label={t('preview.day')}>
            {(control) => (
              <input
                {...control}
                type="date"
                value={fields.day}
                onChange={(event) => change({ ...fields, day: event.target.value })}
              />
            )}
          </Field>
          <Field
            label={t('preview.time')}
            hint={t('zone_time', { zone: zoneName(zone) })}
            error={isGap ? t('preview.gap') : undefined}
          >
            {(control) => (
              <input
                {...control}
                type="time"
                value={fields.time}
                onChange={(event) => change({ ...fields, time: event.target.value })}
              />
            )}
          </Field>
        </>
      )}
    </>
  );
}

/** Whom to listen as. Each change is another play. */
export const ListeningFields = ({ as, onChange }: Choosing) => (
  <div className={styles.choice} role="group" aria-label={t('preview.as')}>
    <Field label={t('preview.country')}>
      {(control) => (
        <select {...control} value={as.country} onChange={(event) => onChange({ ...as, country: event.target.value })}>
          {countriesIn(currentLanguage()).map(({ code, name }) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
    <Field label={t('preview.app')}>
      {(control) => (
        <select {...control} value={as.app} onChange={(event) => onChange({ ...as, app: event.target.value })}>
          {apps.map((app) => (
            <option key={app} value={app}>
              {app}
            </option>
          ))}
          <option value="">{t('preview.other_app')}</option>
        </select>
      )}
    </Field>
    <Field label={t('preview.device')}>
      {(control) => (
        <select
          {...control}
          value={as.device}
          onChange={(event) => onChange({ ...as, device: event.target.value as ListeningAs['device'] })}
        >
          {Object.keys(devices).map((device) => (
            <option key={device} value={device}>
              {t(`preview.device_${device as ListeningAs['device']}`)}
            </option>
          ))}
        </select>
      )}
    </Field>
    <WhenFields {...{ as, onChange }} />
  </div>
);
